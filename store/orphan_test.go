package store

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/internal/testdb"
	"caldav-mcp-server/migrations"
)

// Orphans are the calendars that are gone, of which a table has rows still.
func (s *Store) Orphans(ctx context.Context) (all []string, err error) {
	for _, table := range belongings {
		ids, err := rowsOf(ctx, s.reads, scanText, `SELECT DISTINCT calendar_id FROM `+table+` WHERE calendar_id NOT IN (SELECT id FROM calendars)`)
		if err != nil {
			return nil, err
		}
		for _, id := range ids {
			all = append(all, table+" of "+id)
		}
	}
	return all, nil
}

func noOrphans(t *testing.T, s *Store) {
	t.Helper()
	if left, err := s.Orphans(t.Context()); err != nil || len(left) > 0 {
		t.Errorf("of calendars that are gone there are %q: %v", left, err)
	}
}

// orphaned puts an object and a line of calendars that are not there into a store on Postgres, whose tables nobody else gets.
func orphaned(t *testing.T, s *Store, calendars ...calendar.CalendarID) {
	t.Helper()
	if _, err := s.write(t.Context(), `ALTER TABLE journal DROP CONSTRAINT IF EXISTS journal_calendar_id_fkey`); err != nil {
		t.Fatal(err)
	}
	for _, id := range calendars {
		err := s.transact(t.Context(), func(tx *Tx) error {
			return errors.Join(tx.PutObject(t.Context(), objectAt(id, "a", "a", "a", 1)),
				tx.Log(t.Context(), calendar.Change{Calendar: id, Version: 1, Object: "a", Did: calendar.Created}))
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestPruneTakesOrphans: a program of before deletes a user by the foreign keys, one of which is no more.
func TestPruneTakesOrphans(t *testing.T) {
	t.Parallel()
	m := newMeetingAt(t, testdb.Blank(t), func(*url.URL) {})
	if _, err := m.put(t.Context(), m.store, draft{name: "kept"}); err != nil {
		t.Fatal(err)
	}
	orphaned(t, m.store, "gone", "also gone")
	found, err := rowsOf(t.Context(), m.store.reads, scanText, orphans("objects"), 10)
	if err != nil || !slices.Equal(found, []string{"also gone", "gone"}) {
		t.Fatalf("%q, %v", found, err)
	}
	m.fine(m.store.Prune(t.Context(), moment(1)))
	noOrphans(t, m.store)
	names, _ := m.kept()
	m.same(names, []string{"kept"})
}

// TestEarlyLeavesNoOrphans: a change that was decided before another process took its calendar away writes nothing.
func TestEarlyLeavesNoOrphans(t *testing.T) {
	t.Parallel()
	m := newMeeting(t)
	tries, err := m.put(t.Context(), m.store, draft{name: "a", when: func(seen try) error {
		if !seen.Early {
			return fmt.Errorf("it was not early: %+v", seen)
		}
		return m.other.DeleteUser(t.Context(), "alice")
	}})
	if calendar.ReasonOf(err) != calendar.NotFound || len(tries) != 1 {
		t.Errorf("%+v, %v", tries, err)
	}
	noOrphans(t, m.store)
}

// TestDeleteUserFindsNewCalendars: a calendar that was being made when its owner's deletion began goes with all that is in it.
func TestDeleteUserFindsNewCalendars(t *testing.T) {
	t.Parallel()
	m := newMeeting(t)
	var end sync.WaitGroup
	m.fine(m.other.transact(t.Context(), func(tx *Tx) error {
		made := calendar.Calendar{ID: "made", Owner: "alice", Segment: "made"}
		if err := tx.InsertCalendar(t.Context(), made); err != nil {
			return err
		}
		if _, err := tx.Advance(t.Context(), made.ID); err != nil {
			return err
		}
		end.Go(func() {
			if err := m.store.DeleteUser(t.Context(), "alice"); err != nil {
				t.Error(err)
			}
		})
		m.waitsForLock()
		return errors.Join(tx.PutObject(t.Context(), objectAt(made.ID, "a", "a", "a", 1)),
			tx.Log(t.Context(), calendar.Change{Calendar: made.ID, Version: 1, Object: "a", Did: calendar.Created}))
	}))
	end.Wait()
	noOrphans(t, m.store)
	if n, err := rowOf(t.Context(), m.store.reads, scanNumber, `SELECT COUNT(*) FROM calendars`); err != nil || n != 0 {
		t.Errorf("%d calendars are left: %v", n, err)
	}
}

// waitsForLock returns when the first process waits for a lock that another has.
func (m *meeting) waitsForLock() {
	m.Helper()
	m.wait(func() bool {
		n, err := rowOf(m.Context(), m.other.reads, scanNumber,
			`SELECT COUNT(*) FROM pg_stat_activity WHERE application_name = $1 AND wait_event_type = 'Lock'`, m.program)
		m.fine(err)
		return n > 0
	})
}

// TestRestoreRefusesOrphans: a file whose objects or lines are of no calendar is refused as a whole, into a new database and into one
// whose tables are made already.
func TestRestoreRefusesOrphans(t *testing.T) {
	t.Parallel()
	made := bare(t, testdb.Blank(t), migrations.Files)
	migrate(t, made)
	orphaned(t, made, "nowhere")
	both := backedUp(t, made)
	if err := made.run(t.Context(), `DELETE FROM objects`); err != nil {
		t.Fatal(err)
	}
	lines := backedUp(t, made)
	orphaned(t, made, "elsewhere")
	if err := made.run(t.Context(), `DELETE FROM journal`); err != nil {
		t.Fatal(err)
	}
	objects := backedUp(t, made)
	testdb.EachBlank(t, func(t *testing.T, url string) {
		s := bare(t, url, migrations.Files)
		for _, file := range [][]byte{both, lines, objects} {
			err := s.Restore(t.Context(), opened(t, file), unwatched)
			if calendar.ReasonOf(err) != calendar.NotFound || !strings.Contains(fmt.Sprint(err), "the table ") {
				t.Errorf("got error %v", err)
			}
			migrate(t, s)
			for _, table := range belongings {
				if n, err := rowOf(t.Context(), s.reads, scanNumber, `SELECT COUNT(*) FROM `+table); err != nil || n != 0 {
					t.Errorf("%s has %d rows: %v", table, n, err)
				}
			}
		}
	})
}

// TestMigrateKeepsObjects: what there is stays when the key goes, and a process that has begun before goes on.
func TestMigrateKeepsObjects(t *testing.T) {
	t.Parallel()
	from := bare(t, testdb.SQLite(t), until(t, "0030"))
	migrate(t, from)
	fill(t, from)
	file := backedUp(t, from)
	testdb.EachBlank(t, func(t *testing.T, url string) {
		before := bare(t, url, until(t, "0030"))
		if err := before.Restore(t.Context(), opened(t, file), unwatched); err != nil {
			t.Fatal(err)
		}
		migrate(t, bare(t, url, until(t, "0031")))
		was, is := contents(t, file), contents(t, backedUp(t, before))
		maps.DeleteFunc(is, func(table string, rows []string) bool { return was[table] == nil && len(rows) == 0 }) // later migrations made it
		if diff := cmp.Diff(was, is); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		all, err := tables(t.Context(), before.reads)
		if err != nil {
			t.Fatal(err)
		}
		for _, one := range all {
			keyed := before.engine.name == "sqlite"
			if one.name == "objects" && slices.Contains(one.needs, "calendars") != keyed {
				t.Errorf("%s needs %q", one.name, one.needs)
			}
		}
	})
}

// TestMigrateLetsOthersPass: a migration that wants tables to itself while something reads them for long does not keep others from them.
func TestMigrateLetsOthersPass(t *testing.T) {
	t.Parallel()
	testdb.EachBlank(t, func(t *testing.T, url string) {
		old := bare(t, url, until(t, "0030"))
		migrate(t, old)
		if old.apart == nil {
			t.Skip("SQLite keeps the key")
		}
		next := bare(t, url, migrations.Files)
		waits := make(chan struct{})
		waiting := sync.OnceFunc(func() { close(waits) })
		next.options.Logger = slog.New(noticed{slog.DiscardHandler, func(r slog.Record) {
			if strings.HasPrefix(r.Message, "a migration waits") {
				waiting()
			}
		}})
		var all sync.WaitGroup
		err := old.inSnapshot(t.Context(), func(at *snapshot) error {
			if _, err := rowOf(t.Context(), at, scanNumber, `SELECT COUNT(*) FROM objects`); err != nil {
				return err
			}
			all.Go(func() {
				defer waiting() // it would have failed
				migrate(t, next)
			})
			<-waits
			if state := schema(t, old); state.Current >= 30 {
				t.Errorf("it has the tables that somebody reads: %+v", state)
			}
			return old.InsertUser(t.Context(), calendar.User{ID: "alice", Name: "alice"}, "hash")
		})
		if err != nil {
			t.Error(err)
		}
		all.Wait()
		if state := schema(t, next); !state.Ready() {
			t.Errorf("%+v", state)
		}
	})
}
