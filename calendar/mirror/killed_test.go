package mirror_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"caldav-mcp-server/calendar"
)

// dying is a store whose process dies after so many transactions.
type dying struct {
	calendar.Store
	left int
}

var errDied = errors.New("the process is dead")

// Update implements [calendar.Store].
func (d *dying) Update(ctx context.Context, do func(calendar.Tx) error) error {
	if d.left--; d.left < 0 {
		return errDied
	}
	return d.Store.Update(ctx, do)
}

// TestKilledInAFullListing: wherever a process dies that takes over all that there is, what goes at the source before
// the next one begins goes here, too, though the one that died has seen it.
func TestKilledInAFullListing(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		for i := range 3 {
			h.model.set("", fmt.Sprint("u", i), event(fmt.Sprint("u", i), "x"))
		}
		h.model.size = 1000
		cal := h.link()
		died := 0
		for after := range 12 {
			uid := fmt.Sprint("goes", after)
			gone := h.model.set("", uid, event(uid, "seen by the one that dies"))
			h.must(h.refresh())
			h.model.oldest = len(h.model.log) + 1 // all is listed from now on
			h.storing = func(s calendar.Store) calendar.Store { return &dying{s, after} }
			h.open()
			if h.refresh() != nil {
				died++
			}
			h.storing = nil
			h.open()
			delete(h.model.objects, gone.Ref)
			h.model.log = append(h.model.log, gone.Ref)
			h.model.oldest = len(h.model.log) + 1
			h.must(h.refresh())
			h.model.oldest = 0
			h.must(h.refresh())
			h.same(cal)
		}
		if died < 3 {
			h.t.Errorf("only %d processes died", died)
		}
	})
}

// TestWritesGoOnAfterAKill: a process died in a write to the source. Ten seconds later, another process writes there.
func TestWritesGoOnAfterAKill(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		cal := h.link()
		h.asleepFor(10*time.Second, func(other *house) {
			_, err := other.Put(h.ctx, h.alice, cal, calendar.Draft{Name: "b.ics", Data: []byte(event("b", "After"))})
			h.must(err)
		})
		_, err := h.Put(h.ctx, h.alice, cal, calendar.Draft{Name: "a.ics", Data: []byte(event("a", "Before"))})
		if calendar.ReasonOf(err) != calendar.Unavailable {
			h.t.Errorf("the one that died stores its result: %v", err)
		}
		h.must(h.refresh())
		if h.same(cal); len(h.texts(cal)) != 2 {
			h.t.Errorf("there is %v", h.texts(cal))
		}
	})
}

// TestSyncsGoOnAfterAKill: a process died while it synced the accounts that were due. Ten seconds later, another
// process syncs the ones that it left.
func TestSyncsGoOnAfterAKill(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		cal := h.link()
		h.model.set("ref", "later", event("later", "x"))
		h.Pass(time.Hour)
		h.asleepFor(10*time.Second, func(other *house) {
			h.must(h.Store.SetAccount(h.ctx, h.linked.ID, calendar.AccountEdit{}, h.Now()))
			if n, err := other.Mirrors.Round(h.ctx); n != 1 || err != nil {
				h.t.Errorf("the other one syncs %d accounts, %v", n, err)
			}
		})
		_, _ = h.Mirrors.Round(h.ctx)
		h.same(cal)
	})
}
