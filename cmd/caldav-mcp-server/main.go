// Command caldav-mcp-server serves calendars to CalDAV clients and to assistants that speak MCP.
//
// It only wires the packages of this module together. Its exit code is 0 on success, 1 if the command failed, and 2 if
// it was called wrongly.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"
	_ "time/tzdata" // time zones must not depend on the machine

	"github.com/google/uuid"

	"caldav-mcp-server/cmd/caldav-mcp-server/console"
)

// release is the version, and is raised at each release.
const release = "0.2.0-dev"

// commit is set by the linker.
var commit string

// version returns the release with the commit that the program was built from, if that is known.
func version() string {
	if commit == "" {
		return release
	}
	return release + "+" + commit
}

func main() {
	os.Exit(realMain())
}

func realMain() exitCode {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// A second signal ends the program at once, because the first one unregistered the handler.
	context.AfterFunc(ctx, stop)
	p := &program{&console.Console{
		Environ: os.Environ(), Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		Version: version(), Now: time.Now, NewID: uuid.NewString,
	}}
	return p.run(ctx, os.Args[1:])
}
