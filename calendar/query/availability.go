package query

import (
	"context"

	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/freebusy"
	"caldav-mcp-server/calendar/zone"
	"caldav-mcp-server/ical"
)

// collectAvailability adds a person's availability (RFC 7953 §5). It belongs to no calendar, so a token limited to some
// calendars does not reach it.
func (s *Queries) collectAvailability(ctx context.Context, p busyPart, q BusyQuery, times *freebusy.Times) error {
	if p.as.Calendars != nil {
		return nil
	}
	said, err := s.store.Scheduling(ctx, p.as.User.ID)
	if err != nil || said.Availability == nil {
		return err
	}
	if err := q.Meter.Hold(int64(3 * len(*said.Availability))); err != nil {
		return err
	}
	defer q.Meter.Free(int64(3 * len(*said.Availability)))
	floating := p.floating
	if floating == nil {
		floating, _ = s.zones.Lookup(p.as.User.Timezone)
	}
	if floating == nil {
		floating = zone.UTC()
	}
	in := freebusy.Context{Zones: s.zones, Floating: floating, Budget: answerBudget(), Meter: q.Meter}
	for _, o := range availabilities(*said.Availability) {
		if err := times.Add(ctx, o, in); spent(err) {
			return err
		}
	}
	return ctx.Err()
}

// availabilities splits a text into components that can be parsed separately. Unreadable ones are skipped.
func availabilities(text string) []*content.Object {
	doc, err := ical.Parse([]byte(text), ical.Limits{})
	if err != nil {
		return nil
	}
	root, err := doc.Calendar()
	if err != nil {
		return nil
	}
	var all []*content.Object
	for _, c := range root.AllComponents(content.Availability) {
		alone := ical.NewComponent("VCALENDAR")
		for _, z := range root.AllComponents("VTIMEZONE") {
			alone.AddComponent(z.Clone())
		}
		c = c.Clone()
		if c.Property("UID") == nil {
			c.Add(ical.NewText("UID", "availability"))
		}
		alone.AddComponent(c)
		if o, err := content.Of(ical.NewDocument(alone)); err == nil {
			all = append(all, o)
		}
	}
	return all
}
