//go:build unix

package main

import (
	"strings"
	"syscall"
	"testing"

	"caldav-mcp-server/cmd/caldav-mcp-server/console"
)

// TestLogLevelSignals: the log shows health checks after SIGUSR1, and no more after SIGUSR2.
func TestLogLevelSignals(t *testing.T) {
	t.Parallel()
	r := serveProgram(t, console.Program, []string{"DATA_DIR=" + t.TempDir()}, "--no-first-user")
	for _, step := range []struct {
		signal syscall.Signal
		level  string
	}{
		{syscall.SIGUSR1, "DEBUG"}, {syscall.SIGUSR1, "DEBUG"}, {syscall.SIGUSR2, "INFO"}, {syscall.SIGUSR2, "WARN"},
	} {
		before := strings.Count(r.log.String(), `"log level changed"`)
		if err := r.cmd.Process.Signal(step.signal); err != nil {
			t.Fatal(err)
		}
		until(t, "the level changes", func() bool {
			log := r.log.String()
			last := log[max(0, strings.LastIndex(log, `"log level changed"`)):]
			return strings.Count(log, `"log level changed"`) > before && strings.Contains(last, `"to":"`+step.level+`"`)
		})
	}
}
