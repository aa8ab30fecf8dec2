package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/internal/testdb"
	"caldav-mcp-server/migrations"
	"caldav-mcp-server/store/backup"
	"caldav-mcp-server/store/db"
)

func unwatched(string, int64, int64) {}

// backedUp returns a backup of a store.
func backedUp(t *testing.T, s *Store) []byte {
	t.Helper()
	var file bytes.Buffer
	if _, err := s.Backup(t.Context(), &file, "test", unwatched); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

func opened(t *testing.T, file []byte) *backup.File {
	t.Helper()
	f, err := backup.Open(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// restored returns an empty store that was filled with a backup.
func restored(t *testing.T, file []byte, url string) *Store {
	t.Helper()
	s := bare(t, url, migrations.Files)
	if err := s.Restore(t.Context(), opened(t, file), unwatched); err != nil {
		t.Fatal(err)
	}
	return s
}

// contents returns all rows of a backup by table, except those that a restore creates itself.
func contents(t *testing.T, file []byte) map[string][]string {
	t.Helper()
	all := map[string][]string{}
	f := opened(t, file)
	for _, table := range f.Tables {
		all[table.Name] = []string{}
		err := f.Rows(table, func(values []any) error {
			var cells []string
			for i, v := range values {
				cell := fmt.Sprintf("%s=%T:%v", table.Columns[i].Name, v, v)
				if anew := table.Name + "." + table.Columns[i].Name; anew != "meta.epoch" &&
					anew != "users.credentials" {
					cells = append(cells, cell)
				}
			}
			slices.Sort(cells)
			all[table.Name] = append(all[table.Name], strings.Join(cells, " "))
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// Every table, including future ones, is restored in full, from each engine to each.
func TestBackupsComeBackOnEitherEngine(t *testing.T) {
	t.Parallel()
	first := bare(t, testdb.SQLite(t), migrations.Files)
	migrate(t, first)
	fill(t, first)
	file := backedUp(t, first)
	want := contents(t, file)
	for name, rows := range want {
		if len(rows) == 0 {
			t.Errorf("nothing was written into %s: this test shows nothing of it", name)
		}
	}
	before, err := first.Epoch(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, way := range []struct {
		name string
		url  string
	}{
		{"SQLite to Postgres", testdb.Postgres(t)},
		{"Postgres to Postgres", testdb.Postgres(t)},
		{"Postgres to SQLite", testdb.SQLite(t)},
		{"SQLite to SQLite", testdb.SQLite(t)},
	} {
		s := restored(t, file, way.url)
		file = backedUp(t, s)
		if diff := cmp.Diff(want, contents(t, file)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", way.name, diff)
		}
		after, err := s.Epoch(t.Context())
		if err != nil || after == before {
			t.Errorf("%s: the epoch is still %q, %v", way.name, after, err)
		}
		before = after
		if schema, err := s.Schema(t.Context()); err != nil || !schema.Ready() {
			t.Errorf("%s: the tables are %+v, %v", way.name, schema, err)
		}
	}
}

// fill writes two rows into every table of a backup: texts beyond ASCII, bytes that are not UTF-8, numbers that
// no float can hold. A foreign key refers to the row with the same number.
func fill(t *testing.T, s *Store) {
	t.Helper()
	all, err := tables(t.Context(), s.db.Reads)
	if err != nil {
		t.Fatal(err)
	}
	for _, table := range all {
		if table.name == "meta" {
			continue
		}
		points := pointsAt(t, s, table.name)
		for row := range 2 {
			var values []any
			for _, c := range table.columns {
				values = append(values, sample(table.name, c, row, points))
			}
			if _, err := s.write(t.Context(), insertRows(table.name, table.names(), 1), values...); err != nil {
				t.Fatalf("%s: %v", table.name, err)
			}
		}
	}
}

// sample is the value of a column in a row.
func sample(table string, c backup.Column, row int, points map[string][2]string) any {
	column := c.Name
	if to, found := points[column]; found {
		table, column = to[0], to[1]
	}
	switch c.Kind {
	case backup.Integer:
		return int64(1)<<60 + int64(row)
	case backup.Boolean:
		return row == 1
	case backup.Bytes:
		return [][]byte{{0xff, 0x00, 0xfe}, []byte("BEGIN:VCALENDAR\r\n\u2028<&>\x01")}[row]
	case backup.Text:
	}
	return fmt.Sprintf("%s.%s “%d”\t<&>", table, column, row)
}

// pointsAt returns the targets of a table's foreign keys.
func pointsAt(t *testing.T, s *Store, table string) map[string][2]string {
	t.Helper()
	points := map[string][2]string{}
	err := db.Each(t.Context(), s.db.Reads, func(row db.Scanner) (bool, error) {
		var from, to, column string
		err := row.Scan(&from, &to, &column)
		points[from] = [2]string{to, column}
		return true, err
	}, `SELECT "from", "table", "to" FROM pragma_foreign_key_list('`+table+`')`)
	if err != nil {
		t.Fatal(err)
	}
	// A target may be a foreign key itself: share_kept.owner is shares.calendar_id, which is calendars.id.
	for from, to := range points {
		if to[0] != table {
			if on, found := pointsAt(t, s, to[0])[to[1]]; found {
				points[from] = on
			}
		}
	}
	return points
}

// A new table is in a backup unless leftOut gives a reason. Both engines have the same tables.
func TestBackupHasEveryTable(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	had := map[string][]backup.Table{}
	for engine, url := range map[string]string{"sqlite": testdb.SQLite(t), "postgres": testdb.Postgres(t)} {
		s := bare(t, url, migrations.Files)
		migrate(t, s)
		file := opened(t, backedUp(t, s))
		for i := range file.Tables {
			slices.SortFunc(file.Tables[i].Columns, func(a, b backup.Column) int {
				return strings.Compare(a.Name, b.Name)
			})
			file.Tables[i].SHA256 = ""
		}
		slices.SortFunc(file.Tables, func(a, b backup.Table) int { return strings.Compare(a.Name, b.Name) })
		had[engine] = file.Tables
		names := map[string]string{
			"sqlite":   `SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\_%' ESCAPE '\'`,
			"postgres": `SELECT tablename FROM pg_tables WHERE schemaname = current_schema()`,
		}
		all, err := db.RowsOf(t.Context(), s.db.Reads, db.ScanText, names[engine])
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range all {
			seen[name] = true
			isIn := slices.ContainsFunc(file.Tables, func(t backup.Table) bool { return t.Name == name })
			if isIn == isLeftOut(name) {
				t.Errorf("%s: the table %s is in a backup: %v; left out on purpose: %v", engine, name,
					isIn, isLeftOut(name))
			}
		}
	}
	if diff := cmp.Diff(had["sqlite"], had["postgres"]); diff != "" {
		t.Errorf("what the engines back up (-sqlite +postgres):\n%s", diff)
	}
	for name := range leftOut {
		if !strings.HasSuffix(name, "*") && !seen[name] {
			t.Errorf("%s is left out, and there is no such table", name)
		}
	}
}

// A backup that is damaged anywhere, or cut short, is refused before anything is changed.
func TestDamagedBackupsAreRefused(t *testing.T) {
	t.Parallel()
	s := bare(t, testdb.SQLite(t), migrations.Files)
	migrate(t, s)
	fill(t, s)
	whole := backedUp(t, s)
	want := contents(t, whole)
	refused := 0
	for at := 0; at < len(whole); at += 1 + len(whole)/400 {
		file := bytes.Clone(whole)
		file[at] ^= 0x55
		f, err := backup.Open(bytes.NewReader(file), int64(len(file)))
		if err == nil {
			err = f.Check(unwatched)
		}
		if err != nil {
			refused++
			continue
		}
		if diff := cmp.Diff(want, contents(t, file)); diff != "" {
			t.Errorf("with the byte %d changed it is taken, and is another:\n%s", at, diff)
		}
	}
	if refused < 200 {
		t.Errorf("of some 400 damaged ones %d were refused", refused)
	}
	empty := bare(t, testdb.SQLite(t), migrations.Files)
	for _, length := range []int{0, 1, len(whole) / 2, len(whole) - 1} {
		if _, err := backup.Open(bytes.NewReader(whole[:length]), int64(length)); !errors.Is(err, backup.ErrDamaged) {
			t.Errorf("cut after %d of %d bytes: %v", length, len(whole), err)
		}
	}
	f := damaged(t, whole)
	if err := empty.Restore(t.Context(), f, unwatched); !errors.Is(err, backup.ErrDamaged) {
		t.Errorf("restoring a damaged one: %v", err)
	}
	if have, err := db.Applied(t.Context(), empty.db.Reads); err != nil || len(have) > 0 {
		t.Errorf("it has left tables: %v, %v", have, err)
	}
}

// damaged returns a backup with one byte changed, at a place that matters: some bytes of a ZIP file do not.
func damaged(t *testing.T, whole []byte) *backup.File {
	t.Helper()
	for at := len(whole) / 4; at < len(whole)/2; at++ {
		file := bytes.Clone(whole)
		file[at] ^= 1
		if f, err := backup.Open(bytes.NewReader(file), int64(len(file))); err == nil && f.Check(unwatched) != nil {
			return f
		}
	}
	t.Fatal("no byte counts")
	return nil
}

// A store with users is not overwritten, and no backup of another or a newer program is restored.
func TestRestoreRefuses(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		s := bare(t, testdb.SQLite(t), migrations.Files)
		migrate(t, s)
		fill(t, s)
		file := backedUp(t, s)
		used := restored(t, file, url)
		if err := used.Restore(t.Context(), opened(t, file), unwatched); calendar.ReasonOf(err) != calendar.Exists {
			t.Errorf("into a store with users: %v", err)
		}
		for name, spoil := range map[string]func(*backup.Manifest){
			"newer": func(m *backup.Manifest) {
				m.Migrations = append(m.Migrations, backup.Migration{Name: "9999_more.sql"})
			},
			"another": func(m *backup.Manifest) { m.Migrations[0].Checksum = "another" },
		} {
			f := opened(t, file)
			spoil(&f.Manifest)
			empty := bare(t, testdb.SQLite(t), migrations.Files)
			if err := empty.Restore(t.Context(), f, unwatched); calendar.ReasonOf(err) != calendar.Unsupported {
				t.Errorf("of %s program: %v", name, err)
			}
		}
	})
}

// TestRestoreIntoTables: a database with empty tables accepts a backup.
func TestRestoreIntoTables(t *testing.T) {
	t.Parallel()
	from := bare(t, testdb.SQLite(t), migrations.Files)
	migrate(t, from)
	fill(t, from)
	file := backedUp(t, from)
	testdb.EachBlank(t, func(t *testing.T, url string) {
		migrate(t, bare(t, url, migrations.Files))
		if diff := cmp.Diff(contents(t, file), contents(t, backedUp(t, restored(t, file, url)))); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

// A backup of an older program is restored as it was, and brought up to date then.
func TestOlderBackupsAreBroughtUpToDate(t *testing.T) {
	t.Parallel()
	testdb.EachBlank(t, func(t *testing.T, url string) {
		old := bare(t, testdb.SQLite(t), older(t, "0005"))
		if err := old.db.Migrate(t.Context(), mustWant(t, old),
			func(context.Context, *db.Tx) error { return nil }); err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{
			`INSERT INTO meta (id, epoch, credentials, derivation) VALUES (1, 'old', 7, 0)`,
			`INSERT INTO users (id, name, display_name, email, timezone, created)
				VALUES ('1', 'ann', 'Ann', '', 'UTC', 5)`,
		} {
			if _, err := old.write(t.Context(), text); err != nil {
				t.Fatal(err)
			}
		}
		s := restored(t, backedUp(t, old), url)
		u, err := s.UserByName(t.Context(), "ann")
		if err != nil || u.DisplayName != "Ann" {
			t.Errorf("%+v, %v", u, err)
		}
		if schema, err := s.Schema(t.Context()); err != nil || !schema.Ready() {
			t.Errorf("the tables are %+v, %v", schema, err)
		}
		s.secretFor(t, "a")
	})
}

// older returns the program's migrations before a number.
func older(t *testing.T, number string) fs.FS {
	t.Helper()
	all := fstest.MapFS{}
	for name, file := range with(t, "0000_none.sql", "").(fstest.MapFS) {
		if name < number && name > "0001" {
			all[name] = file
		}
	}
	return all
}

func mustWant(t *testing.T, s *Store) []db.Migration {
	t.Helper()
	all, err := s.db.Wanted()
	if err != nil {
		t.Fatal(err)
	}
	return all
}
