package main

import (
	"context"
	"errors"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"caldav-mcp-server/internal/pgtest"
)

// shell is a command for run; it is skipped where there is no shell to run it.
func shell(t *testing.T, script string) []string {
	t.Helper()
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip(err)
	}
	return []string{"sh", "-c", script}
}

// nowhere is a machine without Postgres.
func nowhere(context.Context, pgtest.Options) (*pgtest.Server, error) {
	return nil, pgtest.ErrNoPostgres
}

func TestRunUsesTheServerItIsGiven(t *testing.T) {
	t.Setenv(pgtest.EnvURL, "postgres://given")
	start := func(context.Context, pgtest.Options) (*pgtest.Server, error) {
		t.Error("a server was started beside the one given")
		return nil, pgtest.ErrNoPostgres
	}
	code, err := run(t.Context(), shell(t, `test "$TEST_DATABASE_URL" = postgres://given && exit 3`), start, execute)
	if code != 3 || err != nil {
		t.Errorf("exit code %d, %v; want the command's, 3", code, err)
	}
}

func TestRunWithoutPostgres(t *testing.T) {
	t.Setenv(pgtest.EnvURL, "")
	t.Setenv("CI", "")
	code, err := run(t.Context(), shell(t, `test -z "$TEST_DATABASE_URL" && exit 3`), nowhere, execute)
	if code != 3 || err != nil {
		t.Errorf("exit code %d, %v; want the command's, 3", code, err)
	}
}

func TestRunWithoutPostgresFailsInCI(t *testing.T) {
	t.Setenv(pgtest.EnvURL, "")
	t.Setenv("CI", "true")
	ran := filepath.Join(t.TempDir(), "ran")
	code, err := run(t.Context(), shell(t, "touch "+ran), nowhere, execute)
	if code == 0 || !errors.Is(err, pgtest.ErrNoPostgres) {
		t.Errorf("exit code %d, %v; want a failure that says what to install", code, err)
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("the command ran")
	}
}

func TestRunLendsAServerAndStopsIt(t *testing.T) {
	t.Setenv(pgtest.EnvURL, "")
	seen := filepath.Join(t.TempDir(), "url")
	code, err := run(t.Context(), shell(t, `printf %s "$TEST_DATABASE_URL" >`+seen), pgtest.Start, execute)
	if errors.Is(err, pgtest.ErrNoPostgres) && !pgtest.Required() {
		t.Skip(err)
	}
	if code != 0 || err != nil {
		t.Fatalf("exit code %d, %v", code, err)
	}
	lent, err := os.ReadFile(seen)
	if err != nil {
		t.Fatal(err)
	}
	address, err := url.Parse(string(lent))
	if err != nil || address.Scheme != "postgres" {
		t.Fatalf("the command saw the URL %q", lent)
	}
	if connection, err := new(net.Dialer).DialContext(t.Context(), "tcp", address.Host); err == nil {
		connection.Close()
		t.Error("the server still listens")
	}
}

func TestRunReportsAMissingCommand(t *testing.T) {
	t.Setenv(pgtest.EnvURL, "postgres://given")
	code, err := run(t.Context(), []string{filepath.Join(t.TempDir(), "no-such-command")}, nowhere, execute)
	if code == 0 || err == nil {
		t.Errorf("exit code %d, %v; want a failure", code, err)
	}
}

// An interrupt reaches the command, which may tidy up and choose its exit code.
func TestRunPassesTheInterruptOn(t *testing.T) {
	t.Setenv(pgtest.EnvURL, "postgres://given")
	ready := filepath.Join(t.TempDir(), "ready")
	command := shell(t, `trap "exit 7" INT; echo go >`+ready+`; while :; do read -r line <`+ready+`; done`)
	if err := exec.CommandContext(t.Context(), "mkfifo", ready).Run(); err != nil {
		t.Skip(err)
	}
	ctx, interrupt := context.WithCancel(t.Context())
	go func() {
		_, _ = os.ReadFile(ready) // returns when the command has set its trap
		interrupt()
	}()
	if code, err := run(ctx, command, nowhere, execute); code != 7 {
		t.Errorf("exit code %d, %v; want the command's, 7", code, err)
	}
}
