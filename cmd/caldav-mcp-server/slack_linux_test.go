package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"caldav-mcp-server/internal/testdb"
)

// TestServesFromPostgres: whatever names a database with a URL counts, for the server alone.
func TestServesFromPostgres(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args, environ string
		want          bool
	}{
		{"it serve", "DATABASE_URL=postgres://somewhere", true},
		{"it serve", "PATH=/bin DATABASE_URL_FILE=/run/secrets/url", true},
		{"it serve --database-url postgres://somewhere", "", true},
		{"it serve -database-url=postgres://somewhere", "", true},
		{"it serve --no-first-user --database-url-file=/dev/fd/3", "PATH=/bin", true},
		{"it serve", "PATH=/bin DATA_DIR=/var/lib/it", false},
		{"it serve", "DATABASE_URL= DATABASE_READ_URL=postgres://second", false},
		{"it doctor", "DATABASE_URL=postgres://somewhere", false},
		{"it", "DATABASE_URL=postgres://somewhere", false},
	} {
		if got := servesFromPostgres(strings.Fields(c.args), strings.Fields(c.environ)); got != c.want {
			t.Errorf("%s, %s: %v", c.args, c.environ, got)
		}
	}
}

// TestTimersAreCoarseOnPostgres: all threads of a server have the slack, which goes on under its number and its name; on SQLite none has.
func TestTimersAreCoarseOnPostgres(t *testing.T) {
	t.Parallel()
	usual, err := unix.PrctlRetInt(unix.PR_GET_TIMERSLACK, 0, 0, 0, 0)
	if err != nil || usual != usualSlack {
		t.Skipf("here timers have a slack of %d ns: %v", usual, err)
	}
	for _, c := range []struct{ what, environ, want string }{
		{"Postgres", "DATABASE_URL=" + testdb.Blank(t), fmt.Sprint(timerSlack)},
		{"SQLite", "DATA_DIR=" + t.TempDir(), fmt.Sprint(usualSlack)},
	} {
		r := serve(t, []string{c.environ})
		threads, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", r.cmd.Process.Pid))
		if err != nil || len(threads) < 3 {
			t.Fatal(threads, err)
		}
		for _, thread := range threads {
			set, err := os.ReadFile("/proc/" + thread.Name() + "/timerslack_ns")
			if errors.Is(err, fs.ErrPermission) {
				t.Skip(err)
			}
			if errors.Is(err, fs.ErrNotExist) {
				continue // it has ended
			}
			if got := strings.TrimSpace(string(set)); err != nil || got != c.want {
				t.Errorf("%s: the thread %s has a slack of %s ns, want %s: %v", c.what, thread.Name(), got, c.want, err)
			}
		}
		if comm, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", r.cmd.Process.Pid)); err != nil || !strings.HasPrefix(name, strings.TrimSpace(string(comm))) {
			t.Errorf("it is called %s: %v", comm, err)
		}
	}
}
