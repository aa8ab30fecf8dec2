package schedule

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/ical"
)

// Why a message changes nothing.
var (
	// ErrUninvited is an answer of somebody who was not asked.
	ErrUninvited = errors.New("who answers was not invited")
	// ErrStale is a message about an older version of the event.
	ErrStale = errors.New("something newer is known")
	// ErrForeign is a message of somebody who has no say in the event.
	ErrForeign = errors.New("who sent this is not who organizes the event")
	// ErrSame is a message with nothing new.
	ErrSame = errors.New("the message says nothing new")
	// ErrDelegates is an answer of somebody who sends more than one delegate, or one for whom there is no room.
	ErrDelegates = errors.New("whoever is invited sends one delegate, if there is room for one")
	// ErrChain is an answer of somebody who sends a delegate, and is too far from the guest who was invited.
	ErrChain = fmt.Errorf("of those who come for each other %d at most are delegates", mostDelegates)
)

// mostDelegates is how many may come for each other, one after the other, in the place of a guest.
const mostDelegates = 3

// Answer puts what somebody has answered into the organizer's event. Outside tells that the answer came by mail, which
// may overtake another one.
func (r Rules) Answer(ctx context.Context, stored, reply *content.Object, from Address, outside bool) (*content.Object, error) {
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
		// Attendees of this server have let their answer to the series count for open days already.
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

// target is the subject of an answer's component: the series, an override, or the instance as an override that is
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

// line is that of an attendee in a component. One that leaves its attendees to the series gets them now.
func (x *reading) line(c *ical.Component, is Self) *ical.Property {
	if p := attendee(c, is); p != nil || !x.inherits(c) || attendee(x.master(), is) == nil {
		return p
	}
	x.dress(c)
	return attendee(c, is)
}

// older tells whether an answer is to what the event was before, or written before one that came earlier. One with a
// lower SEQUENCE is good as long as the time that it answers for is that of the event: SEQUENCE grows for less.
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

// note writes an answer down, and tells whether it is another one.
func (x *reading) note(target *ical.Component, line, said *ical.Property, c *ical.Component, outside bool) bool {
	before := line.String()
	setParam(line, paramPartstat, partstat(said))
	if partstat(said) != NeedsAction {
		setParam(line, paramRSVP, "")
	}
	setParam(line, paramStatus, "2.0")
	if done := percent(c); done != "" {
		setParam(line, paramPercent, done)
	}
	if value, there := said.Param("DELEGATED-TO"); there {
		setParam(line, "DELEGATED-TO", value)
	}
	if from, there := said.Param(paramFrom); there && param(line, paramFrom) == "" && x.sends(target, AddressOf(from), addressOf(line)) {
		setParam(line, paramFrom, from)
	}
	if stamp := content.TextOf(c, "DTSTAMP"); outside && stamp != "" {
		setParam(line, paramReplied, stamp)
	}
	return line.String() != before
}

// sends tells whether a guest has said that somebody comes for them. To say it of oneself makes nobody a delegate, and one who
// is, that of nobody else: else a guest whose delegate has turned away might send the next one, and so on.
func (x *reading) sends(target *ical.Component, guest, delegate Address) bool {
	to, there := attendeeParam(target, guest, "DELEGATED-TO")
	return there && AddressOf(to) == delegate
}

// attendeeParam is a parameter of somebody's line.
func attendeeParam(c *ical.Component, who Address, name string) (string, bool) {
	p := attendee(c, only(who))
	if p == nil {
		return "", false
	}
	return p.Param(name)
}

// delegations is how many delegates there are from a guest who was invited down to somebody: none for the guest.
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

// percent is how much of a task is done, as somebody says it of their own part; "" where that is not said.
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

// deputies adds those whom an attendee sends in their place. It is the one way by which somebody else than the
// organizer brings people in, and so for one of them, who is the same in all instances.
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

// sentAnother tells whether somebody, for whom this reading is made, has sent somebody else than this delegate to any instance.
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

// follow lets an answer to the series count for the overrides that had the same answer before, or none: an attendee who
// answers the series need not know of them. Instances that have moved or were answered since keep their
// answers, and so do cancelled ones.
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
