package service_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/filter"
	"caldav-mcp-server/calendar/query"
	"caldav-mcp-server/calendar/render"
)

// impatient is the context of a client that goes away in the middle of the work: after it was asked so many times
// whether somebody still waits.
type impatient struct {
	context.Context
	after, asked atomic.Int64
}

func (c *impatient) Err() error {
	if asked := c.asked.Add(1); c.after.Load() > 0 && asked > c.after.Load() {
		return context.Canceled
	}
	return c.Context.Err()
}

// TestWhatNobodyWaitsForStops is H3's second half: whatever is costly is given up soon after its client has gone
// (security H3).
func TestWhatNobodyWaitsForStops(t *testing.T) {
	each(t, func(h *house) {
		cal := h.calendar(h.alice, "work")
		h.put(h.alice, cal, "comments.ics",
			strings.Replace(event("comments", 2, "x"), "END:VEVENT",
				strings.Repeat("COMMENT:Ä\r\n", 20_000)+"END:VEVENT", 1))
		for i := range 100 {
			h.put(h.alice, cal, calendar.ObjectName(fmt.Sprint(i, ".ics")),
				text(calendar.Event, fmt.Sprint(i), "DTSTART:20200101T090000Z", "DURATION:PT1H", "RRULE:FREQ=DAILY",
					"SUMMARY:word"))
		}
		cal = h.fresh(h.alice, cal)
		from, until := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)
		looked := filter.PropFilter{
			Name: "COMMENT", Text: &filter.TextMatch{Text: "never", Collation: "i;unicode-casemap"},
		}
		for name, do := range map[string]func(ctx context.Context) error{
			"a query for text": func(ctx context.Context) error {
				m := h.Meter(ctx, h.alice)
				defer m.Close()
				for _, err := range h.Query(ctx, h.alice, cal, query.Query{
					Meter: m,
					Filter: filter.Filter{
						{
							Name:       "VCALENDAR",
							Components: []filter.CompFilter{{Name: "VEVENT", Props: []filter.PropFilter{looked}}},
						},
					},
				}) {
					if err != nil {
						return err
					}
				}
				return nil
			},
			"busy times": func(ctx context.Context) error {
				m := h.Meter(ctx, h.alice)
				defer m.Close()
				_, err := h.FreeBusy(ctx, h.alice, query.BusyQuery{From: from, Until: until, Meter: m})
				return err
			},
			"an agenda": func(ctx context.Context) error {
				m := h.Meter(ctx, h.alice)
				defer m.Close()
				_, err := h.Agenda(ctx, h.alice, query.AgendaQuery{From: from, Until: until, Limit: 50, Meter: m})
				return err
			},
			"a search": func(ctx context.Context) error {
				m := h.Meter(ctx, h.alice)
				defer m.Close()
				_, err := h.SearchEvents(ctx, h.alice, query.EventSearch{Text: "word", Limit: 100, Meter: m})
				return err
			},
			"an expansion": func(ctx context.Context) error {
				m := h.Meter(ctx, h.alice)
				defer m.Close()
				for o, err := range h.Objects(ctx, m, h.alice, cal, calendar.ObjectQuery{WithData: true}) {
					if err == nil {
						_, err = h.Render(ctx, cal, o, query.View{
							Meter: m, Shape: render.Shape{Expand: &filter.TimeRange{Start: from, End: until}},
						})
					}
					if err != nil {
						return err
					}
				}
				return nil
			},
			"an export": func(ctx context.Context) error {
				m := h.Meter(ctx, h.alice)
				defer m.Close()
				_, err := h.Export(ctx, m, h.alice, cal, nil, io.Discard, nil)
				return err
			},
		} {
			whole := &impatient{Context: h.ctx}
			h.must(do(whole))
			asked := whole.asked.Load()
			gone := &impatient{Context: h.ctx}
			gone.after.Store(max(asked/2, 1))
			err := do(gone)
			const soon = 20
			if more := gone.asked.Load() - gone.after.Load(); !errors.Is(err, context.Canceled) || more > soon {
				t.Errorf("%s: %v, and it asked %d times more, of %d in all", name, err, more, asked)
			}
		}
	})
}
