package store

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"

	"github.com/jackc/pgx/v5"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/internal/testdb"
	"caldav-mcp-server/migrations"
	"caldav-mcp-server/store/db"
)

// until returns the program's migrations before a number.
func until(t *testing.T, before string) fs.FS {
	t.Helper()
	all := with(t, "0000_none.sql", "")
	for name := range all.(fstest.MapFS) {
		if name >= before || name == "0000_none.sql" {
			delete(all.(fstest.MapFS), name)
		}
	}
	return all
}

// TestIndexesAhead: the index of a large table is built before the migration's transaction, which would block
// writers. A half-built index from an interrupted attempt is built again.
func TestIndexesAhead(t *testing.T) {
	t.Parallel()
	testdb.EachBlank(t, func(t *testing.T, url string) {
		s := bare(t, url, until(t, "0028"))
		migrate(t, s)
		if s.db.Apart == nil {
			t.Skip("SQLite has one writer, who waits")
		}
		ctx := t.Context()
		whole := func(index string) int64 {
			n, err := db.RowOf(ctx, s.db.Reads, db.ScanNumber, `SELECT COUNT(*) FROM pg_index
				WHERE indexrelid = to_regclass($1) AND indisvalid`, index)
			if err != nil {
				t.Error(err)
			}
			return n
		}
		err := errors.Join(s.InsertUser(ctx, calendar.User{ID: "u", Name: "u"}, ""),
			s.Update(ctx, func(tx calendar.Tx) error {
				return tx.InsertCalendar(ctx, calendar.Calendar{ID: "c", Owner: "u", Segment: "c"})
			}))
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{
			`INSERT INTO journal (calendar_id, version, at, user_id, token_id, agent, change, object, uid, before)
				SELECT 'c', n, 0, 'u', '', '', 'changed', n || '.ics', n || '',
				sha512((n || '')::bytea) || sha512((n || 'a')::bytea) || sha512((n || 'b')::bytea)
				FROM generate_series(1, 80000) n`,
			`CREATE INDEX journal_copies ON journal (uid)`,
			`UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'journal_copies'::regclass`,
		} {
			if err := s.run(ctx, text); err != nil {
				t.Fatal(err)
			}
		}
		s.db.Files = migrations.Files
		s.db.Options.Migrating = func(file string, _, _ int) {
			if file == "0028_copies.sql" && whole("journal_copies") != 1 {
				t.Error("the journal's index is made within the migration")
			}
			if file == "0028_copies.sql" && whole("objects_copies") != 0 {
				t.Error("an index of nothing is made ahead")
			}
		}
		migrate(t, s)
		columns, err := db.RowOf(ctx, s.db.Reads, db.ScanNumber, `SELECT indnatts FROM pg_index
			WHERE indexrelid = 'journal_copies'::regclass AND indisvalid`)
		if err != nil || columns != 3 || whole("objects_copies") != 1 || whole("objects_when") != 1 {
			t.Errorf("the journal's index has %d columns, %v", columns, err)
		}
	})
}

// noticed is a log handler that calls back for each line.
type noticed struct {
	slog.Handler
	call func(slog.Record)
}

func (noticed) Enabled(context.Context, slog.Level) bool { return true }

func (n noticed) Handle(_ context.Context, r slog.Record) error {
	n.call(r)
	return nil
}

// TestIndexesAheadOfTwo: two servers that migrate at once build the indexes one after another. Without that,
// they blocked each other, and the one that gave up dropped the other's index.
func TestIndexesAheadOfTwo(t *testing.T) {
	t.Parallel()
	testdb.EachBlank(t, func(t *testing.T, url string) {
		twice := with(t, "9999_many.sql",
			"CREATE INDEX IF NOT EXISTS many_a ON many (a);\nCREATE INDEX IF NOT EXISTS many_b ON many (b);")
		first, second := bare(t, url, until(t, "9999")), bare(t, url, twice)
		migrate(t, first)
		if first.db.Apart == nil {
			t.Skip("SQLite has one writer, who waits")
		}
		if err := first.run(t.Context(), `CREATE TABLE many AS SELECT n AS a, n AS b, repeat('x', 200) AS c
			FROM generate_series(1, 80000) n`); err != nil {
			t.Fatal(err)
		}
		first.db.Files = twice
		var made atomic.Int64
		var all sync.WaitGroup
		var other sync.Once
		for _, s := range []*Store{first, second} {
			s.db.Options.Logger = slog.New(noticed{slog.DiscardHandler, func(r slog.Record) {
				if made.Add(1); r.Level > slog.LevelInfo {
					t.Error(r.Message)
				}
				other.Do(func() {
					all.Go(func() { migrate(t, second) })
					err := s.db.Apart(t.Context(), func(conn *pgx.Conn) error {
						var alone bool
						err := conn.QueryRow(t.Context(), db.IndexLock).Scan(&alone)
						if alone {
							t.Error("another server may begin while an index is made")
						}
						return err
					})
					if err != nil {
						t.Error(err)
					}
				})
			}})
		}
		migrate(t, first)
		all.Wait()
		whole, err := db.RowOf(t.Context(), first.db.Reads, db.ScanNumber, `SELECT COUNT(*) FROM pg_index
			WHERE indrelid = to_regclass('many') AND indisvalid`)
		if err != nil || whole != 2 || made.Load() != 2 {
			t.Errorf("%d indexes are there, %d were made: %v", whole, made.Load(), err)
		}
	})
}

// TestIndexNotMadeAhead: a failed build leaves no index that the migration would accept.
func TestIndexNotMadeAhead(t *testing.T) {
	t.Parallel()
	testdb.EachBlank(t, func(t *testing.T, url string) {
		s := bare(t, url, with(t, "9999_twice.sql", "CREATE UNIQUE INDEX IF NOT EXISTS twice ON many (a);"))
		if s.db.Apart == nil {
			t.Skip("SQLite has one writer, who waits")
		}
		ctx := context.WithoutCancel(t.Context())
		if err := s.run(ctx, `CREATE TABLE many AS SELECT 1 AS a, repeat('x', 200) AS b
			FROM generate_series(1, 80000)`); err != nil {
			t.Fatal(err)
		}
		if err := s.Migrate(ctx); err == nil {
			t.Fatal("an index of two equal rows is unique")
		}
		left, err := db.RowOf(ctx, s.db.Reads, db.ScanNumber, `SELECT COUNT(*) FROM pg_class
			WHERE relname = 'twice' AND relnamespace = current_schema()::regnamespace`)
		if err != nil || left != 0 {
			t.Errorf("%d indexes are left: %v", left, err)
		}
	})
}
