package service_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/filter"
	"caldav-mcp-server/calendar/query"
	"caldav-mcp-server/calendar/render"
	"caldav-mcp-server/calendar/zone"
)

// expanded is the view of what takes place from one day of March 2026 to another.
func expanded(from, until int) query.View {
	day := func(n int) time.Time { return time.Date(2026, 3, n, 0, 0, 0, 0, time.UTC) }
	return query.View{Shape: render.Shape{Expand: &filter.TimeRange{Start: day(from), End: day(until)}}}
}

func TestRender(t *testing.T) {
	each(t, func(h *house) {
		cal := h.calendar(h.alice, "work")
		daily := h.put(h.alice, cal, "daily.ics",
			text(calendar.Event, "daily", "DTSTART;VALUE=DATE:20260301", "RRULE:FREQ=DAILY")).Object
		tokyo, err := zone.Lookup("Asia/Tokyo")
		h.must(err)
		view, abroad := expanded(2, 4), expanded(2, 4)
		abroad.Timezone = tokyo
		for _, c := range []struct {
			name string
			view query.View
			want string
		}{
			{"as it is", query.View{}, "20260301 RRULE"},
			{"in the calendar's zone", view, "20260302 20260303"},
			{"in the reader's", abroad, "20260302 20260303 20260304"},
		} {
			data, err := h.Render(h.ctx, cal, daily, c.view)
			h.must(err)
			var got []string
			for line := range strings.Lines(string(data)) {
				if day, ok := strings.CutPrefix(line, "DTSTART;VALUE=DATE:"); ok {
					got = append(got, strings.TrimSpace(day))
				} else if strings.HasPrefix(line, "RRULE") {
					got = append(got, "RRULE")
				}
			}
			if strings.Join(got, " ") != c.want {
				h.t.Errorf("%s: %v, want %s", c.name, got, c.want)
			}
		}
	})
}

func TestRenderIsRefused(t *testing.T) {
	each(t, func(h *house) {
		cal := h.calendar(h.alice, "work")
		hourly := h.put(h.alice, cal, "hourly.ics",
			text(calendar.Event, "hourly", "DTSTART:20200101T000000Z", "RRULE:FREQ=HOURLY")).Object
		hebrew := h.put(h.alice, cal, "hebrew.ics",
			text(calendar.Event, "hebrew", "DTSTART:20200106T090000Z", "RRULE:RSCALE=HEBREW;FREQ=YEARLY")).Object
		_, err := h.Render(h.ctx, cal, hourly, expanded(1, 200))
		h.refused(err, calendar.TooLarge, calendar.RuleTooManyMatches, "3000")
		_, err = h.Render(h.ctx, cal, hebrew, expanded(1, 31))
		h.refused(err, calendar.Unsupported, "", "cannot be given in this form")
		_, err = h.Render(h.ctx, cal, calendar.Object{Data: []byte("BEGIN:VCALENDAR")}, expanded(1, 31))
		h.refused(err, calendar.Unsupported, "", "cannot be given in this form")
		gone, cancel := context.WithCancel(h.ctx)
		cancel()
		if _, err := h.Render(gone, cal, hourly, expanded(1, 200)); !errors.Is(err, context.Canceled) {
			h.t.Errorf("%v, want the request's end", err)
		}
	})
}

func TestQueryNames(t *testing.T) {
	each(t, func(h *house) {
		cal := h.calendar(h.alice, "work")
		h.put(h.alice, cal, "a.ics", event("a", 2, "x"))
		h.put(h.alice, cal, "b.ics", event("b", 2, "x"))
		q := query.Query{Filter: march(calendar.Event, 2, 3), Names: []calendar.ObjectName{"b.ics", "c.ics"}}
		if got := h.found(cal, q); got != "b" {
			h.t.Errorf("%q", got)
		}
		q.Filter = march(calendar.Event, 3, 4)
		if got := h.found(cal, q); got != "" {
			h.t.Errorf("%q", got)
		}
	})
}
