package doctor

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestPrivate: a database that others can read is reported, unless its directory keeps them out.
func TestPrivate(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "calendar.db")
	for _, file := range []string{path, path + "-wal"} {
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		dir, wal os.FileMode
		want     string
	}{
		{0o755, 0o600, ""},
		{0o700, 0o666, ""},
		{0o755, 0o666, "chmod 600 " + path + "-wal: "},
	} {
		if err := os.Chmod(dir, test.dir); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path+"-wal", test.wal); err != nil {
			t.Fatal(err)
		}
		_, err := private(path)
		mend := ""
		if err != nil {
			_, mend = diagnose(err)
		}
		if (err != nil) != (test.want != "") || !strings.HasPrefix(mend, test.want) {
			t.Errorf("%o, %o: %v, %q", test.dir, test.wal, err, mend)
		}
	}
}

func TestApart(t *testing.T) {
	t.Parallel()
	before := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	after := before.Add(3 * time.Second)
	for _, test := range []struct{ theirs, want time.Duration }{
		{0, 0}, {2 * time.Second, 0}, {-time.Hour, -time.Hour}, {time.Hour, time.Hour - 3*time.Second},
	} {
		if got := apart(before.Add(test.theirs), before, after); got != test.want {
			t.Errorf("%s: %s, want %s", test.theirs, got, test.want)
		}
	}
}
