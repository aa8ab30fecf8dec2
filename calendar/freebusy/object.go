package freebusy

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/meter"
	"caldav-mcp-server/calendar/recur"
	"caldav-mcp-server/calendar/zone"
	"caldav-mcp-server/ical"
)

// Context holds the settings for collecting busy times.
type Context struct {
	Zones *zone.DB
	// Floating is the zone of dates and floating times; nil is UTC.
	Floating *zone.Zone
	// Own are the addresses of the person whose busy times are collected, with or without "mailto:".
	Own []string
	// Budget limits the expansion of one object; the zero Budget is the default.
	Budget recur.Budget
	// Meter measures the cost of the whole request.
	Meter *meter.Meter
}

// Add collects the busy times of an object. Tasks and journal entries are never busy (RFC 4791 §7.10). After an
// error, earlier results are kept; after ErrTooMany, more calls are useless.
func (t *Times) Add(ctx context.Context, o *content.Object, in Context) error {
	if in.Budget == (recur.Budget{}) {
		in.Budget = recur.DefaultBudget()
	}
	r := reader{Times: t, ctx: ctx, in: in, object: o, clock: o.Clock(in.Zones, in.Floating)}
	switch o.Kind {
	case content.Event:
		return r.events(o)
	case content.FreeBusy:
		return r.each(o, r.published)
	case content.Availability:
		return r.each(o, r.availability)
	}
	return nil
}

// reader collects from one object.
type reader struct {
	*Times
	ctx    context.Context
	in     Context
	object *content.Object
	clock  content.Clock
}

func (r *reader) each(o *content.Object, read func(*ical.Component) error) error {
	var failed []error
	for _, c := range o.Components() {
		failed = append(failed, read(c))
	}
	return errors.Join(failed...)
}

// instanceSteps is the work of finding one instance.
const instanceSteps = 20

// expand calls take for each instance of a series in the window.
func (r *reader) expand(s content.Series, take func(recur.Instance) error) error {
	set, err := r.object.Set(s, r.clock)
	if err != nil {
		return err
	}
	for i, err := range set.Between(r.ctx, time.Unix(r.from, 0), time.Unix(r.until, 0), r.in.Budget) {
		if err == nil {
			err = r.in.Meter.Work(instanceSteps)
		}
		if err != nil {
			return err
		}
		if err := take(i); err != nil {
			return err
		}
	}
	return nil
}

// claim is the effect of a component on busy times.
type claim struct {
	kind Type
	// days is set if the component's date-times may mean whole days. The window still selects instances by their
	// date-times. If the days are read in another zone, an instance in the first or last hours of the window can be
	// missed.
	days bool
}

// events collects the busy instances of a VEVENT.
func (r *reader) events(o *content.Object) error {
	claims := map[*ical.Component]claim{}
	for _, c := range o.Components() {
		claims[c] = claim{r.in.kindOf(c), content.OutlookDays(c)}
	}
	return r.expand(o.Series(), func(i recur.Instance) error {
		does := claims[i.Component]
		if does.kind == Free {
			return nil
		}
		if does.days {
			i = content.AsDays(i, r.clock.Floating)
		}
		return r.add(mark{i.Start.Time.Unix(), i.End.Time.Unix(), appointments, does.kind})
	})
}

// kindOf returns the type of an event for the person.
func (in Context) kindOf(c *ical.Component) Type {
	status := content.WordOf(c, "STATUS")
	if content.Transparent(c) || status == "CANCELLED" {
		return Free
	}
	kind, invited := in.answer(c)
	if status == "TENTATIVE" {
		kind = min(Tentative, kind)
	}
	if invited {
		// The busy status in an invitation is the organizer's, or dates from before the answer: Exchange sends
		// invitations as tentative, and other programs do not update it when they write a PARTSTAT.
		return kind
	}
	switch content.WordOf(c, content.BusyStatus) {
	case "TENTATIVE":
		return min(Tentative, kind)
	case "OOF":
		return min(Unavailable, kind)
	}
	return kind
}

// answers returns the type for the attendee's PARTSTAT. An unanswered invitation is tentative: free would invite a
// second one, and busy would let strangers block the time. An attendee who has delegated does not attend.
func answers(status string) Type {
	switch strings.ToUpper(status) {
	case "DECLINED", "DELEGATED":
		return Free
	case "TENTATIVE", "NEEDS-ACTION":
		return Tentative
	}
	return Busy
}

// answer returns the person's answer to the invitation, and whether they are invited. A person who is not invited
// created the event, or attends in place of another.
func (in Context) answer(c *ical.Component) (said Type, invited bool) {
	if len(in.Own) == 0 {
		return Busy, false
	}
	for p := range c.Properties() {
		if p.Name() == "ATTENDEE" && in.own(p.Value()) {
			return in.said(c, p), !in.organizes(c)
		}
	}
	return Busy, false
}

// said returns the attendee's answer. RFC 5545 §3.2.12 defaults to NEEDS-ACTION, but organizers who list themselves
// attend, unless they say otherwise.
func (in Context) said(c *ical.Component, attendee *ical.Property) Type {
	status, given := attendee.Param("PARTSTAT")
	if !given || strings.EqualFold(status, "NEEDS-ACTION") {
		status = "NEEDS-ACTION"
		if in.organizes(c) {
			return Busy
		}
	}
	return answers(status)
}

func (in Context) organizes(c *ical.Component) bool {
	p := c.Property("ORGANIZER")
	return p != nil && in.own(p.Value())
}

func (in Context) own(address string) bool {
	return slices.ContainsFunc(in.Own, func(own string) bool { return bare(own) == bare(address) })
}

// bare normalizes an address for comparison.
func bare(address string) string {
	return strings.TrimPrefix(strings.ToLower(strings.TrimSpace(address)), "mailto:")
}

// published collects the periods of a VFREEBUSY.
func (r *reader) published(c *ical.Component) error {
	for _, p := range c.All("FREEBUSY") {
		kind := Busy
		if word, given := p.Param("FBTYPE"); given {
			kind = typeOf(strings.ToUpper(word))
		}
		if kind == Free {
			continue
		}
		periods, err := p.Periods()
		if err != nil {
			return err
		}
		for _, period := range periods {
			start, end, err := r.clock.Period(period)
			if err != nil {
				return err
			}
			if err := r.add(mark{start, end, appointments, kind}); err != nil {
				return err
			}
		}
	}
	return nil
}
