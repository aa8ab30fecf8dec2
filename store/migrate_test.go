package store

import (
	"context"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/internal/testdb"
	"caldav-mcp-server/migrations"
	"caldav-mcp-server/store/db"
)

// bare opens a store without tables and with its own list of migrations.
func bare(t *testing.T, url string, files fs.FS) *Store {
	t.Helper()
	s, err := Open(t.Context(), url, db.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	s.db.Files = files
	return s
}

// with returns the program's migrations and one more.
func with(t *testing.T, name, text string) fs.FS {
	t.Helper()
	all := fstest.MapFS{name: {Data: []byte(text)}}
	names, err := fs.Glob(migrations.Files, "*")
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range names {
		data, err := fs.ReadFile(migrations.Files, n)
		if err != nil {
			t.Fatal(err)
		}
		if n != name {
			all[n] = &fstest.MapFile{Data: data}
		}
	}
	return all
}

func schema(t *testing.T, s *Store) db.Schema {
	t.Helper()
	state, err := s.Schema(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return state
}

func migrate(t *testing.T, s *Store) {
	t.Helper()
	if err := s.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestMigrateTwice(t *testing.T) {
	t.Parallel()
	testdb.EachBlank(t, func(t *testing.T, url string) {
		s := bare(t, url, migrations.Files)
		before := schema(t, s)
		if before.Current != 0 || before.Ready() || len(before.Pending) == 0 {
			t.Errorf("an empty database: %+v", before)
		}
		migrate(t, s)
		epoch, err := s.Epoch(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		migrate(t, s)
		after := schema(t, s)
		if diff := cmp.Diff(db.Schema{Current: before.Wanted, Wanted: before.Wanted}, after); diff != "" {
			t.Errorf("afterwards (-want +got):\n%s", diff)
		}
		if again, err := s.Epoch(t.Context()); err != nil || again != epoch {
			t.Errorf("the epoch went from %q to %q: %v", epoch, again, err)
		}
	})
}

// TestMigrateAtOnce: several processes start at the same time on an empty database.
func TestMigrateAtOnce(t *testing.T) {
	t.Parallel()
	testdb.EachBlank(t, func(t *testing.T, url string) {
		const processes = 5
		stores := make([]*Store, processes)
		errs := make([]error, processes)
		var all sync.WaitGroup
		for i := range processes {
			all.Go(func() {
				if stores[i], errs[i] = Open(t.Context(), url, db.Options{}); errs[i] == nil {
					errs[i] = stores[i].Migrate(t.Context())
				}
			})
		}
		all.Wait()
		epochs := map[calendar.Epoch]bool{}
		for i, s := range stores {
			if errs[i] != nil {
				t.Fatalf("process %d: %v", i, errs[i])
			}
			t.Cleanup(func() { _ = s.Close() })
			epoch, err := s.Epoch(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			epochs[epoch] = true
		}
		if len(epochs) != 1 {
			t.Errorf("%d epochs in one store", len(epochs))
		}
	})
}

func TestMigrateRefusesNewer(t *testing.T) {
	t.Parallel()
	testdb.EachBlank(t, func(t *testing.T, url string) {
		newer := bare(t, url, with(t, "0999_future.sql", "CREATE TABLE future (a BIGINT)"))
		migrate(t, newer)
		older := bare(t, url, migrations.Files)
		err := older.Migrate(t.Context())
		if calendar.ReasonOf(err) != calendar.Unsupported || !strings.Contains(fmt.Sprint(err), "0999_future.sql") {
			t.Errorf("got error %v, want one that names the unknown migration", err)
		}
		state := schema(t, older)
		if state.Ready() || state.Current != 999 || !cmp.Equal(state.Unknown, []string{"0999_future.sql"}) {
			t.Errorf("the database's state: %+v", state)
		}
	})
}

func TestMigrateRefusesOther(t *testing.T) {
	t.Parallel()
	testdb.EachBlank(t, func(t *testing.T, url string) {
		migrate(t, bare(t, url, migrations.Files))
		text, err := fs.ReadFile(migrations.Files, "0001_schema.sql")
		if err != nil {
			t.Fatal(err)
		}
		// Line endings make no difference.
		windows := strings.ReplaceAll(string(text), "\n", "\r\n")
		migrate(t, bare(t, url, with(t, "0001_schema.sql", windows)))
		err = bare(t, url, with(t, "0001_schema.sql", string(text)+"-- changed")).Migrate(t.Context())
		if calendar.ReasonOf(err) != calendar.Unsupported || !strings.Contains(fmt.Sprint(err), "0001_schema.sql") {
			t.Errorf("got error %v, want one that names the changed file", err)
		}
	})
}

// TestMigrateRefusesOlderBuild: a build from before the first release had other migrations. Its database is
// left unchanged, and the error explains how to move the calendars.
func TestMigrateRefusesOlderBuild(t *testing.T) {
	t.Parallel()
	testdb.EachBlank(t, func(t *testing.T, url string) {
		migrate(t, bare(t, url, fstest.MapFS{
			"0001_schema.sql": {Data: []byte("CREATE TABLE meta (id BIGINT PRIMARY KEY, epoch TEXT, credentials " +
				"BIGINT, derivation BIGINT, secret BYTEA)")},
			"0025_homes.sql": {Data: []byte("CREATE TABLE homes (user_id TEXT)")},
		}))
		s := bare(t, url, migrations.Files)
		err := s.Migrate(t.Context())
		if calendar.ReasonOf(err) != calendar.Unsupported {
			t.Fatalf("got error %v", err)
		}
		for _, want := range []string{"0001_schema.sql", "`export --user NAME --out DIR`", "`import --user NAME DIR`"} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%q does not say %s", err, want)
			}
		}
		state := schema(t, s)
		if state.Ready() || state.Behind() || state.Current != 25 ||
			!cmp.Equal(state.Other, []string{"0001_schema.sql"}) {
			t.Errorf("the database's state: %+v", state)
		}
	})
}

// TestMigrateComparesBytes: on Postgres each text column compares bytes, whichever file it came in.
func TestMigrateComparesBytes(t *testing.T) {
	t.Parallel()
	s := bare(t, testdb.Blank(t), with(t, "0996_text.sql", "ALTER TABLE users ADD COLUMN added TEXT; CREATE TABLE "+
		"\"another One\" (a TEXT, b BIGINT)"))
	migrate(t, s)
	columns, err := db.RowsOf(t.Context(), s.db.Reads, func(row db.Scanner) (string, error) {
		var column string
		err := row.Scan(&column)
		return column, err
	}, `SELECT table_name || '.' || column_name FROM information_schema.columns
		WHERE table_schema = current_schema() AND data_type = 'text' AND collation_name IS DISTINCT FROM 'C'`)
	if err != nil || len(columns) > 0 {
		t.Errorf("%q have the order of the machine's locale: %v", columns, err)
	}
}

// TestMigrateFails: a migration that fails half way leaves nothing of itself, and what came before
// it stays.
func TestMigrateFails(t *testing.T) {
	t.Parallel()
	testdb.EachBlank(t, func(t *testing.T, url string) {
		s := bare(t, url, with(t, "0998_broken.sql", "CREATE TABLE half (a BIGINT); CREATE TABLE half (a BIGINT);"))
		err := s.Migrate(t.Context())
		if err == nil || !strings.Contains(err.Error(), "0998_broken.sql") {
			t.Fatalf("got error %v, want one that names the file", err)
		}
		if state := schema(t, s); !cmp.Equal(state.Pending, []string{"0998_broken.sql"}) {
			t.Errorf("the database's state: %+v", state)
		}
		s.db.Files = with(t, "0998_broken.sql", "CREATE TABLE half (a BIGINT)")
		migrate(t, s)
	})
}

// TestMigrateByEngine: a file with an engine's name is for that engine alone.
func TestMigrateByEngine(t *testing.T) {
	t.Parallel()
	testdb.EachBlank(t, func(t *testing.T, url string) {
		files := with(t, "0997_words.postgres.sql", "DO $$ BEGIN END $$")
		migrate(t, bare(t, url, files))
	})
}

func TestMigrationNames(t *testing.T) {
	t.Parallel()
	s := bare(t, testdb.SQLite(t), with(t, "97_words.sql", ""))
	if err := s.Migrate(t.Context()); err == nil || !strings.Contains(err.Error(), "97_words.sql") {
		t.Errorf("got error %v, want one that names the file", err)
	}
}

// TestMigrateCancelled: a caller canceled while another process migrates gets the context's error.
func TestMigrateCancelled(t *testing.T) {
	t.Parallel()
	testdb.EachBlank(t, func(t *testing.T, url string) {
		s := bare(t, url, migrations.Files)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := s.Migrate(ctx); err == nil {
			t.Error("migrated for nobody")
		}
		migrate(t, s)
	})
}
