package main

import (
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"

	"caldav-mcp-server/cmd/caldav-mcp-server/console"
)

// TestSockets starts the server as systemd does with two sockets, which it opened before.
func TestSockets(t *testing.T) {
	t.Parallel()
	var files []*os.File
	var addrs []string
	for range 2 {
		l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		f, err := l.(*net.TCPListener).File()
		if err != nil {
			t.Fatal(err)
		}
		files, addrs = append(files, f), append(addrs, l.Addr().String())
		_ = l.Close()
	}
	start := func(names string) (*exec.Cmd, *output) {
		// The shell's process becomes the server's, so that its id is known.
		c := exec.CommandContext(t.Context(), "sh", "-c",
			"LISTEN_PID=$$ exec "+console.Program+" serve --no-first-user")
		c.Env = []string{
			"PATH=" + os.Getenv("PATH"), "DATA_DIR=" + t.TempDir(), "LISTEN_FDS=2", "LISTEN_FDNAMES=" + names,
			"CALDAV_PORT=1", "MCP_PORT=1", // it must not listen there
		}
		log := &output{}
		c.ExtraFiles, c.Stderr = files, log
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		return c, log
	}
	c, log := start("caldav:web")
	if err := c.Wait(); err == nil || !strings.Contains(log.String(), "FileDescriptorName= must be caldav or mcp") {
		t.Errorf("another name: %v, %s", err, log.String())
	}
	c, log = start("caldav:mcp")
	// A connection before the server is ready waits in the socket.
	for _, addr := range addrs {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+addr+"/healthz", nil)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatalf("%v\n%s", err, log.String())
		}
		_ = answer.Body.Close()
		if answer.StatusCode != http.StatusOK {
			t.Errorf("%s: %s", addr, answer.Status)
		}
	}
	until(t, "the server is ready", func() bool { return strings.Contains(log.String(), "msg=ready") })
	if err := c.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := c.Wait(); err != nil {
		t.Errorf("%v\n%s", err, log.String())
	}
}
