package mirror_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"caldav-mcp-server/calendar"
)

// sleepy is a store before whose next transaction its process falls asleep.
type sleepy struct {
	calendar.Store
	meanwhile func()
}

func (s *sleepy) Update(ctx context.Context, do func(calendar.Tx) error) error {
	if then := s.meanwhile; then != nil {
		s.meanwhile = nil
		then()
	}
	return s.Store.Update(ctx, do)
}

// Prolong implements [calendar.Store]. A process that sleeps renews nothing.
func (*sleepy) Prolong(context.Context, string, string, time.Time) (bool, error) {
	return false, errors.New("asleep")
}

// asleep has the process sleep for two minutes between the next call of its source and the transaction that follows,
// while another process does something and ends.
func (h *house) asleep(meanwhile func(other *house)) { h.asleepFor(2*time.Minute, meanwhile) }

func (h *house) asleepFor(d time.Duration, meanwhile func(other *house)) {
	slow := &sleepy{Store: h.Store}
	h.openOn(slow)
	h.model.fault = func() (error, bool) {
		h.model.fault = func() (error, bool) { return nil, false }
		slow.meanwhile = func() {
			h.Pass(d)
			other := *h
			other.open()
			meanwhile(&other)
		}
		return nil, false
	}
}

// TestALookThatOversleeps brings nothing that is older than what another process has brought meanwhile.
func TestALookThatOversleeps(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		cal := h.link()
		h.model.set("ref", "late", event("late", "First"))
		h.asleep(func(other *house) {
			h.model.set("ref", "late", event("late", "Second"))
			h.must(other.refresh())
		})
		if err := h.refresh(); calendar.ReasonOf(err) != calendar.Unavailable {
			h.t.Errorf("it says %v", err)
		}
		h.same(cal)
		h.must(h.refresh())
		h.same(cal)
	})
}

// TestASweepThatOversleeps takes away nothing that has come back meanwhile.
func TestASweepThatOversleeps(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		cal := h.link()
		h.model.feed = true
		h.model.set("ref", "early", event("early", "First"))
		h.must(h.refresh())
		h.model.change(func() {
			delete(h.model.objects, "ref")
			h.model.log = append(h.model.log, "ref")
		})
		h.asleep(func(other *house) {
			h.model.set("ref", "early", event("early", "Again"))
			h.must(other.refresh())
		})
		if err := h.refresh(); calendar.ReasonOf(err) != calendar.Unavailable {
			h.t.Errorf("it says %v", err)
		}
		h.same(cal)
	})
}

// TestAWriteThatOversleeps stands at its source, and what was made of it there since stays.
func TestAWriteThatOversleeps(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		cal := h.link()
		h.asleep(func(other *house) {
			for _, ref := range h.model.refs() {
				h.model.set(ref, "new", event("new", "Changed there"))
			}
			h.must(other.refresh())
		})
		_, err := h.Put(h.ctx, h.alice, cal, calendar.Draft{Name: "new.ics", Data: []byte(event("new", "New"))})
		if calendar.ReasonOf(err) != calendar.Unavailable || !errors.Is(err, calendar.ErrPartly) {
			h.t.Errorf("it says %v", err)
		}
		h.same(cal)
		account, err := h.Store.Account(h.ctx, h.linked.ID)
		h.must(err)
		if account.Due.After(h.Now()) {
			h.t.Errorf("the account is looked at only at %v", account.Due)
		}
	})
}
