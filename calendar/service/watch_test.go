package service_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/watch"
)

// follow begins a watch of a target, and takes the first look.
func (h *house) follow(c calendar.Caller, name string, of calendar.Target) *watch.Watch {
	h.t.Helper()
	w := h.Watch("")
	h.t.Cleanup(func() { h.must(w.Close(context.WithoutCancel(h.ctx))) })
	h.must(w.Follow(h.ctx, c, name, of))
	h.changed(w, c)
	return w
}

// changed wants what a watch has to tell, by name, and has it told.
func (h *house) changed(w *watch.Watch, c calendar.Caller, want ...string) {
	h.t.Helper()
	all, err := w.Changed(h.ctx, c)
	h.must(err)
	var names []string
	for _, sub := range all {
		names = append(names, sub.Name)
		w.Told(sub)
	}
	if diff := cmp.Diff(want, names); diff != "" {
		h.t.Errorf("changed (-want +got):\n%s", diff)
	}
}

// ready waits until a watch is to look.
func (h *house) ready(w *watch.Watch) {
	h.t.Helper()
	select {
	case <-w.Ready():
	case <-time.After(time.Minute):
		h.t.Fatal("nobody told the watch")
	}
}

func TestWatch(t *testing.T) {
	each(t, func(h *house) {
		ann := h.user("ann")
		cal := h.calendar(ann, "work")
		other := h.calendar(ann, "other")
		h.put(ann, cal, "a.ics", event("a", 1, "A"))
		w := h.follow(ann, "the calendar", calendar.Target{Calendar: cal.ID})
		h.must(w.Follow(h.ctx, ann, "the event", calendar.Target{Calendar: cal.ID, UID: "a"}))
		h.put(ann, cal, "b.ics", event("b", 2, "B"))
		h.put(ann, cal, "c.ics", event("c", 3, "C"))
		h.ready(w)
		h.changed(w, ann, "the calendar") // twice is once
		h.changed(w, ann)
		h.put(ann, cal, "a.ics", event("a", 1, "Another A"))
		h.put(ann, other, "d.ics", event("d", 4, "D"))
		h.ready(w)
		h.changed(w, ann, "the calendar", "the event")
		h.must(h.Delete(h.ctx, ann, cal, "a.ics", calendar.Precondition{}))
		h.changed(w, ann, "the calendar", "the event")
		h.put(ann, cal, "e.ics", event("e", 5, "E"))
		h.changed(w, ann, "the calendar") // the event that is gone stays gone
	})
}

// TestWatchTellsNobodyElse: what one may not see is not told, and is when one may again.
func TestWatchTellsNobodyElse(t *testing.T) {
	each(t, func(h *house) {
		ann, ben := h.user("ann"), h.user("ben")
		cal := h.calendar(ann, "work")
		h.put(ann, cal, "a.ics", event("a", 1, "A"))
		for _, of := range []calendar.Target{{Calendar: cal.ID}, {Calendar: cal.ID, UID: "a"}, {Calendar: "none"}} {
			h.refused(h.Watch("").Follow(h.ctx, ben, "x", of), calendar.NotFound, "", "no calendar")
		}
		share := func(access calendar.Access) {
			h.t.Helper()
			_, err := h.Share(h.ctx, ann, cal.ID, "ben", access)
			h.must(err)
		}
		share(calendar.ReadAccess)
		w := h.follow(ben, "the event", calendar.Target{Calendar: cal.ID, UID: "a"})
		share(calendar.FreeBusyAccess)
		h.put(ann, cal, "a.ics", event("a", 1, "A secret"))
		h.changed(w, ben)
		h.must(h.Unshare(h.ctx, ann, cal.ID, "ben"))
		h.put(ann, cal, "a.ics", event("a", 1, "Another secret"))
		h.changed(w, ben)
		bound := ben
		bound.Calendars = []calendar.CalendarID{"another"}
		share(calendar.ReadAccess)
		h.changed(w, bound)
		w.Again()
		h.changed(w, ben, "the event")
	})
}

// TestWatchLooksAgain: what could not be looked at, or was not told, is not forgotten.
func TestWatchLooksAgain(t *testing.T) {
	each(t, func(h *house) {
		ann := h.user("ann")
		cal := h.calendar(ann, "work")
		w := h.follow(ann, "the calendar", calendar.Target{Calendar: cal.ID})
		h.put(ann, cal, "a.ics", event("a", 1, "A"))
		gone, cancel := context.WithCancel(h.ctx)
		cancel()
		for range 2 {
			if all, err := w.Changed(gone, ann); err == nil && len(all) != 1 {
				h.t.Errorf("changed: %v, and no error", all)
			}
		}
		w.Again()
		h.ready(w)
		h.changed(w, ann, "the calendar")
	})
}

func TestWatchIsBounded(t *testing.T) {
	each(t, func(h *house) {
		ann := h.user("ann")
		cal := h.calendar(ann, "work")
		h.refused(h.Watch("").Follow(h.ctx, ann, "x", calendar.Target{Calendar: cal.ID, UID: "none"}),
			calendar.NotFound, "", "none")
		w := h.follow(ann, "0", calendar.Target{Calendar: cal.ID})
		for i := 1; i < watch.MaxFollowed; i++ {
			h.must(w.Follow(h.ctx, ann, fmt.Sprint(i), calendar.Target{Calendar: cal.ID}))
		}
		h.refused(w.Follow(h.ctx, ann, "one more", calendar.Target{Calendar: cal.ID}), calendar.TooLarge, "",
			"at most 100")
	})
}
