package store

import (
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/internal/testdb"
	"caldav-mcp-server/migrations"
	"caldav-mcp-server/store/db"
)

// orphaned removes the foreign keys of a Postgres store, and writes an object and a journal line of missing
// calendars.
func orphaned(t *testing.T, s *Store, calendars ...calendar.CalendarID) {
	t.Helper()
	for _, table := range []string{"objects", "journal"} {
		if _, err := s.write(t.Context(),
			`ALTER TABLE `+table+` DROP CONSTRAINT IF EXISTS `+table+`_calendar_id_fkey`); err != nil {
			t.Fatal(err)
		}
	}
	for _, id := range calendars {
		err := s.update(t.Context(), func(tx *Tx) error {
			return errors.Join(tx.PutObject(t.Context(), objectAt(id, "a", "a", "a", 1)),
				tx.Log(t.Context(), calendar.Change{Calendar: id, Version: 1, Object: "a", Did: calendar.Created}))
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestDeleteUserFindsNewCalendars: a calendar that was being created when its owner's deletion began is deleted
// with all its objects.
func TestDeleteUserFindsNewCalendars(t *testing.T) {
	t.Parallel()
	m := newMeeting(t)
	var end sync.WaitGroup
	m.fine(m.other.update(t.Context(), func(tx *Tx) error {
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
	for _, table := range []string{"calendars", "objects", "journal"} {
		if n, err := db.RowOf(t.Context(), m.store.db.Reads, db.ScanNumber, `SELECT COUNT(*)
			FROM `+table); err != nil || n != 0 {
			t.Errorf("%d rows of %s are left: %v", n, table, err)
		}
	}
}

// TestRestoreRefusesOrphans: a backup with objects or journal lines of missing calendars is refused as a whole,
// for a new database and for one with tables.
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
			for _, table := range []string{"objects", "journal"} {
				if n, err := db.RowOf(t.Context(), s.db.Reads, db.ScanNumber, `SELECT COUNT(*)
					FROM `+table); err != nil || n != 0 {
					t.Errorf("%s has %d rows: %v", table, n, err)
				}
			}
		}
	})
}

// duplicate copies an object, without its generated columns, into a calendar that does not exist.
const duplicate = `DO $$
DECLARE names TEXT;
BEGIN
	SELECT string_agg(quote_ident(attname), ', ') INTO names FROM pg_attribute
		WHERE attrelid = 'objects'::regclass AND attnum > 0 AND NOT attisdropped AND attgenerated = ''
			AND attname <> 'calendar_id';
	EXECUTE format('INSERT INTO objects (calendar_id, %1$s) SELECT ''gone'', %1$s FROM objects LIMIT 1', names);
END
$$`

// TestMigrateObjectKey: 0030 dropped the key of objects on Postgres, and 0037 brings it back. It deletes the objects of
// calendars that are gone, keeps all others, and a server that started before goes on.
func TestMigrateObjectKey(t *testing.T) {
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
		keyed := func() bool {
			all, err := tables(t.Context(), before.db.Reads)
			if err != nil {
				t.Fatal(err)
			}
			at := slices.IndexFunc(all, func(one table) bool { return one.name == "objects" })
			return slices.Contains(all[at].needs, "calendars")
		}
		migrate(t, bare(t, url, until(t, "0037")))
		if before.db.Engine.Name == "postgres" {
			if keyed() {
				t.Error("0030 leaves the key")
			}
			_, err := before.write(t.Context(), duplicate)
			if err != nil {
				t.Fatal(err)
			}
		}
		migrate(t, bare(t, url, migrations.Files))
		was, is := contents(t, file), contents(t, backedUp(t, before))
		maps.DeleteFunc(is, func(table string, rows []string) bool {
			return was[table] == nil && len(rows) == 0
		}) // later migrations made it
		if diff := cmp.Diff(was["objects"], is["objects"]); diff != "" || len(is["objects"]) == 0 {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if !keyed() {
			t.Error("objects have no key")
		}
	})
}

// TestMigrateLetsOthersPass: a migration that needs an exclusive lock on tables in a long read does not block
// others meanwhile.
func TestMigrateLetsOthersPass(t *testing.T) {
	t.Parallel()
	testdb.EachBlank(t, func(t *testing.T, url string) {
		old := bare(t, url, until(t, "0030"))
		migrate(t, old)
		if old.db.Apart == nil {
			t.Skip("SQLite keeps the key")
		}
		next := bare(t, url, migrations.Files)
		waits := make(chan struct{})
		waiting := sync.OnceFunc(func() { close(waits) })
		next.db.Options.Logger = slog.New(noticed{slog.DiscardHandler, func(r slog.Record) {
			if strings.HasPrefix(r.Message, "a migration waits") {
				waiting()
			}
		}})
		var all sync.WaitGroup
		err := old.db.InSnapshot(t.Context(), func(at *db.Snapshot) error {
			if _, err := db.RowOf(t.Context(), at, db.ScanNumber, `SELECT COUNT(*) FROM objects`); err != nil {
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
