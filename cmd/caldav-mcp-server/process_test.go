package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"caldav-mcp-server/cmd/caldav-mcp-server/console"
	"caldav-mcp-server/cmd/caldav-mcp-server/settings"
	"caldav-mcp-server/internal/housetest"
	"caldav-mcp-server/internal/testdb"
)

// TestMain puts the program itself into PATH, as this test binary under another name, so that
// the tests run it as people do.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){console.Program: main})
}

// patience bounds every wait of these tests; nothing takes that long unless it is broken.
const patience = 2 * time.Minute

// running is a server in a process of its own.
type running struct {
	cmd    *exec.Cmd
	stdout output
	log    output
	// addrs are where the doors listen, by name.
	addrs map[string]string
	// ready and stopping are closed when the log says so, gone when the process has ended.
	ready, stopping, gone chan struct{}
	failure               error
}

// output is the output of a process so far.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// launch runs "serve" and waits until both doors listen, or the process has ended.
func launch(ctx context.Context, program string, env []string, args ...string) (*running, error) {
	r, err := begin(ctx, program, env, args...)
	if err != nil {
		return nil, err
	}
	return r, r.awaitReady()
}

// begin runs "serve" and waits for nothing.
func begin(ctx context.Context, program string, env []string, args ...string) (*running, error) {
	r := &running{
		cmd: exec.CommandContext(ctx, program, append([]string{"serve"}, args...)...), addrs: make(map[string]string),
		ready: make(chan struct{}), stopping: make(chan struct{}), gone: make(chan struct{}),
	}
	r.cmd.Env = append([]string{"CALDAV_PORT=0", "MCP_PORT=0", "LOG_FORMAT=json", "PATH=" + os.Getenv("PATH")}, env...)
	r.cmd.Stdout = &r.stdout
	log, err := r.cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := r.cmd.Start(); err != nil {
		return nil, err
	}
	go r.follow(log)
	return r, nil
}

func (r *running) awaitReady() error {
	select {
	case <-r.ready:
		return nil
	case <-r.gone:
		return fmt.Errorf("the server ended: %w\n%s", r.failure, r.log.String())
	case <-time.After(patience):
		return errors.Join(errors.New("the server does not listen"), r.cmd.Process.Kill())
	}
}

// follow reads the log to its end.
func (r *running) follow(log io.Reader) {
	defer close(r.gone)
	lines := bufio.NewScanner(log)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		_, _ = r.log.Write(append(lines.Bytes(), '\n'))
		var line struct{ Msg, Door, Addr string }
		if json.Unmarshal(lines.Bytes(), &line) != nil {
			continue
		}
		switch line.Msg {
		case "listening":
			r.addrs[line.Door] = line.Addr
		case "ready":
			close(r.ready)
		case "stopping":
			close(r.stopping)
		}
	}
	r.failure = r.cmd.Wait()
}

// interrupt asks the server to stop and waits until it has.
func (r *running) interrupt() error {
	if err := r.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	return r.wait()
}

// kill ends the server as a crash does.
func (r *running) kill() error {
	if err := r.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	_ = r.wait() // it says that it was killed
	return nil
}

func (r *running) wait() error {
	select {
	case <-r.gone:
		return r.failure
	case <-time.After(patience):
		return errors.Join(errors.New("the server does not stop"), r.cmd.Process.Kill())
	}
}

func (r *running) caldav(path string) string { return "http://" + r.addrs[caldavDoor] + path }
func (r *running) mcp() string               { return "http://" + r.addrs[mcpDoor] + settings.MCPPath }

var shownSecret = regexp.MustCompile(`(?m)^ +(password|token) +(\S+)$`)

// credentials are the password and token that the first start printed.
func (r *running) credentials() (password, token string) {
	found := make(map[string]string)
	for _, m := range shownSecret.FindAllStringSubmatch(r.stdout.String(), -1) {
		found[m[1]] = m[2]
	}
	return found["password"], found["token"]
}

// serve starts a server for a test, and stops it at the end.
func serve(t *testing.T, env []string) *running {
	t.Helper()
	return serveProgram(t, console.Program, env)
}

func serveProgram(t *testing.T, program string, env []string, args ...string) *running {
	t.Helper()
	r := serveUnready(t, program, env, args...)
	if err := r.awaitReady(); err != nil {
		t.Fatal(err)
	}
	return r
}

func serveUnready(t *testing.T, program string, env []string, args ...string) *running {
	t.Helper()
	r, err := begin(context.WithoutCancel(t.Context()), program, env, args...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		select {
		case <-r.gone:
			return
		default:
		}
		if err := r.interrupt(); err != nil {
			t.Errorf("the server ended badly: %v\n%s", err, r.log.String())
		}
	})
	return r
}

// each runs a test once per engine, on a database with all tables and no rows. On one without tables, a server takes
// three times as much time to start.
func each(t *testing.T, test func(t *testing.T, database string)) {
	t.Helper()
	testdb.Each(t, func(t *testing.T, database string) {
		identify(t, database)
		test(t, database)
	})
}

// sqlite returns the URL of such a database in a file.
func sqlite(t *testing.T) string {
	t.Helper()
	database := testdb.SQLite(t)
	identify(t, database)
	return database
}

// identify creates the tables, unless they are there, and the store's identity.
func identify(t *testing.T, database string) {
	t.Helper()
	if err := housetest.Open(t, database, housetest.At(time.Now())).Close(); err != nil {
		t.Fatal(err)
	}
}

// on is the environment that puts a server on a database.
func on(database string) []string { return []string{"DATABASE_URL=" + database} }

// call runs a command of the program to its end.
func call(t *testing.T, env []string, stdin string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), console.Program, args...)
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH")}, env...)
	cmd.Stdin = strings.NewReader(stdin)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s %s: %v\n%s", console.Program, strings.Join(args, " "), err, stderr.String())
	}
	return stdout.String()
}

// until asks again until the answer is yes.
func until(t *testing.T, what string, yes func() bool) {
	t.Helper()
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	deadline := time.After(patience)
	for !yes() {
		select {
		case <-ticker.C:
		case <-deadline:
			t.Fatalf("waited in vain: %s", what)
		}
	}
}
