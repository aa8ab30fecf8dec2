//go:build unix

package store

import (
	"bytes"
	"fmt"
	"os"
	"testing"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/internal/slowtest"
	"caldav-mcp-server/internal/testdb"
	"caldav-mcp-server/migrations"
)

// A hundred thousand objects are restored from SQLite to Postgres and back unchanged. The log shows the times.
func TestBackupOfManyObjects(t *testing.T) {
	slowtest.Skip(t, slowtest.Big, "backs up and restores 100,000 objects, on both engines")
	const objects, calendars, atOnce = 100_000, 10, 500
	first := bare(t, testdb.SQLite(t), migrations.Files)
	migrate(t, first)
	fillCalendars(t, first, calendars)
	for n := 0; n < objects; n += atOnce {
		err := first.Update(t.Context(), func(tx calendar.Tx) error {
			for i := range atOnce {
				if err := makeObject(t.Context(), tx, calendarID(n/atOnce%calendars), n+i); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	a := timedBackup(t, "SQLite", first)
	second := timedRestore(t, "Postgres", a, testdb.Postgres(t))
	b := timedBackup(t, "Postgres", second)
	third := timedRestore(t, "SQLite", b, testdb.SQLite(t))
	c := timedBackup(t, "SQLite again", third)
	for _, f := range [][]byte{b, c} {
		if err := opened(t, f).Check(unwatched); err != nil {
			t.Error(err)
		}
		for _, name := range []string{"objects", "journal", "calendars"} {
			if got, want := opened(t, f).Table(name), opened(t, a).Table(name); got.Rows != want.Rows ||
				got.SHA256 != want.SHA256 {
				t.Errorf("%s: %d rows, %s; want %d, %s", name, got.Rows, got.SHA256, want.Rows, want.SHA256)
			}
		}
	}
}

func timedBackup(t *testing.T, engine string, s *Store) []byte {
	t.Helper()
	begun, used := time.Now(), processorTime(t)
	path := fmt.Sprint(t.TempDir(), "/backup")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := s.Backup(t.Context(), f, "test", unwatched); err != nil {
		t.Fatal(err)
	}
	took, used := time.Since(begun), processorTime(t)-used
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("backup of %s: %.1f s, %.1f s of processor, %.1f MB", engine, took.Seconds(), used.Seconds(),
		float64(len(file))/1e6)
	return bytes.Clone(file)
}

func timedRestore(t *testing.T, engine string, file []byte, url string) *Store {
	t.Helper()
	begun, used := time.Now(), processorTime(t)
	s := restored(t, file, url)
	t.Logf("restore on %s: %.1f s, %.1f s of processor", engine,
		time.Since(begun).Seconds(), (processorTime(t) - used).Seconds())
	return s
}
