package service_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/service"
)

// openings counts how often a calendar is opened for an object.
type openings struct {
	calendar.Store
	n atomic.Int32
}

func (o *openings) Update(ctx context.Context, do func(calendar.Tx) error) error {
	return o.Store.Update(ctx, func(tx calendar.Tx) error { return do(opening{tx, o}) })
}

type opening struct {
	calendar.Tx
	all *openings
}

func (o opening) AdvanceTo(
	ctx context.Context, id calendar.CalendarID, name calendar.ObjectName, uid calendar.UID,
) (cal calendar.Calendar, atName, withUID *calendar.Object, err error) {
	o.all.n.Add(1)
	return o.Tx.AdvanceTo(ctx, id, name, uid)
}

// TestDecidedOnce: a write of which it is known beforehand that it asks for more than what lies at its place is not begun without the lock, only
// to begin anew.
func TestDecidedOnce(t *testing.T) {
	each(t, func(h *house) {
		counted := &openings{Store: h.config.Store}
		h.config.Store = counted
		h.Service = service.New(h.config)
		cal := h.calendar(h.alice, "work")
		once := func(what string, do func()) {
			t.Helper()
			counted.n.Store(0)
			if do(); counted.n.Load() != 1 {
				t.Errorf("%s opened the calendar %d times", what, counted.n.Load())
			}
		}
		once("a write", func() { h.put(h.alice, cal, "a.ics", event("a", 1, "one")) })
		invitation := strings.Replace(event("i", 1, "four"), "END:VEVENT",
			"ORGANIZER:mailto:alice@example.com\r\nATTENDEE:mailto:bob@elsewhere.example\r\nEND:VEVENT", 1)
		once("an invitation", func() { h.put(h.alice, cal, "i.ics", invitation) })
		h.must(h.give(cal.ID, h.bob.User.ID, calendar.WriteAccess))
		shared, err := h.Calendar(h.ctx, h.bob, cal.ID)
		h.must(err)
		once("a sharee's", func() { h.put(h.bob, shared, "b.ics", event("b", 1, "two")) })
		h.within(calendar.Quota{Objects: 10})
		once("a write of somebody with a quota", func() { h.put(h.alice, cal, "c.ics", event("c", 1, "three")) })
	})
}
