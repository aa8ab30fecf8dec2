// Command withpg runs a command with TEST_DATABASE_URL set to a throw-away Postgres:
//
//	go run ./internal/pgtest/withpg -- go test ./...
//
// With -refuse before the command, the database has no LISTEN, advisory locks and timelines: see package refuse.
//
// If TEST_DATABASE_URL is set already, that server is used. If there is no Postgres at all, the command runs without
// one and its tests skip that half, unless CI is set: then withpg fails.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	"caldav-mcp-server/internal/pgtest"
	"caldav-mcp-server/internal/pgtest/refuse"
)

// Exit codes of withpg itself; any other is the command's.
const (
	exitUsage   = 2
	exitFailure = 1
)

// grace is how long the command may take to end after an interrupt.
const grace = 20 * time.Second

func main() {
	arguments := os.Args[1:]
	refusing := len(arguments) > 0 && arguments[0] == "-refuse"
	if refusing {
		arguments = arguments[1:]
	}
	if len(arguments) > 0 && arguments[0] == "--" {
		arguments = arguments[1:]
	}
	if len(arguments) == 0 {
		fmt.Fprintln(os.Stderr, "usage: withpg [-refuse] [--] COMMAND [ARGUMENT…]")
		os.Exit(exitUsage)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	work := execute
	if refusing {
		work = refused
	}
	code, err := run(ctx, arguments, pgtest.Start, work)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "withpg:", err)
		code = max(code, exitFailure)
	}
	os.Exit(code)
}

// starter is pgtest.Start, or a substitute that behaves like a machine without Postgres.
type starter func(context.Context, pgtest.Options) (*pgtest.Server, error)

// worker executes a command, with the URL of a Postgres or without one.
type worker func(ctx context.Context, arguments []string, server string) (code int, err error)

// run executes the command with a running Postgres and returns its exit code.
func run(ctx context.Context, arguments []string, start starter, work worker) (code int, err error) {
	if given := os.Getenv(pgtest.EnvURL); given != "" {
		return work(ctx, arguments, given)
	}
	server, err := start(ctx, pgtest.Options{})
	switch {
	case errors.Is(err, pgtest.ErrNoPostgres) && !pgtest.Required():
		fmt.Fprintf(os.Stderr, "withpg: WARNING: tests on Postgres are skipped: %v\n", err)
		return execute(ctx, arguments, "")
	case err != nil:
		return exitFailure, err
	}
	defer func() { err = errors.Join(err, server.Stop()) }()
	return work(ctx, arguments, server.URL())
}

// refused executes the command with a database on the server that refuses features.
func refused(ctx context.Context, arguments []string, server string) (code int, err error) {
	database, err := refuse.On(ctx, server)
	if err != nil {
		return exitFailure, err
	}
	defer func() { err = errors.Join(err, database.Drop(context.WithoutCancel(ctx))) }()
	return execute(ctx, arguments, database.URL)
}

// execute runs the command with the server's URL in its environment. An interrupt is passed on, so that the command can
// clean up.
func execute(ctx context.Context, arguments []string, server string) (int, error) {
	//nolint:gosec // G204: running a given command is its purpose
	cmd := exec.CommandContext(ctx, arguments[0], arguments[1:]...)
	cmd.Env = append(os.Environ(), pgtest.EnvURL+"="+server)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = grace
	err := cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.Exited() {
		return exit.ExitCode(), nil
	}
	if err != nil {
		return exitFailure, err
	}
	return 0, nil
}
