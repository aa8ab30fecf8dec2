package store

import (
	"context"
	"sync"
	"testing"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/internal/testdb"
)

// TestBusyCalendarLeavesConnections: fifty that change one calendar, of which the first is slow, keep nobody from reading
// or changing another, whether they change it alone or with others.
func TestBusyCalendarLeavesConnections(t *testing.T) {
	t.Parallel()
	t.Run("Advance", func(t *testing.T) {
		t.Parallel()
		busyCalendar(t, func(ctx context.Context, tx calendar.Tx, id calendar.CalendarID) error {
			_, err := tx.Advance(ctx, id)
			return err
		})
	})
	t.Run("AdvanceAll", func(t *testing.T) {
		t.Parallel()
		busyCalendar(t, func(ctx context.Context, tx calendar.Tx, id calendar.CalendarID) error {
			_, err := tx.AdvanceAll(ctx, []calendar.CalendarID{"third", id})
			return err
		})
	})
}

func busyCalendar(t *testing.T, advance func(context.Context, calendar.Tx, calendar.CalendarID) error) {
	t.Helper()
	s, err := Open(t.Context(), testdb.Postgres(t), Options{MaxConns: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	if err := s.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.InsertUser(t.Context(), calendar.User{ID: "alice", Name: "alice"}, "hash"); err != nil {
		t.Fatal(err)
	}
	for _, id := range []calendar.CalendarID{"busy", "other"} {
		cal := calendar.Calendar{ID: id, Owner: "alice", Segment: calendar.Segment(id)}
		if err := s.Update(t.Context(), func(tx calendar.Tx) error { return tx.InsertCalendar(t.Context(), cal) }); err != nil {
			t.Fatal(err)
		}
	}
	change := func(id calendar.CalendarID, then func()) error {
		return s.Update(t.Context(), func(tx calendar.Tx) error {
			err := advance(t.Context(), tx, id)
			then()
			return err
		})
	}
	var arrived, done sync.WaitGroup
	const writers = 50
	slow, begun := make(chan struct{}), make(chan struct{})
	done.Go(func() {
		if err := change("busy", func() { close(begun); <-slow }); err != nil {
			t.Error(err)
		}
	})
	<-begun
	for range writers {
		arrived.Add(1)
		done.Go(func() {
			arrived.Done()
			if err := change("busy", func() {}); err != nil {
				t.Error(err)
			}
		})
	}
	arrived.Wait()
	for range 20 {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		_, err := s.Calendar(ctx, "alice", "other")
		cancel()
		if err != nil {
			t.Error(err)
			break
		}
		if err := change("other", func() {}); err != nil {
			t.Error(err)
		}
	}
	close(slow)
	done.Wait()
	if cal, err := s.Calendar(t.Context(), "alice", "busy"); err != nil || cal.Version < writers {
		t.Errorf("the busy calendar is at version %d: %v", cal.Version, err)
	}
}

// TestAdvanceFree: calendars that somebody else changes are left out, and nobody waits for them.
func TestAdvanceFree(t *testing.T) {
	t.Parallel()
	s, err := Open(t.Context(), testdb.Postgres(t), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	if err := s.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.InsertUser(t.Context(), calendar.User{ID: "alice", Name: "alice"}, "hash"); err != nil {
		t.Fatal(err)
	}
	err = s.Update(t.Context(), func(tx calendar.Tx) error {
		for _, id := range []calendar.CalendarID{"busy", "other"} {
			if err := tx.InsertCalendar(t.Context(), calendar.Calendar{ID: id, Owner: "alice", Segment: calendar.Segment(id)}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	free := func() (all []calendar.Calendar) {
		err := s.Update(t.Context(), func(tx calendar.Tx) (err error) {
			all, err = tx.AdvanceFree(t.Context(), []calendar.CalendarID{"busy", "other"}, calendar.Usage{})
			return err
		})
		if err != nil {
			t.Error(err)
		}
		return all
	}
	err = s.Update(t.Context(), func(tx calendar.Tx) error {
		if _, err := tx.Advance(t.Context(), "busy"); err != nil {
			return err
		}
		if got := free(); len(got) != 1 || got[0].ID != "other" {
			t.Errorf("while one is busy, %d are free: %v", len(got), got)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := free(); len(got) != 2 {
		t.Errorf("%d are free: %v", len(got), got)
	}
}
