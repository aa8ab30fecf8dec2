package store

import (
	"bytes"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/store/db"
)

// openFile opens a store on a path, with its tables.
func openFile(t *testing.T, url string) *Store {
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
	if err := s.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s
}

// TestSQLiteURLs: the file at the URL's path is opened, whatever characters its name has.
func TestSQLiteURLs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for url, file := range map[string]string{
		"sqlite:" + dir + "/plain.db":            "plain.db",
		"sqlite://" + dir + "/slashes.db":        "slashes.db",
		dir + "/bare.db":                         "bare.db",
		dir + "/sub/dir/made.db":                 "sub/dir/made.db",
		dir + "/a b?c=d&_pragma=x%20#ü;'\".db":   "a b?c=d&_pragma=x%20#ü;'\".db",
		"sqlite:" + dir + "/sqlite:twice.db":     "sqlite:twice.db",
		"sqlite:" + dir + "/../" + "other/up.db": "../other/up.db",
	} {
		openFile(t, url)
		if _, err := os.Stat(filepath.Join(dir, file)); err != nil {
			t.Errorf("%s: %v", url, err)
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	foreign := filepath.Join(dir, "foreign")
	if err := os.WriteFile(foreign, []byte(strings.Repeat("this is no database\n", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	for url, want := range map[string]string{
		"":                             "empty",
		"sqlite:":                      "empty",
		"sqlite::memory:":              "memory",
		"mysql://user:secret@host/db":  "neither",
		"sqlite://host/calendar.db":    "neither",
		"postgres://host:port/x":       "URL",
		foreign:                        "not a database",
		foreign + "/below/calendar.db": "not a directory",
		dir:                            "directory",
	} {
		s, err := Open(t.Context(), url, db.Options{})
		if err == nil {
			_ = s.Close()
			t.Errorf("%s: opened", url)
			continue
		}
		if !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: got error %q, want one with %q", url, err, want)
		}
	}
}

// TestFilesAreOurs: only the owner can read the database and the files that SQLite creates next to it (security
// L14).
func TestFilesAreOurs(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	openFile(t, filepath.Join(dir, "calendar.db"))
	found := 0
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		found++
		if mode := info.Mode().Perm(); mode&0o077 != 0 {
			t.Errorf("%s has mode %o", path, mode)
		}
		return nil
	})
	if err != nil || found < 4 { // the folder, the file, -wal and -shm
		t.Errorf("%d files: %v", found, err)
	}
}

// TestCloseLeavesOneFile: a write-ahead log left next to the file would be applied to a restored backup, and
// damage it.
func TestCloseLeavesOneFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s, err := Open(t.Context(), filepath.Join(dir, "calendar.db"), db.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Users(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	left, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{filepath.Join(dir, "calendar.db")}, left); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestDurability: the settings that make an acknowledged write survive a power failure are on.
func TestDurability(t *testing.T) {
	t.Parallel()
	s := openFile(t, filepath.Join(t.TempDir(), "calendar.db"))
	for pragma, want := range map[string]string{
		"journal_mode": "wal", "synchronous": "2", "foreign_keys": "1",
		"busy_timeout": "10000",
	} {
		err := s.update(t.Context(), func(tx *Tx) error {
			got, err := db.RowOf(t.Context(), tx, db.ScanText, "PRAGMA "+pragma)
			if got != want {
				t.Errorf("%s is %s, want %s", pragma, got, want)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.db.Reads.Exec(t.Context(), "DELETE FROM meta"); err == nil {
		t.Error("a reader may write")
	}
}

// TestFullDisk: a write on a full disk fails with that reason and stores nothing.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	s := openFile(t, filepath.Join(t.TempDir(), "calendar.db"))
	ctx := t.Context()
	limit := func(pragma string) {
		err := s.update(ctx, func(tx *Tx) error {
			_, err := db.RowOf(ctx, tx, db.ScanNumber, pragma)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	insert := func(name string, size int) error {
		return s.InsertUser(ctx, calendar.User{
			ID: calendar.UserID(name), Name: name,
			Email: strings.Repeat("x", size),
		}, "hash")
	}
	if err := insert("before", 1); err != nil {
		t.Fatal(err)
	}
	if s.DiskFull(ctx) {
		t.Error("the disk is full from the beginning")
	}
	limit("PRAGMA max_page_count = 60")
	err := insert("large", 1<<20)
	if calendar.ReasonOf(err) != calendar.Unavailable || calendar.RuleOf(err) != calendar.RuleDiskSpace {
		t.Errorf("got error %v, want that of a full disk", err)
	}
	if err := insert("small", 1); err != nil {
		t.Errorf("what has room: %v", err)
	}
	full := func(after time.Duration) bool {
		s.db.Options.Now = func() time.Time { return time.Now().Add(after) }
		return s.DiskFull(ctx)
	}
	if !full(0) || s.Done().Full != 1 {
		t.Error("the full disk is not reported, as if the small change showed that there is room")
	}
	if full(2 * time.Minute) {
		t.Error("the disk is reported as full, although a change was stored")
	}
	limit("PRAGMA max_page_count = 1000000")
	if err := insert("large", 1<<20); err != nil {
		t.Errorf("with room again: %v", err)
	}
}

// TestReadableDatabaseIsTold: the log warns of a database that other users of the machine can read, and of no
// other (security L14).
func TestReadableDatabaseIsTold(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("modes say nothing there")
	}
	path := filepath.Join(t.TempDir(), "calendar.db")
	for _, step := range []struct {
		mode fs.FileMode
		told bool
	}{{0o600, false}, {0o644, true}, {0o640, true}} {
		_ = os.Chmod(path, step.mode) // not there yet at first
		var log bytes.Buffer
		s, err := Open(t.Context(), "sqlite:"+path, db.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if told := strings.Contains(log.String(), "chmod 600"); told != step.told {
			t.Errorf("mode %v: the log says %q", step.mode, log.String())
		}
	}
}
