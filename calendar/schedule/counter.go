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

// The methods by which a guest and an organizer talk about another time (RFC 5546 §3.2.7, §3.2.8).
const (
	Counter        Method = "COUNTER"
	DeclineCounter Method = "DECLINECOUNTER"
)

// propSender keeps with a proposal who made it, as it was proven: the message may name all who take part.
const propSender = "X-SENDER"

// ErrNoProposal is what is no proposal of another time, or no longer one.
var ErrNoProposal = errors.New("nobody proposes this")

// Proposal is another time that a guest would rather have.
type Proposal struct {
	From Address
	// Which is the one of a series that it is about; zero for all of it.
	Which ical.Time
	// Start and End are as people say them: of whole days, End is the last. It is zero where neither the event nor the proposal says any.
	Start, End ical.Time
	Comment    string
	// other tells that the event has days now and is to have times, or the other way round.
	other bool
}

// Change is what the event becomes where the organizer agrees.
func (p Proposal) Change() edit.Change {
	c := edit.Change{Target: edit.Target{Scope: edit.All}, Times: edit.Times{Start: edit.To(p.Start), AsGiven: p.other}}
	if !p.Which.IsZero() {
		c.Target = edit.Target{Instance: p.Which, Scope: edit.This}
	}
	switch {
	case p.End.IsZero():
	case p.End.IsDate():
		c.Times.End = edit.To(ical.Date(p.End.Civil.AddDays(1))) // an edit takes the day after the last
	default:
		c.Times.End = edit.To(p.End)
	}
	return c
}

// Propose is the message by which a guest proposes what their copy of the event has become in moved. SEQUENCE is that of
// the event as they know it, which says what they propose it for.
func (r Rules) Propose(ctx context.Context, stored, moved *content.Object, is Self, instance ical.Time, comment string) (Message, error) {
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

// and finds an instance, or all of what takes place, in two readings.
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

// become gives a message its method.
func (m Message) become(method Method) error {
	root, err := m.Document.Calendar()
	if err == nil {
		root.Set(ical.NewText("METHOD", string(method)))
	}
	return err
}

// Sign notes in a proposal who made it, for the one who keeps it.
func (m Message) Sign() error {
	root, err := m.Document.Calendar()
	if err == nil {
		root.Set(ical.NewProperty(propSender, string(m.From)))
	}
	return err
}

// Subject is the instance for which a guest's message proposes something, in one spelling however the message has it; ""
// where that is the whole event, or more than one. A message is about nothing where the event has no such instance, or
// does not invite its sender to it.
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

// Proposals are what a guest's message proposes for an event, as far as that is still open: something else than what the
// event says, for the version that it has.
func (r Rules) Proposals(ctx context.Context, stored, message *content.Object) ([]Proposal, error) {
	sender := message.Calendar.Property(propSender)
	if sender == nil || content.WordOf(message.Calendar, "METHOD") != string(Counter) || stored.Kind != content.Event || message.UID != stored.UID {
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

// proposal is what one component of a message proposes; false where that is nothing, or nothing any more.
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
		end = start + until - was // it lasts as long as now
	}
	if end != content.Forever {
		if begins.IsDate() {
			end -= day // people say the last day
		}
		p.End = likewise(begins, end)
	}
	return p, true
}

// timeOf reads a time that must be there.
func timeOf(c *ical.Component, name string) (ical.Time, error) {
	p := c.Property(name)
	if p == nil {
		return ical.Time{}, ErrNoProposal
	}
	return p.Time()
}

// likewise writes an instant in the form of another time, but for its zone, which need not be known here.
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

// Stay is the message by which an organizer tells a guest that the event stays as it is (RFC 5546 §3.2.8). It says no more
// than what the guest takes part in, and nothing of what else they propose in the same message.
func (r Rules) Stay(ctx context.Context, stored, proposed *content.Object, p Proposal, comment string) (Message, error) {
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

// proposing is the component of a message that is about an instance, or about all.
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

// Besides is what a guest proposes in a message beside one proposal; nil where that is nothing.
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
