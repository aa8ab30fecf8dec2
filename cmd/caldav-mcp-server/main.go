// Command caldav-mcp-server serves calendars to CalDAV clients and to assistants that speak MCP.
//
// It wires the packages of this module together and decides nothing itself. Its exit code is 0 when
// all went well, 1 when the command could not do its work, and 2 when it was called wrongly.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"
	_ "time/tzdata" // zones must not depend on what the machine has

	"github.com/google/uuid"
)

// version is set by the linker.
var version = "devel"

func main() {
	os.Exit(realMain())
}

func realMain() exitCode {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// A second signal ends the program at once: the first one's handler is gone by then.
	context.AfterFunc(ctx, stop)
	p := &program{
		environ: os.Environ(), stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr,
		version: version, now: time.Now, newID: uuid.NewString,
	}
	return p.run(ctx, os.Args[1:])
}
