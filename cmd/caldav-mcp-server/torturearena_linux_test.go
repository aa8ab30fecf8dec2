package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"caldav-mcp-server/internal/pgtest"
	"caldav-mcp-server/internal/testdb"
)

// The calendars that are written to. Hostile requests go to the third, which no other writer uses.
const (
	home    = "/dav/calendars/admin/"
	hostile = "hostile"
)

var calendars = []string{"personal", "second"}

// arena is two servers on one database, which lies on a disk of its own where that can be had.
type arena struct {
	env     []string
	disk    string
	bounded bool              // whether the disk is one of its own
	db      *pgtest.Server    // nil on SQLite
	group   string            // a control group that bounds memory, empty where nobody may make one
	ids     map[string]string // of calendars, by their addresses
	ledger  *book
	shared  contended

	mu      sync.Mutex
	servers [2]client
	// logs are the logs of ended servers, without requests.
	logs strings.Builder
}

// newArena builds one on an engine.
func newArena(t *testing.T, engine string) *arena {
	t.Helper()
	h := &arena{
		ledger: newBook(), ids: map[string]string{},
		shared: contended{over: map[string]string{}, titles: map[string]bool{}},
	}
	if size, own := map[string]string{"sqlite": "48m", "postgres": "224m"}[engine]; own {
		h.disk, h.bounded = smallDisk(t, size)
	}
	database := "sqlite:" + filepath.Join(h.disk, "calendar.db")
	switch engine {
	case "postgres":
		h.db = postgresAt(t, h.disk)
		database = h.db.URL()
	case "given":
		database = testdb.Blank(t)
	}
	h.env = append(on(database), "MCP_CALLS_PER_MINUTE=1000000", "DB_MAX_CONNS=8")
	first := firstClient(t, serve(t, h.env))
	transport := &http.Transport{MaxIdleConnsPerHost: 64}
	t.Cleanup(transport.CloseIdleConnections)
	first.http = &http.Client{Transport: transport, Timeout: time.Minute}
	h.servers = [2]client{first, first.at(serve(t, h.env))}
	for _, name := range append([]string{hostile}, calendars...) {
		if name != "personal" {
			call(t, h.env, "", "create-calendar", "--user", "admin", "--name", name, "--address", name)
		}
	}
	var rows []struct{ ID, Address string }
	if err := json.Unmarshal([]byte(call(t, h.env, "", "list-calendars", "--user", "admin", "--json")), &rows); err !=
		nil {
		t.Fatal(err)
	}
	for _, cal := range rows {
		h.ids[cal.Address] = cal.ID
	}
	h.group = memoryGroup(t)
	return h
}

// smallDisk is a file system of its own in memory, which can be filled without harm to anybody else.
func smallDisk(t *testing.T, size string) (dir string, own bool) {
	t.Helper()
	//nolint:usetesting // what is above a directory of the test is closed to Postgres' user
	dir, err := os.MkdirTemp("", "torture-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "mode=1777,size="+size); err != nil {
		t.Logf("no disk will be full: to mount one, %v", err)
		return dir, false
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir, true
}

// postgresAt is a Postgres with its data below a directory.
func postgresAt(t *testing.T, dir string) *pgtest.Server {
	t.Helper()
	was, there := os.LookupEnv("TMPDIR")
	if err := os.Setenv("TMPDIR", dir); err != nil { //nolint:usetesting // for the making of one directory alone
		t.Fatal(err)
	}
	defer func() {
		if there {
			_ = os.Setenv("TMPDIR", was) //nolint:usetesting // see above
		} else {
			_ = os.Unsetenv("TMPDIR")
		}
	}()
	return ownPostgres(t, pgtest.Options{
		MaxConnections: 60,
		Settings:       map[string]string{"max_wal_size": "48MB", "min_wal_size": "32MB", "shared_buffers": "16MB"},
	})
}

// memoryGroup creates a control group below the test's, with a low memory limit for servers.
func memoryGroup(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		t.Fatal(err)
	}
	root, limit := "", ""
	for line := range strings.Lines(string(text)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		switch {
		case len(parts) == 3 && parts[1] == "memory":
			root, limit = "/sys/fs/cgroup/memory"+parts[2], "memory.limit_in_bytes"
		case len(parts) == 3 && parts[1] == "" && root == "":
			root, limit = "/sys/fs/cgroup"+parts[2], "memory.max"
		}
	}
	dir := filepath.Join(root, fmt.Sprint("torture-", os.Getpid()))
	if err = os.Mkdir(dir, 0o700); err == nil {
		t.Cleanup(func() {
			until(t, "the control group is empty", func() bool { return syscall.Rmdir(dir) == nil })
		})
		err = os.WriteFile(filepath.Join(dir, limit), []byte(fmt.Sprint(tightMemory)), 0)
	}
	if err != nil {
		t.Logf("memory is bounded by GOMEMLIMIT and RLIMIT_AS: to make a control group, %v", err)
		return ""
	}
	return dir
}

// anyServer is one of the servers, server the one with that number.
func (h *arena) anyServer(random *rand.Rand) client { return h.server(random.IntN(len(h.servers))) }

func (h *arena) server(n int) client {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.servers[n]
}

// logged counts the matches of a pattern in the servers' logs.
func (h *arena) logged(what string) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	pattern := regexp.MustCompile(what)
	n := len(pattern.FindAllString(h.logs.String(), -1))
	for _, c := range h.servers {
		n += len(pattern.FindAllString(c.running.log.String(), -1))
	}
	return n
}

// replace ends a server, as a crash does or with a signal, and starts another in its place after a while.
func (h *arena) replace(t *testing.T, n int, crash bool, after time.Duration, program string) {
	t.Helper()
	old := h.server(n)
	if crash {
		if err := old.kill(); err != nil {
			t.Fatal(err)
		}
	} else if err := old.interrupt(); err != nil {
		t.Errorf("the server ended badly: %v\n%s", err, lastLines(old))
	}
	_ = idle(t.Context(), after)
	r := serveProgram(t, program, h.env)
	h.mu.Lock()
	defer h.mu.Unlock()
	for line := range strings.Lines(old.running.log.String()) {
		if !strings.Contains(line, `"msg":"request"`) {
			h.logs.WriteString(line)
		}
	}
	h.servers[n] = old.at(r)
}

// awaitReady waits until all servers say that they are ready, by themselves.
func (h *arena) awaitReady(t *testing.T) {
	t.Helper()
	for n := range h.servers {
		until(t, "a server is ready again", func() bool {
			c := h.server(n)
			select {
			case <-c.gone:
				t.Fatalf("the server ended: %v\n%s", c.failure, lastLines(c))
			default:
			}
			a, err := c.send(t.Context(), http.MethodGet, c.caldav("/readyz"), "")
			return err == nil && a.status == http.StatusOK
		})
	}
}

// lastLines are the end of a server's log.
func lastLines(c client) string {
	lines := strings.SplitAfter(c.running.log.String(), "\n")
	return strings.Join(lines[max(0, len(lines)-15):], "")
}
