package mirror_test

import (
	"strings"
	"testing"
	"time"

	"caldav-mcp-server/calendar"
)

// stolen has another process take the calendar in the middle of the next call of its source.
func (h *house) stolen(cal calendar.Calendar) (back func()) {
	name := "mirror " + string(cal.ID)
	h.model.fault = func() (error, bool) {
		h.model.fault = func() (error, bool) { return nil, false }
		h.Pass(2 * time.Minute)
		ok, err := h.Store.Lease(h.ctx, name, "another", h.Now(), h.Now().Add(time.Hour))
		h.must(err)
		if !ok {
			h.t.Error("the calendar is held for longer than its holder is heard of")
		}
		return nil, false
	}
	return func() { h.must(h.Store.Release(h.ctx, name, "another")) }
}

// TestALookThatHasLostItsCalendarStoresNothing: what it was told of may be older than what another process has stored.
func TestALookThatHasLostItsCalendarStoresNothing(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		cal := h.link()
		h.model.set("", "late", event("late", "Late"))
		back := h.stolen(cal)
		if err := h.refresh(); calendar.ReasonOf(err) != calendar.Unavailable ||
			!strings.Contains(err.Error(), "another process") {
			h.t.Errorf("it says %v", err)
		}
		if got := h.texts(cal); len(got) != 0 {
			h.t.Errorf("it stores %v", got)
		}
		back()
		h.must(h.refresh())
		h.same(cal)
	})
}

// TestAWriteThatHasLostItsCalendar stands at its source, and is taken over from there.
func TestAWriteThatHasLostItsCalendar(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		cal := h.link()
		back := h.stolen(cal)
		_, err := h.Put(h.ctx, h.alice, cal, calendar.Draft{Name: "new.ics", Data: []byte(event("new", "New"))})
		if calendar.ReasonOf(err) != calendar.Unavailable ||
			!strings.Contains(err.Error(), "1 of 1 writes were stored") {
			h.t.Errorf("it says %v", err)
		}
		if got := h.texts(cal); len(got) != 0 {
			h.t.Errorf("it stores %v", got)
		}
		back()
		h.must(h.refresh())
		h.same(cal)
	})
}
