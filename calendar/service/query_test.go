package service_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/filter"
	"caldav-mcp-server/calendar/query"
	"caldav-mcp-server/calendar/zone"
)

// text wraps lines into an object of one kind.
func text(kind calendar.Kind, uid string, lines ...string) string {
	return fmt.Sprintf("BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//test//EN\r\nBEGIN:%s\r\nUID:%s\r\n"+
		"DTSTAMP:20260301T000000Z\r\n%s\r\nEND:%s\r\nEND:VCALENDAR\r\n",
		kind, uid, strings.Join(lines, "\r\n"), kind)
}

// march asks for a kind from one day of March 2026 to another.
func march(kind calendar.Kind, from, until int) filter.Filter {
	day := func(n int) time.Time { return time.Date(2026, 3, n, 0, 0, 0, 0, time.UTC) }
	return filter.Filter{{Name: "VCALENDAR", Components: []filter.CompFilter{
		{Name: filter.ComponentName(kind), TimeRange: &filter.TimeRange{Start: day(from), End: day(until)}},
	}}}
}

// found lists the names of what a query finds.
func (h *house) found(cal calendar.Calendar, q query.Query) string {
	h.t.Helper()
	var names []string
	for _, o := range h.all(h.Query(h.ctx, h.alice, cal, q)) {
		if (o.Data == nil) != q.WithoutData {
			h.t.Errorf("%s came with %d bytes", o.Name, len(o.Data))
		}
		names = append(names, strings.TrimSuffix(string(o.Name), ".ics"))
	}
	return strings.Join(names, " ")
}

func TestQuery(t *testing.T) {
	each(t, func(h *house) {
		cal := h.calendar(h.alice, "work")
		for name, data := range map[string]string{
			"on-2": event("on-2", 2, "x"), "on-9": event("on-9", 9, "y"),
			"weekly": text(calendar.Event, "weekly", "DTSTART;TZID=Europe/Berlin:20200106T090000", "DURATION:PT1H",
				"RRULE:FREQ=WEEKLY"),
			"ended": text(calendar.Event, "ended", "DTSTART:20260101T090000Z", "DURATION:PT1H",
				"RRULE:FREQ=DAILY;COUNT=3"),
			"day-5":  text(calendar.Event, "day-5", "DTSTART;VALUE=DATE:20260305"),
			"due-9":  text(calendar.Todo, "due-9", "DUE:20260309T000000Z"),
			"some":   text(calendar.Todo, "some", "SUMMARY:some day"),
			"made":   text(calendar.Todo, "made", "CREATED:20250101T000000Z"),
			"note-9": text(calendar.Journal, "note-9", "DTSTART:20260309T100000Z"),
		} {
			h.put(h.alice, cal, calendar.ObjectName(name+".ics"), data)
		}
		tokyo, err := zone.Lookup("Asia/Tokyo")
		h.must(err)
		for _, c := range []struct {
			q    query.Query
			want string
		}{
			{query.Query{}, "day-5 due-9 ended made note-9 on-2 on-9 some weekly"},
			{query.Query{WithoutData: true}, "day-5 due-9 ended made note-9 on-2 on-9 some weekly"},
			{query.Query{Filter: march(calendar.Event, 9, 10)}, "on-9 weekly"},
			{query.Query{Filter: march(calendar.Event, 9, 10), WithoutData: true}, "on-9 weekly"},
			{query.Query{Filter: march(calendar.Event, 10, 16)}, ""},
			{query.Query{Filter: march(calendar.Event, 4, 5)}, ""},
			// it begins at 15:00 of the 4th in UTC
			{query.Query{Filter: march(calendar.Event, 4, 5), Timezone: tokyo}, "day-5"},
			{query.Query{Filter: march(calendar.Todo, 8, 9)}, "due-9 made some"},
			{query.Query{Filter: march(calendar.Todo, 9, 10)}, "made some"},
			{query.Query{Filter: march(calendar.Journal, 9, 10)}, "note-9"},
			{query.Query{Filter: append(march(calendar.Event, 9, 10), march(calendar.Todo, 9, 10)...)}, ""},
		} {
			if got := h.found(cal, c.q); got != c.want {
				h.t.Errorf("%+v: %q, want %q", c.q, got, c.want)
			}
		}
		h.must(h.ChangeCalendar(h.ctx, h.alice, cal.ID, func(p *calendar.Properties) error {
			p.Timezone = "Asia/Tokyo"
			return nil
		}))
		if got := h.found(h.fresh(h.alice, cal), query.Query{Filter: march(calendar.Event, 4, 5)}); got != "day-5" {
			h.t.Errorf("in a calendar of Tokyo: %q", got)
		}
	})
}

func TestQueryIsRefused(t *testing.T) {
	each(t, func(h *house) {
		cal := h.calendar(h.alice, "work")
		h.put(h.alice, cal, "1.ics", event("one", 2, "x"))
		bad := filter.Filter{
			{
				Name:  "VCALENDAR",
				Props: []filter.PropFilter{{Name: "X", Text: &filter.TextMatch{Collation: "i;klingon"}}},
			},
		}
		h.refused(h.last(h.ctx, h.alice, cal, bad), calendar.Forbidden, calendar.RuleCollation, "i;ascii-casemap")
		h.refused(h.last(h.ctx, h.bob, calendar.Calendar{ID: cal.ID}, nil), calendar.NotFound, "", string(cal.ID))
		gone, cancel := context.WithCancel(h.ctx)
		cancel()
		if err := h.last(gone, h.alice, cal, march(calendar.Event, 1, 3)); !errors.Is(err, context.Canceled) {
			h.t.Errorf("%v, want the request's end", err)
		}
	})
}

// last returns the error that a query ends with.
func (h *house) last(ctx context.Context, c calendar.Caller, cal calendar.Calendar, f filter.Filter) error {
	for _, err := range h.Query(ctx, c, cal, query.Query{Filter: f}) {
		if err != nil {
			return err
		}
	}
	return nil
}

// TestWhatCannotBeDecidedIsFound: a client that is told too little deletes what it has.
func TestWhatCannotBeDecidedIsFound(t *testing.T) {
	each(t, func(h *house) {
		cal := h.calendar(h.alice, "work")
		h.put(h.alice, cal, "hebrew.ics",
			text(calendar.Event, "hebrew", "DTSTART:20200106T090000Z", "RRULE:RSCALE=HEBREW;FREQ=YEARLY"))
		h.put(h.alice, cal, "on-9.ics", event("on-9", 9, "x"))
		if got := h.found(cal, query.Query{Filter: march(calendar.Event, 9, 10)}); got != "hebrew on-9" {
			h.t.Errorf("%q", got)
		}
	})
}
