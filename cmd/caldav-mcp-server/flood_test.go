package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"caldav-mcp-server/cmd/caldav-mcp-server/console"
	"caldav-mcp-server/internal/slowtest"
)

// The size of a flood, and the limits for its effects.
const (
	floodRate    = 200 // wrong passwords a second
	floodFor     = 10 * time.Second
	floodMemory  = 300 << 20
	loginPromise = time.Second
)

// Two hundred wrong passwords a second eat neither the memory nor the time of who logs in rightly.
// The promise is one of time and memory, so this test measures both, on the program as it is
// built for use, and beside no other.
func TestFloodOfWrongPasswords(t *testing.T) {
	slowtest.Skip(t, slowtest.Flood, "floods a server for ten seconds, twice")
	program := build(t)
	tests := map[string]struct {
		target func(i int) string
		// known says whether the right ones have logged in before the flood. An address that tries
		// many accounts is slowed down as a whole, except for who is known.
		known bool
	}{
		"one account":   {func(int) string { return "ann" }, false},
		"many accounts": {func(i int) string { return fmt.Sprintf("nobody%d", i) }, true},
	}
	for what, test := range tests {
		t.Run(what, func(t *testing.T) { testFlood(t, program, test.target, test.known) })
	}
}

func testFlood(t *testing.T, program string, target func(int) string, known bool) {
	database := sqlite(t)
	users := []string{"bob", "carl", "dora"}
	for _, user := range append(users, "ann") {
		call(t, on(database), "correct horse\n", "create-user", user, "--password-stdin")
	}
	r := serveProgram(t, program, on(database), "--no-first-user")
	if known {
		for _, user := range users {
			logIn(t, r, user)
		}
	}
	flooded := make(chan *flood, 1)
	go func() { flooded <- floodServer(t.Context(), newClient(t, r, "", "", ""), target) }()
	for _, user := range users {
		pause := time.NewTimer(floodFor / 4)
		<-pause.C
		if took := logIn(t, r, user); took > loginPromise {
			t.Errorf("the login of %s took %s", user, took)
		}
	}
	f := <-flooded
	t.Logf("the flood was answered with %v", f.statuses)
	if f.let > 0 {
		t.Errorf("%d wrong passwords were let in", f.let)
	}
	if f.statuses[http.StatusTooManyRequests] == 0 {
		t.Error("nothing slowed the flood down, so this test has shown nothing")
	}
	if peak := peakMemory(t, r); peak > floodMemory {
		t.Errorf("the server took %d MiB", peak>>20)
	}
}

// logIn asks for something on a new connection and returns how long that took.
func logIn(t *testing.T, r *running, user string) time.Duration {
	t.Helper()
	c := newClient(t, r, user, "correct horse", "")
	begin := time.Now()
	c.must(t, http.StatusMultiStatus, "PROPFIND", "/dav/calendars/"+user+"/", "", "Depth", "0")
	took := time.Since(begin)
	t.Logf("%s logged in within %s", user, took)
	return took
}

// flood is the outcome of a flood.
type flood struct {
	mu       sync.Mutex
	statuses map[int]int
	let      int
}

// floodServer sends wrong passwords at a steady rate, regardless of the responses.
func floodServer(ctx context.Context, c client, target func(int) string) *flood {
	result := &flood{statuses: map[int]int{}}
	ticker := time.NewTicker(time.Second / floodRate)
	defer ticker.Stop()
	var all sync.WaitGroup
	for i := range int(floodFor.Seconds()) * floodRate {
		<-ticker.C
		all.Go(func() {
			guess := c
			guess.user, guess.pass = target(i), "guess number "+strconv.Itoa(i)
			a, err := guess.dav(ctx, "PROPFIND", "/dav/", "", "Depth", "0")
			result.mu.Lock()
			defer result.mu.Unlock()
			if err == nil {
				result.statuses[a.status]++
			}
			if err == nil && a.status < 300 {
				result.let++
			}
		})
	}
	all.Wait()
	return result
}

// build builds the program as users get it: without the race detector and other test instrumentation.
func build(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), console.Program)
	cmd := exec.CommandContext(t.Context(), "go", "build", "-o", program, ".")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("building: %v\n%s", err, out)
	}
	return program
}

// peakMemory is the most that the process ever held, by the kernel's account.
func peakMemory(t *testing.T, r *running) int {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Log("only Linux tells how much memory a process took")
		return 0
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", r.cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		if fields := strings.Fields(line); len(fields) == 3 && fields[0] == "VmHWM:" {
			kib, err := strconv.Atoi(fields[1])
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("the server took %d MiB", kib>>10)
			return kib << 10
		}
	}
	t.Fatal("the kernel tells no peak")
	return 0
}

// signIns is how many wrong sign-ins come in one moment.
const signIns = 1000

// A thousand wrong sign-ins at one moment leave the pages and the other listeners as fast as before, and the memory
// within the limit for a flood.
func TestFloodOfSignIns(t *testing.T) {
	slowtest.Skip(t, slowtest.Flood, "sends a thousand sign-ins at once")
	database := sqlite(t)
	for _, user := range []string{"ann", "bob"} {
		call(t, on(database), "correct horse\n", "create-user", user, "--password-stdin")
	}
	r := serveProgram(t, build(t), on(database), "--no-first-user")
	logIn(t, r, "bob")
	var made struct{ Token string }
	if err := json.Unmarshal(
		[]byte(call(t, on(database), "", "create-token", "--user", "bob", "--name", "assistant", "--json")), &made,
	); err != nil {
		t.Fatal(err)
	}
	assistant := newClient(t, r, "", "", made.Token)
	stranger := newClient(t, r, "", "", "")
	var all sync.WaitGroup
	var mu sync.Mutex
	statuses := map[int]int{}
	begin := make(chan struct{})
	for i := range signIns {
		all.Go(func() {
			<-begin
			form := url.Values{"name": {fmt.Sprint("user", i%100)}, "password": {fmt.Sprint("guess number ", i)}}
			a, err := stranger.send(t.Context(), http.MethodPost, stranger.caldav("/account/sign-in"), form.Encode(),
				"Content-Type", "application/x-www-form-urlencoded", "Sec-Fetch-Site", "same-origin")
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				statuses[a.status]++
			}
		})
	}
	close(begin)
	for range 5 {
		if took := logIn(t, r, "bob"); took > loginPromise {
			t.Errorf("a program's login took %s", took)
		}
		asked := time.Now()
		if a, err := stranger.send(t.Context(), http.MethodGet, stranger.caldav("/account/sign-in"), ""); err != nil ||
			a.status != http.StatusOK {
			t.Errorf("the page was answered %d, %v", a.status, err)
		}
		if took := time.Since(asked); took > loginPromise {
			t.Errorf("the page took %s", took)
		}
		asked = time.Now()
		assistant.call(t, "list_calendars", map[string]any{})
		if took := time.Since(asked); took > loginPromise {
			t.Errorf("an assistant's call took %s", took)
		}
	}
	all.Wait()
	t.Logf("answered with %v", statuses)
	if statuses[http.StatusTooManyRequests] == 0 ||
		statuses[http.StatusSeeOther]+statuses[http.StatusOK]+statuses[http.StatusInternalServerError] > 0 {
		t.Errorf("answered with %v", statuses)
	}
	if peak := peakMemory(t, r); peak > floodMemory {
		t.Errorf("the server took %d MiB", peak>>20)
	}
}
