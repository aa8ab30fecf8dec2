package schedule

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/ical"
)

// The errors for a message that changes nothing.
var (
	// ErrUninvited is the error for an answer by a person who is not invited.
	ErrUninvited = errors.New("the sender of the answer is not invited")
	// ErrStale is the error for a message about an older version of the event.
	ErrStale = errors.New("a newer version is known")
	// ErrForeign is the error for a message from a sender who is not the organizer.
	ErrForeign = errors.New("the sender is not the organizer of the event")
	// ErrSame is the error for a message without news.
	ErrSame = errors.New("the message says nothing new")
	// ErrDelegates is the error for an attendee who names a second delegate, or exceeds the limit of attendees.
	ErrDelegates = errors.New("an attendee can name one delegate, if the event has room for one")
	// ErrChain is the error for a delegate who is too many delegations away from the invited attendee.
	ErrChain = fmt.Errorf("an invitation can be delegated %d times at most", mostDelegates)
)

// mostDelegates bounds the chain of delegates for one attendee.
const mostDelegates = 3

// Answer applies an attendee's answer to the organizer's event. outside is set for an answer by mail, because mails may
// arrive out of order.
func (r Rules) Answer(
	ctx context.Context, stored, reply *content.Object, from Address, outside bool,
) (*content.Object, error) {
	x, err := r.readCopy(ctx, stored)
	if err != nil {
		return nil, err
	}
	is := only(from)
	if !outside {
		is = r.person(from)
	}
	invited, stale, changed := false, false, false
	before := NeedsAction
	if p := attendee(x.master(), is); p != nil {
		before = partstat(p)
	}
	given := map[int64]bool{}
	var master *ical.Component
	for _, c := range reply.Components() {
		p := attendee(c, is)
		if p == nil {
			continue
		}
		target, key, err := x.target(c)
		if err != nil || target == nil {
			stale = true
			continue
		}
		// An answer of an attendee on this server to the series already covers its unanswered instances.
		given[key] = c.Property("RECURRENCE-ID") != nil && (!outside || partstat(p) != NeedsAction)
		line := x.line(target, is)
		if line == nil {
			continue
		}
		invited = true
		if x.older(target, line, c, outside) {
			stale = true
			continue
		}
		did := x.note(target, line, p, c, outside)
		changed = changed || did
		if c.Property("RECURRENCE-ID") == nil && did {
			master = c
		} else if did && x.Calendar != nil && target != x.apart[key] && target != x.master() {
			x.Calendar.AddComponent(target)
			x.apart[key] = target
		}
		added, err := x.deputies(target, c, is)
		if err != nil {
			return nil, err
		}
		changed = changed || added
	}
	if master != nil {
		x.follow(is, before, master, given, outside)
	}
	switch {
	case changed:
		return content.Of(x.Document)
	case !invited && !stale:
		return nil, ErrUninvited
	case stale:
		return nil, ErrStale
	}
	return nil, ErrSame
}

// target returns the component that an answer is about: the series, an override, or the instance as an override that is
// not in the object yet.
func (x *reading) target(c *ical.Component) (*ical.Component, int64, error) {
	p := c.Property("RECURRENCE-ID")
	if p == nil {
		return x.master(), 0, nil
	}
	id, err := p.Time()
	if err != nil {
		return nil, 0, err
	}
	key, err := x.key(id)
	if err != nil {
		return nil, 0, err
	}
	return x.at(key, id), key, nil
}

// line returns an attendee's line in a component. An override that inherits its attendees first gets its own lines.
func (x *reading) line(c *ical.Component, is Self) *ical.Property {
	if p := attendee(c, is); p != nil || !x.inherits(c) || attendee(x.master(), is) == nil {
		return p
	}
	x.dress(c)
	return attendee(c, is)
}

// older reports whether an answer refers to a former state of the event, or was written before an answer that arrived
// earlier. An answer with a lower SEQUENCE is still valid if the event takes place at the same time: SEQUENCE also
// grows with lesser changes.
func (x *reading) older(target *ical.Component, line *ical.Property, c *ical.Component, outside bool) bool {
	at, dated, err := x.clock.Time(c, "DTSTART")
	if sequence(c) < sequence(target) && (err != nil || !dated) {
		return true
	}
	return x.olderAt(target, line, c, at, outside)
}

// olderAt is older for an answer to a given time.
func (x *reading) olderAt(target *ical.Component, line *ical.Property, c *ical.Component, at int64, outside bool) bool {
	if now, _, _ := x.clock.Time(target, "DTSTART"); sequence(c) < sequence(target) && at != now {
		return true
	}
	last, there := line.Param(paramReplied)
	return outside && there && content.TextOf(c, "DTSTAMP") < last
}

// note records an answer and reports whether it changed anything.
func (x *reading) note(target *ical.Component, line, said *ical.Property, c *ical.Component, outside bool) bool {
	before := line.String()
	setParam(line, paramPartstat, partstat(said))
	if partstat(said) != NeedsAction {
		setParam(line, paramRSVP, "")
	}
	setParam(line, paramStatus, "2.0")
	setParam(line, paramComment, comment(c))
	if done := percent(c); done != "" {
		setParam(line, paramPercent, done)
	}
	if value, there := said.Param("DELEGATED-TO"); there {
		setParam(line, "DELEGATED-TO", value)
	}
	if from, there := said.Param(paramFrom); there && param(line, paramFrom) == "" &&
		x.sends(target, AddressOf(from), addressOf(line)) {
		setParam(line, paramFrom, from)
	}
	if stamp := content.TextOf(c, "DTSTAMP"); outside && stamp != "" {
		setParam(line, paramReplied, stamp)
	}
	return line.String() != before
}

// commentMost limits the part of a comment that the organizer's event keeps, in bytes. RFC 6638 lets every attendee
// write into the organizer's event.
const commentMost = 1000

// comment returns an attendee's message to the organizer, in an answer or in the attendee's own copy.
func comment(c *ical.Component) string {
	text := strings.TrimSpace(content.TextOf(c, "COMMENT"))
	return strings.ToValidUTF8(text[:min(len(text), commentMost)], "")
}

// CommentOf returns the comment that an attendee sent with the answer in a line of the organizer's event; "" if none.
func CommentOf(line *ical.Property) string {
	text, _ := line.Param(paramComment)
	return text
}

// sends reports whether an attendee has named this delegate. A delegate's own claim does not count. Otherwise an
// attendee whose delegate declined could name the next one, and so on.
func (x *reading) sends(target *ical.Component, guest, delegate Address) bool {
	to, there := attendeeParam(target, guest, "DELEGATED-TO")
	return there && AddressOf(to) == delegate
}

// attendeeParam returns a parameter of an attendee's line.
func attendeeParam(c *ical.Component, who Address, name string) (string, bool) {
	p := attendee(c, only(who))
	if p == nil {
		return "", false
	}
	return p.Param(name)
}

// delegations counts the delegations between the invited attendee and this person: none for the attendee.
func delegations(c *ical.Component, is Self) int {
	n := 0
	for p := attendee(c, is); p != nil && n < mostDelegates; n++ {
		from, there := p.Param(paramFrom)
		if !there {
			break
		}
		p = attendee(c, only(AddressOf(from)))
	}
	return n
}

// percent returns an attendee's own progress on a task, or "" if it is not given.
func percent(c *ical.Component) string {
	if c == nil || c.Name() != content.Todo {
		return ""
	}
	p := c.Property("PERCENT-COMPLETE")
	if p == nil {
		return ""
	}
	n, err := p.Int()
	if err != nil || n < 0 || n > 100 {
		return ""
	}
	return strconv.Itoa(n)
}

// deputies adds the delegate that an attendee names. Besides the organizer, only this adds attendees. Therefore an
// attendee can name a single delegate, the same in all instances.
func (x *reading) deputies(target, c *ical.Component, is Self) (bool, error) {
	added := false
	for _, p := range delegates(c.All("ATTENDEE"), is) {
		if attendee(target, only(addressOf(p))) != nil {
			continue
		}
		if len(delegates(target.All("ATTENDEE"), is)) > 0 || x.sentAnother(addressOf(p), is) {
			return false, ErrDelegates
		}
		if delegations(target, is) == mostDelegates {
			return false, ErrChain
		}
		line := p.Clone()
		bare(line)
		line.SetParam(paramPartstat, NeedsAction)
		setParam(line, "ROLE", "REQ-PARTICIPANT")
		setParam(line, paramRSVP, "TRUE")
		target.Add(line)
		x.sent, added = append(x.sent, addressOf(p)), true
	}
	return added, nil
}

// sentAnother reports whether the attendee has named another delegate for any instance. The reading belongs to this
// attendee, so it caches their delegates.
func (x *reading) sentAnother(delegate Address, is Self) bool {
	if !x.sought {
		x.sought = true
		for _, c := range x.Components() {
			for _, p := range delegates(c.All("ATTENDEE"), is) {
				x.sent = append(x.sent, addressOf(p))
			}
		}
	}
	return slices.ContainsFunc(x.sent, func(a Address) bool { return a != delegate })
}

// follow applies an answer to the series to the overrides that had the same answer before, or none: an attendee who
// answers the series need not know about them. Instances that have moved or were answered since keep their answers, and
// so do cancelled ones.
func (x *reading) follow(is Self, before string, reply *ical.Component, given map[int64]bool, outside bool) {
	answer := partstat(attendee(reply, is))
	for key, c := range x.apart {
		p := attendee(c, is)
		if p == nil || given[key] || x.cancelled(c) {
			continue
		}
		if (partstat(p) == before || partstat(p) == NeedsAction) && !x.olderAt(c, p, reply, key, outside) {
			setParam(p, paramPartstat, answer)
		}
	}
}
