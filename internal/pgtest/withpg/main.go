// Command withpg runs a command with TEST_DATABASE_URL set to a throw-away Postgres:
//
//	go run ./internal/pgtest/withpg -- go test ./...
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
	if len(arguments) > 0 && arguments[0] == "--" {
		arguments = arguments[1:]
	}
	if len(arguments) == 0 {
		fmt.Fprintln(os.Stderr, "usage: withpg [--] COMMAND [ARGUMENT…]")
		os.Exit(exitUsage)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code, err := run(ctx, arguments, pgtest.Start)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "withpg:", err)
		code = max(code, exitFailure)
	}
	os.Exit(code)
}

// starter is pgtest.Start, or a substitute that behaves like a machine without Postgres.
type starter func(context.Context, pgtest.Options) (*pgtest.Server, error)

// run executes the command with a running Postgres and returns its exit code.
func run(ctx context.Context, arguments []string, start starter) (code int, err error) {
	if os.Getenv(pgtest.EnvURL) != "" {
		return execute(ctx, arguments, nil)
	}
	server, err := start(ctx, pgtest.Options{})
	switch {
	case errors.Is(err, pgtest.ErrNoPostgres) && !pgtest.Required():
		fmt.Fprintf(os.Stderr, "withpg: WARNING: tests on Postgres are skipped: %v\n", err)
		return execute(ctx, arguments, nil)
	case err != nil:
		return exitFailure, err
	}
	defer func() { err = errors.Join(err, server.Stop()) }()
	return execute(ctx, arguments, []string{pgtest.EnvURL + "=" + server.URL()})
}

// execute runs the command with additional environment variables. An interrupt is passed on, so that the command can
// clean up.
func execute(ctx context.Context, arguments, environment []string) (int, error) {
	//nolint:gosec // G204: running a given command is its purpose
	cmd := exec.CommandContext(ctx, arguments[0], arguments[1:]...)
	cmd.Env = append(os.Environ(), environment...)
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
