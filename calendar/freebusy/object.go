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

// Context is what it takes to know when somebody is busy.
type Context struct {
	Zones *zone.DB
	// Floating is the zone of dates and floating times; nil is UTC.
	Floating *zone.Zone
	// Own are the addresses of the person whose time it is, with or without "mailto:".
	Own []string
	// Budget bounds the expansion of one object; the zero Budget is the default.
	Budget recur.Budget
	// Meter counts what all of the request costs.
	Meter *meter.Meter
}

// Add collects what an object says. Tasks and journal entries take nobody's time (RFC 4791
// §7.10). After an error, what was found before it is kept; after ErrTooMany, there is no
// use in going on.
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

// expand calls take with each instance of a series in the window.
func (r *reader) expand(s content.Series, take func(c *ical.Component, start, end int64) error) error {
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
		if err := take(i.Component, i.Start.Time.Unix(), i.End.Time.Unix()); err != nil {
			return err
		}
	}
	return nil
}

// events collects the instances of a VEVENT that take time.
func (r *reader) events(o *content.Object) error {
	kinds := map[*ical.Component]Type{}
	for _, c := range o.Components() {
		kinds[c] = r.in.kindOf(c)
	}
	return r.expand(o.Series(), func(c *ical.Component, start, end int64) error {
		if kinds[c] == Free {
			return nil
		}
		return r.add(mark{start, end, appointments, kinds[c]})
	})
}

// kindOf tells what an event is for the person whose time it is.
func (in Context) kindOf(c *ical.Component) Type {
	switch {
	case content.WordOf(c, "TRANSP") == "TRANSPARENT", content.WordOf(c, "STATUS") == "CANCELLED":
		return Free
	case content.WordOf(c, "STATUS") == "TENTATIVE":
		return min(Tentative, in.answer(c))
	}
	return in.answer(c)
}

// answers is what a PARTSTAT means for one's own time. An invitation that has not been
// answered holds the time for now: to say free would invite a second one, and to say busy
// would let strangers block it. A guest who has delegated stays away.
func answers(status string) Type {
	switch strings.ToUpper(status) {
	case "DECLINED", "DELEGATED":
		return Free
	case "TENTATIVE", "NEEDS-ACTION":
		return Tentative
	}
	return Busy
}

// answer is what the person has said to the invitation. A person who is not invited has made
// the event, or is there in another's place.
func (in Context) answer(c *ical.Component) Type {
	if len(in.Own) == 0 {
		return Busy
	}
	for p := range c.Properties() {
		if p.Name() == "ATTENDEE" && in.own(p.Value()) {
			status, given := p.Param("PARTSTAT")
			if !given {
				// RFC 5545 §3.2.12: what it is when it is not said. An organizer who lists
				// themselves without a word is there.
				return in.unsaid(c)
			}
			return answers(status)
		}
	}
	return Busy
}

func (in Context) unsaid(c *ical.Component) Type {
	if p := c.Property("ORGANIZER"); p != nil && in.own(p.Value()) {
		return Busy
	}
	return answers("NEEDS-ACTION")
}

func (in Context) own(address string) bool {
	return slices.ContainsFunc(in.Own, func(own string) bool { return bare(own) == bare(address) })
}

// bare is an address for comparison.
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
