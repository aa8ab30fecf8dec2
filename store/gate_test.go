package store

import (
	"sync"
	"testing"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/internal/testdb"
)

// TestBusyCalendarLeavesConnections: fifty that change one calendar, of which the first is slow, keep nobody from reading
// or changing another.
func TestBusyCalendarLeavesConnections(t *testing.T) {
	t.Parallel()
	s, err := Open(t.Context(), testdb.Postgres(t), Options{MaxConns: gatePlaces + 1})
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
			_, err := tx.Advance(t.Context(), id)
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
		if _, err := s.Calendar(t.Context(), "alice", "other"); err != nil {
			t.Error(err)
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
