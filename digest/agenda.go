package digest

import (
	"cmp"
	"context"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/query"
	"caldav-mcp-server/calendar/recur"
	"caldav-mcp-server/calendar/zone"
	"caldav-mcp-server/locale"
	"caldav-mcp-server/mail/letter"
)

// tomorrow lists tomorrow's events and returns their number.
func (m *Maker) tomorrow(
	ctx context.Context, c calendar.Caller, l *locale.Language, at time.Time,
) (letter.NotePart, int, error) {
	spent := m.Service.Meter(ctx, c)
	defer spent.Close()
	from := tomorrow(at)
	part := letter.NotePart{Title: l.Text("digest.tomorrow", "day", l.Date(from))}
	local, err := zone.Lookup(c.User.Timezone)
	if err != nil {
		local = zone.UTC()
	}
	found, err := m.Service.Agenda(ctx, c, query.AgendaQuery{
		From: from, Until: from.AddDate(0, 0, 1), Timezone: local, Limit: eventsMost, Meter: spent,
	})
	if err != nil {
		return part, 0, err
	}
	found.Occurrences = query.Distinct(found.Occurrences)
	for _, o := range found.Occurrences {
		title := cmp.Or(content.TextOf(o.Component, "SUMMARY"), l.Text("planner.untitled"))
		if content.WordOf(o.Component, "STATUS") == "CANCELLED" {
			title += " " + l.Text("home.cancelled")
		}
		part.Lines = append(part.Lines, letter.NoteLine{
			When: span(l, c.User.View.Clock, from, o.Start, o.End), Text: short(title),
			Place: short(content.TextOf(o.Component, "LOCATION")),
		})
	}
	part.More = found.More
	return part, len(found.Occurrences) + found.More, nil
}

// span formats an event's times on a day, given by its midnight.
func span(l *locale.Language, clock string, day time.Time, start, end recur.Moment) string {
	until := day.AddDate(0, 0, 1)
	began, goesOn := start.Time.Before(day), end.Time.After(until)
	in := func(t time.Time) string { return l.Time(t.In(day.Location()), clock) }
	switch {
	case start.AllDay, began && !end.Time.Before(until):
		return l.Text("time.all-day")
	case began:
		return l.Text("time.until", "end", in(end.Time))
	case goesOn:
		return l.Text("digest.from", "start", in(start.Time))
	case !end.Time.After(start.Time):
		return in(start.Time)
	}
	return in(start.Time) + "–" + in(end.Time)
}

// short shortens a user's text.
func short(text string) string {
	if r := []rune(text); len(r) > textMost {
		return string(r[:textMost]) + "…"
	}
	return text
}
