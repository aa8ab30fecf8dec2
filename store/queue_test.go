package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/internal/testdb"
	"caldav-mcp-server/store/db"
)

// TestBusyCalendarLeavesConnections: fifty changes of one calendar, the first of them slow, do not delay reads
// or changes of other calendars.
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
	s, err := Open(t.Context(), testdb.Postgres(t), db.Options{MaxConns: 2})
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
		if err := s.Update(t.Context(), func(tx calendar.Tx) error {
			return tx.InsertCalendar(t.Context(), cal)
		}); err != nil {
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

// TestAdvanceFree: AdvanceFree skips calendars that others change, without waiting.
func TestAdvanceFree(t *testing.T) {
	t.Parallel()
	s, err := Open(t.Context(), testdb.Postgres(t), db.Options{})
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
			if err := tx.InsertCalendar(t.Context(),
				calendar.Calendar{ID: id, Owner: "alice", Segment: calendar.Segment(id)}); err != nil {
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

// TestLockIsNotWaitedForLong: if another process holds a calendar's row lock, a change fails with "busy" and is
// not retried.
func TestLockIsNotWaitedForLong(t *testing.T) {
	t.Parallel()
	m := newMeeting(t)
	began := time.Now()
	m.fine(m.other.update(t.Context(), func(tx *Tx) error {
		if _, err := tx.Advance(t.Context(), "busy"); err != nil {
			return err
		}
		tries := 0
		err := m.store.update(t.Context(), func(tx *Tx) error {
			tries++
			_, err := tx.Advance(t.Context(), "busy")
			return err
		})
		if calendar.ReasonOf(err) != calendar.Unavailable ||
			!strings.Contains(err.Error(), "another change of the same calendar") || tries != 1 {
			t.Errorf("after %d tries: %v", tries, err)
		}
		return nil
	}))
	if took := time.Since(began); took > 2*db.LockWait {
		t.Errorf("it took %v", took)
	}
}

// TestIgnoredError: a change that goes on after an error of the database is not acknowledged.
func TestIgnoredError(t *testing.T) {
	t.Parallel()
	m := newMeeting(t)
	err := m.store.update(t.Context(), func(tx *Tx) error {
		if err := tx.Run(t.Context(), `INSERT INTO users (id, name, display_name, email, timezone, created)
			VALUES ('bob', 'bob', '', '', '', 0)`); err != nil {
			return err
		}
		if _, err := tx.Exec(t.Context(), `SELECT 1/0`); err == nil {
			t.Error("a division by zero is no error")
		}
		return nil
	})
	if !errors.Is(err, db.ErrIgnored) {
		t.Errorf("got %v", err)
	}
}

// TestLostConnectionBeginsAgain: a change whose connection breaks before the commit is retried once on another.
func TestLostConnectionBeginsAgain(t *testing.T) {
	t.Parallel()
	m := newMeeting(t)
	tries := 0
	m.fine(m.store.update(t.Context(), func(tx *Tx) error {
		tries++
		cal, err := tx.Advance(t.Context(), "busy")
		if err != nil {
			return err
		}
		if tries == 1 {
			own, err := db.RowOf(t.Context(), tx, db.ScanNumber, `SELECT pg_backend_pid()`)
			m.fine(err)
			_, err = m.other.write(t.Context(), fmt.Sprintf("DO $$ BEGIN PERFORM "+
				"pg_terminate_backend(%d); END $$", own))
			m.fine(err)
		}
		if _, _, err := tx.Duplicates(t.Context(), "busy", "a", "a"); err != nil {
			return err
		}
		return tx.Log(t.Context(), calendar.Change{
			Calendar: cal.ID, Version: cal.Version, Object: "a",
			Did: calendar.Created,
		})
	}))
	n, err := db.RowOf(t.Context(), m.other.db.Reads, db.ScanNumber, `SELECT COUNT(*) FROM journal`)
	if err != nil || n != 1 || tries != 2 {
		t.Errorf("after %d tries there are %d lines: %v", tries, n, err)
	}
	if used := m.store.Pool().InUse; used != 0 {
		t.Errorf("%d connections were not returned", used)
	}
}
