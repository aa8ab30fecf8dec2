package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/internal/testdb"
	"caldav-mcp-server/store/db"
)

// overlap starts another change that waits for the locks of work, before work commits. On SQLite it waits for
// its turn.
func overlap(t *testing.T, s *Store, work func(*Tx) error, other func(context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var once sync.Once // the transaction may begin anew
	result := make(chan error, 1)
	err := s.update(ctx, func(tx *Tx) error {
		if err := work(tx); err != nil || s.db.Engine.Name != "postgres" {
			once.Do(func() { go func() { result <- other(ctx) }() })
			return err
		}
		pid, err := db.RowOf(ctx, tx, db.ScanNumber, `SELECT pg_backend_pid()`)
		once.Do(func() { go func() { result <- other(ctx) }() })
		for waits := int64(0); err == nil && waits == 0; {
			waits, err = db.RowOf(ctx, s.db.Reads, db.ScanNumber, `SELECT COUNT(*) FROM pg_stat_activity
				WHERE $1 = ANY(pg_blocking_pids(pid))`, pid)
		}
		return err
	})
	if err := errors.Join(err, <-result); err != nil {
		t.Fatal(err)
	}
}

// busyWith opens a store with a calendar that has an event.
func busyWith(t *testing.T, url string) (*Store, calendar.Object) {
	t.Helper()
	s, err := Open(t.Context(), url, db.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	text := []byte("BEGIN:VCALENDAR\r\nEND:VCALENDAR\r\n")
	o := calendar.Object{
		Calendar: "busy", Name: "a.ics", Size: int64(len(text)), Data: text,
		Derived: calendar.Derived{UID: "a", Kind: calendar.Event, Summary: "Dinner"},
	}
	err = cmp.Or(s.Migrate(t.Context()), s.InsertUser(t.Context(), calendar.User{ID: "alice", Name: "alice"}, "hash"),
		s.Update(t.Context(), func(tx calendar.Tx) error {
			return tx.InsertCalendar(t.Context(), calendar.Calendar{ID: o.Calendar, Owner: "alice", Segment: "busy"})
		}),
		s.update(t.Context(), func(tx *Tx) error { return written(t.Context(), tx, o) }))
	if err != nil {
		t.Fatal(err)
	}
	return s, o
}

// written writes an object at its calendar's next version, or turns it into a tombstone.
func written(ctx context.Context, tx *Tx, o calendar.Object) error {
	cal, err := tx.Advance(ctx, o.Calendar)
	if err != nil {
		return err
	}
	if o.Deleted {
		return tx.BuryObject(ctx, o.Calendar, o.Name, cal.Version)
	}
	o.Version = cal.Version
	return tx.PutObject(ctx, o)
}

// TestForgottenWhileItComesBack: an object restored while the trash is emptied keeps its text. TestTorture
// found an event that existed but could not be read.
func TestForgottenWhileItComesBack(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		s, o := busyWith(t, url)
		gone := o
		gone.Deleted = true
		if err := s.update(t.Context(), func(tx *Tx) error { return written(t.Context(), tx, gone) }); err != nil {
			t.Fatal(err)
		}
		overlap(t, s, func(tx *Tx) error { return written(t.Context(), tx, o) },
			func(ctx context.Context) error { return s.ForgetDeletions(ctx, o.Calendar) })
		got, err := s.Object(t.Context(), o.Calendar, o.Name)
		if err != nil || string(got.Data) != string(o.Data) || got.Summary != o.Summary || got.Size != o.Size {
			t.Errorf("what came back is %q with %q, %d bytes: %v", got.Summary, got.Data, got.Size, err)
		}
	})
}

// TestRemovedWhileItComesBack: a calendar restored while the trash is emptied keeps all objects. After its
// removal has begun, it cannot be restored.
func TestRemovedWhileItComesBack(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		s, o := busyWith(t, url)
		trash := func(tx *Tx) error { return tx.TrashCalendar(t.Context(), o.Calendar) }
		back := func(tx *Tx) error { return tx.UntrashCalendar(t.Context(), o.Calendar, "busy") }
		if err := s.update(t.Context(), trash); err != nil {
			t.Fatal(err)
		}
		overlap(t, s, back, func(ctx context.Context) error {
			if err := s.ForgetCalendar(ctx, o.Calendar); calendar.ReasonOf(err) != calendar.NotFound {
				return fmt.Errorf("a calendar that came back is removed: %w", err)
			}
			return nil
		})
		if got, err := s.Object(t.Context(), o.Calendar, o.Name); err != nil || string(got.Data) != string(o.Data) {
			t.Errorf("of what came back an object is %q: %v", got.Data, err)
		}

		if err := s.update(t.Context(), trash); err != nil {
			t.Fatal(err)
		}
		if err := s.run(t.Context(), `UPDATE calendars
			SET trashed = `+leaving); err != nil { // the server died in the middle of it
			t.Fatal(err)
		}
		if err := s.update(t.Context(), back); calendar.ReasonOf(err) != calendar.NotFound {
			t.Errorf("a calendar that is being removed comes back: %v", err)
		}
		if all, err := s.TrashedCalendars(t.Context(), "alice"); err != nil || len(all) > 0 {
			t.Errorf("a calendar that is being removed is offered: %v, %v", all, err)
		}
		used, err := s.Usage(t.Context(), "alice")
		if all, failed := s.Usages(t.Context()); err != nil || failed != nil ||
			used.Calendars+used.Objects+all["alice"].Calendars > 0 {
			t.Errorf("a calendar that is being removed counts: %v, %v: %v, %v", used, all, err, failed)
		}
		left, err := int64(-1), s.Prune(t.Context(), time.Unix(1, 0))
		if err == nil {
			left, err = db.RowOf(t.Context(), s.db.Reads, db.ScanNumber, `SELECT (SELECT COUNT(*)
				FROM calendars) + (SELECT COUNT(*) FROM objects)`)
		}
		if err != nil || left != 0 {
			t.Errorf("%d rows are left: a removal that was interrupted is not taken up again: %v", left, err)
		}
	})
}
