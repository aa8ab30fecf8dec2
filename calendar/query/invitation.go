package query

import (
	"context"
	"slices"
	"strings"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/edit"
	"caldav-mcp-server/calendar/meter"
	"caldav-mcp-server/calendar/schedule"
	"caldav-mcp-server/calendar/zone"
	"caldav-mcp-server/ical"
)

// invitedDays is how far ahead invitations are searched.
const invitedDays = 366

// OpenInvitations returns the events in the caller's own calendars that wait for an answer. A series, or a part of it,
// appears once.
func (s *Queries) OpenInvitations(
	ctx context.Context, c calendar.Caller, in *zone.Zone, limit int, m *meter.Meter,
) (Agenda, error) {
	all, err := s.Calendars(ctx, c)
	if err != nil {
		return Agenda{}, err
	}
	selfIn := func(in calendar.Calendar) schedule.Self {
		return func(a schedule.Address) bool {
			return s.Principal(a) == c.User.Name || slices.Contains(c.Mails, a.Mail()) || in.Origin.Owns(a.Mail())
		}
	}
	now := s.now()
	return s.Agenda(ctx, c, AgendaQuery{
		Calendars: slices.DeleteFunc(all, func(cal calendar.Calendar) bool {
			return cal.Owner != c.User.ID || !cal.Kinds.Has(calendar.Event)
		}),
		From: now, Until: now.AddDate(0, 0, invitedDays), Timezone: in, Limit: limit, Meter: m, Once: true,
		Wants: func(in calendar.Calendar, event *ical.Component) bool { return awaits(event, selfIn(in)) },
	})
}

// awaits reports whether an event waits for the user's response.
func awaits(event *ical.Component, self schedule.Self) bool {
	if p := event.Property("ORGANIZER"); p != nil && self(schedule.AddressOf(p.Value())) ||
		content.WordOf(event, "STATUS") == string(edit.Cancelled) {
		return false
	}
	return slices.ContainsFunc(edit.AttendeesOf(event), func(a edit.Attendee) bool {
		return self(schedule.AddressOf(a.Address)) &&
			(a.Status == "" || strings.EqualFold(a.Status, schedule.NeedsAction))
	})
}

// WholeSeries reports whether an occurrence stands for its series.
func (o Occurrence) WholeSeries() bool {
	return o.Object.Recurring && o.Component.Property("RECURRENCE-ID") == nil
}
