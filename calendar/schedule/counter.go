package schedule

import (
	"context"
	"errors"
	"strconv"
	"time"

	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/edit"
	"caldav-mcp-server/ical"
)

// The methods to negotiate another time (RFC 5546 §3.2.7, §3.2.8).
const (
	Counter        Method = "COUNTER"
	DeclineCounter Method = "DECLINECOUNTER"
)

// propSender stores the verified sender with a counter-proposal. The message itself may name all attendees.
const propSender = "X-SENDER"

// ErrNoProposal is the error for a message that proposes no other time, or no longer does.
var ErrNoProposal = errors.New("nobody proposes this")

// Proposal is another time that an attendee prefers.
type Proposal struct {
	From Address
	// Which is the recurrence id of the instance that it is about; zero means the whole event.
	Which ical.Time
	// Start and End are in users' terms: for whole days, End is the last day. End is zero if neither the event nor the
	// proposal has one.
	Start, End ical.Time
	Comment    string
	// other is set if the proposal changes whole days to times, or the reverse.
	other bool
}

// Change returns the edit that applies the proposal.
func (p Proposal) Change() edit.Change {
	c := edit.Change{Target: edit.Target{Scope: edit.All}, Times: edit.Times{Start: edit.To(p.Start), AsGiven: p.other}}
	if !p.Which.IsZero() {
		c.Target = edit.Target{Instance: p.Which, Scope: edit.This}
	}
	switch {
	case p.End.IsZero():
	case p.End.IsDate():
		c.Times.End = edit.To(ical.Date(p.End.Civil.AddDays(1))) // DTEND is the day after the last
	default:
		c.Times.End = edit.To(p.End)
	}
	return c
}

// Propose returns the attendee's counter-proposal. moved is the attendee's copy after the desired change. SEQUENCE is
// the one of their copy, so that the organizer knows which version the proposal refers to.
func (r Rules) Propose(
	ctx context.Context, stored, moved *content.Object, is Self, instance ical.Time, comment string,
) (Message, error) {
	old, err := r.read(ctx, stored)
	if err != nil {
		return Message{}, err
	}
	now, err := r.read(ctx, moved)
	if err != nil {
		return Message{}, err
	}
	was, wants, err := old.and(now, instance)
	if err != nil {
		return Message{}, err
	}
	mine := old.mine(was, is)
	if mine == nil {
		return Message{}, ErrNoGuest
	}
	if old.timing(was) == now.timing(wants) {
		return Message{}, ErrSame
	}
	wants = wants.Clone()
	wants.Remove("ATTENDEE")
	wants.Add(mine.Clone())
	wants.Remove("COMMENT")
	setSequence(wants, sequence(was))
	m := r.reply(now, is, []*ical.Component{wants})
	m.Method, m.Answered = Counter, ""
	if comment != "" {
		wants.SetText("COMMENT", comment)
	}
	return m, m.become(Counter)
}

// and returns an instance, or the whole event, in two readings.
func (x *reading) and(now *reading, instance ical.Time) (was, wants *ical.Component, err error) {
	was, wants = x.master(), now.master()
	if !instance.IsZero() {
		key, err := x.key(instance)
		if err != nil {
			return nil, nil, ErrNoInstance
		}
		was, wants = x.at(key, instance), now.apart[key]
	}
	if was == nil || wants == nil {
		return nil, nil, ErrNoInstance
	}
	return was, wants, nil
}

// become sets the METHOD of a message.
func (m Message) become(method Method) error {
	root, err := m.Document.Calendar()
	if err == nil {
		root.Set(ical.NewText("METHOD", string(method)))
	}
	return err
}

// Sign stores the sender in a proposal, for the recipient's server.
func (m Message) Sign() error {
	root, err := m.Document.Calendar()
	if err == nil {
		root.Set(ical.NewProperty(propSender, string(m.From)))
	}
	return err
}

// Subject returns the recurrence id that an attendee's proposal is about, in canonical form. It is "" for the whole
// event or several instances. It returns an error if the event has no such instance or does not invite the sender to
// it.
func (r Rules) Subject(ctx context.Context, stored, message *content.Object, from Address) (string, error) {
	x, err := r.read(ctx, stored)
	if err != nil {
		return "", err
	}
	if _, err := r.read(ctx, message); err != nil {
		return "", err
	}
	subject, all := "", message.Components()
	for _, c := range all {
		now, key, err := x.target(c)
		switch {
		case err != nil:
			return "", err
		case now == nil:
			return "", ErrNoInstance
		case x.mine(now, r.person(from)) == nil:
			return "", ErrUninvited
		case len(all) == 1 && c.Property("RECURRENCE-ID") != nil:
			subject = strconv.FormatInt(key, 10)
		}
	}
	return subject, nil
}

// Proposals returns the open proposals in an attendee's message: those that differ from the event, for its present
// version.
func (r Rules) Proposals(ctx context.Context, stored, message *content.Object) ([]Proposal, error) {
	sender := message.Calendar.Property(propSender)
	if sender == nil || content.WordOf(message.Calendar, "METHOD") != string(Counter) || stored.Kind != content.Event ||
		message.UID != stored.UID {
		return nil, nil
	}
	x, err := r.read(ctx, stored)
	if err != nil {
		return nil, err
	}
	said, err := r.read(ctx, message)
	if err != nil {
		return nil, err
	}
	var all []Proposal
	for _, c := range message.Components() {
		if p, open := x.proposal(said, c, addressOf(sender)); open {
			all = append(all, p)
		}
	}
	return all, nil
}

// proposal returns the proposal in one component of a message, or false if there is none or it is no longer open.
func (x *reading) proposal(said *reading, c *ical.Component, from Address) (Proposal, bool) {
	p := Proposal{From: from, Comment: content.TextOf(c, "COMMENT")}
	now := x.master()
	if id := c.Property("RECURRENCE-ID"); id != nil {
		at, err := id.Time()
		if err != nil {
			return p, false
		}
		key, err := x.key(at)
		if err != nil {
			return p, false
		}
		now, p.Which = x.at(key, at), at
	}
	if now == nil || x.mine(now, x.rules.person(from)) == nil || sequence(c) < sequence(now) {
		return p, false
	}
	start, end, err := said.clock.Bounds(c)
	was, until, err2 := x.clock.Bounds(now)
	begins, err3 := timeOf(c, "DTSTART")
	begun, err4 := timeOf(now, "DTSTART")
	if errors.Join(err, err2, err3, err4) != nil || start == was && (end == until || end == content.Forever) {
		return p, false
	}
	const day = int64(24 * time.Hour / time.Second)
	p.other = begins.IsDate() != begun.IsDate()
	p.Start = likewise(begins, start)
	switch {
	case end != content.Forever:
	case p.other && begins.IsDate():
		end = start + day // RFC 5545 §3.6.1: a date alone is that day
	case until != content.Forever:
		end = start + until - was // it keeps its duration
	}
	if end != content.Forever {
		if begins.IsDate() {
			end -= day // users expect the last day
		}
		p.End = likewise(begins, end)
	}
	return p, true
}

// timeOf reads a required time.
func timeOf(c *ical.Component, name string) (ical.Time, error) {
	p := c.Property(name)
	if p == nil {
		return ical.Time{}, ErrNoProposal
	}
	return p.Time()
}

// likewise writes an instant in the form of another time. Times with a zone become UTC, because their zone may be
// unknown.
func likewise(as ical.Time, at int64) ical.Time {
	switch civil := ical.CivilFromSeconds(at); as.Form {
	case ical.FormDate:
		return ical.Date(civil)
	case ical.FormFloating:
		return ical.Floating(civil)
	default:
		return ical.UTC(civil)
	}
}

// Stay returns the organizer's message that declines a proposal (RFC 5546 §3.2.8). It contains only the part of the
// event that the attendee takes part in, and none of their other proposals in the same message.
func (r Rules) Stay(
	ctx context.Context, stored, proposed *content.Object, p Proposal, comment string,
) (Message, error) {
	m := Message{Method: DeclineCounter, From: OrganizerOf(stored), To: p.From}
	x, err := r.read(ctx, stored)
	if err != nil {
		return m, err
	}
	c := proposing(proposed, p.Which)
	if c == nil {
		return m, ErrNoProposal
	}
	now := x.counterpart(x, c)
	if now == nil {
		return m, ErrNoProposal
	}
	line := x.mine(now, r.person(p.From))
	if line == nil {
		return m, ErrNoProposal
	}
	now = now.Clone()
	now.RemoveFunc(func(p *ical.Property) bool {
		return !answering[p.Name()] || p.Name() == "ATTENDEE" || p.Name() == "COMMENT"
	})
	now.Add(line.Clone())
	if id := c.Property("RECURRENCE-ID"); id != nil && now.Property("RECURRENCE-ID") == nil {
		now.Add(id.Clone())
	}
	setSequence(now, sequence(c))
	m.Sequence, m.Recurrence = sequence(c), recurrence(now)
	m.Document = r.compose(x, DeclineCounter, []*ical.Component{now})
	if comment != "" {
		now.SetText("COMMENT", comment)
	}
	return m, nil
}

// proposing returns the component of a message for an instance, or for the whole event.
func proposing(message *content.Object, which ical.Time) *ical.Component {
	for _, c := range message.Components() {
		var at ical.Time
		if id := c.Property("RECURRENCE-ID"); id != nil {
			var err error
			if at, err = id.Time(); err != nil {
				continue
			}
		}
		if at == which {
			return c
		}
	}
	return nil
}

// Besides returns a message without one of its proposals, or nil if no other is left.
func Besides(message *content.Object, p Proposal) (*ical.Document, error) {
	if len(message.Components()) < 2 {
		return nil, nil
	}
	rest, err := copyOf(message)
	if err != nil {
		return nil, err
	}
	if c := proposing(rest, p.Which); c != nil {
		rest.Calendar.RemoveComponent(c)
	}
	return rest.Document, nil
}
