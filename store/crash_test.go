package store_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/internal/slowtest"
	"caldav-mcp-server/internal/testdb"
	"caldav-mcp-server/store"
)

const (
	// envCrash turns the test binary into the process to kill, on this database.
	envCrash = "STORE_TEST_CRASH_URL"
	// envRound distinguishes the rounds.
	envRound = "STORE_TEST_CRASH_ROUND"
	// crashWriters write at the same time.
	crashWriters = 4
)

// TestCrash kills a writing process again and again: acknowledged writes are stored, versions have no gap, and
// a sync from before the crash returns exactly the changes.
func TestCrash(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		prepare(t, open(t, url, store.Options{}))
		for round := range slowtest.Rounds(t, slowtest.Crash, 2, 8) {
			before := version(t, open(t, url, store.Options{}))
			// Each round dies at another place of a stream of writes.
			written := killWhileWriting(t, url, round, 5+7*round)
			survives(t, open(t, url, store.Options{}), before, written)
		}
	})
}

// killWhileWriting starts a process that writes, kills it after so many acknowledged writes, and returns all
// acknowledged ones.
func killWhileWriting(t *testing.T, url string, round, enough int) map[string]calendar.Version {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env = append(os.Environ(), envCrash+"="+url, fmt.Sprintf("%s=%d", envRound, round))
	cmd.Stderr = os.Stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	written := map[string]calendar.Version{}
	for lines := bufio.NewScanner(stdout); lines.Scan(); {
		var name string
		var v calendar.Version
		if n, _ := fmt.Sscan(lines.Text(), &name, &v); n != 2 {
			continue // the last words of the dead
		}
		written[name] = v
		if len(written) == enough {
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	_ = cmd.Wait() // it was killed
	if len(written) < enough {
		t.Fatalf("the process ended after %d writes", len(written))
	}
	return written
}

// survives checks what is in the store against what was acknowledged since a version.
func survives(t *testing.T, s *store.Store, before calendar.Version, written map[string]calendar.Version) {
	t.Helper()
	now := changed(t, s, before)
	for name, v := range written {
		if now[name] != v {
			t.Errorf("%s was acknowledged at version %d and is there at %d", name, v, now[name])
		}
	}
	if extra := len(now) - len(written); extra > crashWriters {
		t.Errorf("%d writes are there that nobody was told of; only %d were under way", extra, crashWriters)
	}
	// Each write created an object, so there are as many objects as versions.
	if after := version(t, s); int(after-before) != len(now) {
		t.Errorf("the version went from %d to %d with %d changes", before, after, len(now))
	}
	for name := range now {
		if o, err := s.Object(t.Context(), theCalendar, calendar.ObjectName(name)); err != nil ||
			string(o.Data) != name {
			t.Errorf("%s is torn: %q, %v", name, o.Data, err)
		}
	}
}

// writeUntilKilled is the process: it prints each write after the commit. It ends by itself only on a failure.
func writeUntilKilled(url string) {
	ctx := context.Background()
	s, err := store.Open(ctx, url, store.Options{})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	var all sync.WaitGroup
	for w := range crashWriters {
		all.Go(func() { writeAll(ctx, s, fmt.Sprintf("%s-%d", os.Getenv(envRound), w)) })
	}
	all.Wait()
}

// writeAll writes without end, unless writing fails.
func writeAll(ctx context.Context, s *store.Store, prefix string) {
	for i := 0; ; i++ {
		name := fmt.Sprintf("%s-%d", prefix, i)
		v, err := put(ctx, s, name)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return
		}
		if _, err := io.WriteString(os.Stdout, fmt.Sprintf("%s %d\n", name, v)); err != nil {
			return
		}
	}
}
