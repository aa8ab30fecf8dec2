package schedule

import (
	"context"
	"errors"
	"maps"
	"slices"

	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/ical"
)

// Response is a person's answer to an invitation, given in their own copy.
type Response struct {
	// Instance is the recurrence id of one instance; zero means the whole series. Answers to single instances stay: see
	// [Rules.Kept].
	Instance ical.Time
	// Status is the PARTSTAT.
	Status string
	// Comment is for the organizer. An empty one removes the previous comment.
	Comment string
}

// The errors for an answer that is not possible.
var (
	// ErrNoGuest is the error for an answer by a person who is not invited.
	ErrNoGuest = errors.New("they are not invited to this event")
	// ErrNoInstance is the error for an answer to an instance that the series does not have.
	ErrNoInstance = errors.New("the series has no such instance")
)

// Respond records a person's answers in their copy of an event, in order. Nothing else changes, not even SEQUENCE,
// which is the organizer's.
func (r Rules) Respond(
	ctx context.Context, stored *content.Object, is Self, answers ...Response,
) (*content.Object, error) {
	x, err := r.readCopy(ctx, stored)
	if err != nil {
		return nil, err
	}
	for _, a := range answers {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := x.respond(is, a); err != nil {
			return nil, err
		}
	}
	return content.Of(x.Document)
}

// respond records one answer.
func (x *reading) respond(is Self, a Response) error {
	about, err := x.aimedAt(is, a.Instance)
	if err != nil {
		return err
	}
	for _, c := range about {
		setParam(x.line(c, is), paramPartstat, a.Status)
		if a.Comment != "" {
			c.SetText("COMMENT", a.Comment)
		} else {
			c.Remove("COMMENT")
		}
	}
	return nil
}

// aimedAt returns the components that an answer changes: the override of an instance, which it creates if necessary, or
// the master with the overrides that have no answer or the same answer as the master.
func (x *reading) aimedAt(is Self, id ical.Time) ([]*ical.Component, error) {
	if !id.IsZero() {
		c, err := x.override(id)
		if err == nil && x.line(c, is) == nil {
			err = ErrNoGuest
		}
		return []*ical.Component{c}, err
	}
	var all []*ical.Component
	whole := attendee(x.master(), is)
	for _, c := range x.Components() {
		p := attendee(c, is)
		if p != nil && (whole == nil || partstat(p) == NeedsAction || partstat(p) == partstat(whole)) {
			all = append(all, c)
		}
	}
	if len(all) == 0 {
		return nil, ErrNoGuest
	}
	return all, nil
}

// KeptAnswer is an instance that kept its own answer after an answer to the series.
type KeptAnswer struct {
	Instance ical.Time
	Status   string
}

// Kept lists the future instances, in order, with an answer of their own that differs from the one to the series.
func (r Rules) Kept(ctx context.Context, o *content.Object, is Self, status string) ([]KeptAnswer, error) {
	x, err := r.read(ctx, o)
	if err != nil {
		return nil, err
	}
	var all []KeptAnswer
	for _, key := range slices.Sorted(maps.Keys(x.apart)) {
		c := x.apart[key]
		_, end, err := x.clock.Bounds(c)
		if p := attendee(c, is); p != nil && partstat(p) != status && !x.cancelled(c) &&
			(err != nil || end > r.Now.Unix()) {
			all = append(all, KeptAnswer{x.ids[key], partstat(p)})
		}
	}
	return all, nil
}

// override returns the component of an instance, and adds it to the object if necessary.
func (x *reading) override(id ical.Time) (*ical.Component, error) {
	key, err := x.key(id)
	if err != nil {
		return nil, ErrNoInstance
	}
	c := x.at(key, id)
	switch {
	case c == nil:
		return nil, ErrNoInstance
	case x.apart[key] == nil && c != x.master():
		x.Calendar.AddComponent(c)
		x.apart[key] = c
	}
	return c, nil
}

// Host makes a user the organizer of an event with attendees but without an organizer. It reports whether that changed
// anything.
func Host(o *content.Object, by Address, name string) bool {
	if !scheduled(o) || organizer(o) != nil || !invitesOthers(o, by) {
		return false
	}
	for _, c := range o.Components() {
		p := ical.NewProperty("ORGANIZER", string(by))
		if name != "" {
			p.SetParam("CN", name)
		}
		c.Add(p)
		if mine := attendee(c, only(by)); mine != nil {
			mine.RemoveParam(paramRSVP) // organizers need not answer themselves
			if partstat(mine) == NeedsAction {
				setParam(mine, paramPartstat, Accepted)
			}
		}
	}
	return true
}

// Rehost makes an address the organizer of an event in place of another address of the same person, who may be listed
// among the attendees, too. It reports whether that changed anything.
func Rehost(o *content.Object, is Self, by Address) bool {
	org := organizer(o)
	if org == nil || !is(addressOf(org)) || addressOf(org) == by {
		return false
	}
	for _, c := range o.Components() {
		if p := c.Property("ORGANIZER"); p != nil {
			readdress(p, by)
		}
		if mine := attendee(c, is); mine != nil && attendee(c, only(by)) == nil {
			readdress(mine, by)
		}
		c.RemoveFunc(func(p *ical.Property) bool {
			return p.Name() == "ATTENDEE" && addressOf(p) != by && is(addressOf(p))
		})
	}
	return true
}

// readdress gives a person's line another address. EMAIL repeats the old one (RFC 7986 §6.2).
func readdress(p *ical.Property, by Address) {
	p.SetValue(string(by))
	p.RemoveParam("EMAIL")
}

// invitesOthers reports whether another person takes part.
func invitesOthers(o *content.Object, than Address) bool {
	return slices.ContainsFunc(Attendees(o), func(a Address) bool { return a != than })
}

// Rebook copies the answers of a room from its copy to the organizer's restored event. Without a copy, the room has not
// answered: the deletion cancelled its booking. It reports whether anything changed.
func (r Rules) Rebook(ctx context.Context, organized, copied *content.Object, is Self) (bool, error) {
	x, err := r.read(ctx, organized)
	if err != nil {
		return false, err
	}
	var known *reading
	if copied != nil {
		if known, err = r.read(ctx, copied); err != nil {
			return false, err
		}
	}
	changed := false
	for _, c := range x.Components() {
		mine, status := attendee(c, is), NeedsAction
		if known != nil {
			there := known.counterpart(x, c)
			if p := known.mine(there, is); p != nil && content.WordOf(there, "STATUS") != "CANCELLED" {
				status = partstat(p)
			}
		}
		if mine != nil && partstat(mine) != status {
			setParam(mine, paramPartstat, status)
			mine.RemoveParam(paramComment)
			changed = true
		}
	}
	return changed, nil
}

// Agree copies an attendee's answer from the organizer's event to the attendee's restored copy, because a restore sends
// no messages. It reports whether anything changed.
func (r Rules) Agree(ctx context.Context, copied, organized *content.Object, is Self) (bool, error) {
	x, err := r.read(ctx, copied)
	if err != nil {
		return false, err
	}
	known, err := r.read(ctx, organized)
	if err != nil {
		return false, err
	}
	changed := false
	for _, c := range x.Components() {
		mine, answered := attendee(c, is), known.mine(known.counterpart(x, c), is)
		if mine != nil && answered != nil && partstat(mine) != partstat(answered) {
			setParam(mine, paramPartstat, partstat(answered))
			changed = true
		}
	}
	return changed, nil
}
