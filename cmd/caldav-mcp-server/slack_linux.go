package main

import (
	"os"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

const (
	// usualSlack is Linux's default timer slack in nanoseconds: the delay that is allowed for a timed wakeup.
	usualSlack = 50_000
	// timerSlack is the slack with Postgres. While the process is active, the Go runtime checks every 20 µs plus slack
	// whether a thread is stuck in a system call. That took a fifth of the work of a server that writes, although no
	// thread blocks: all of them wait for the network. With SQLite threads block on the disk, and the runtime must
	// notice that.
	timerSlack = 1_000_000
)

// beginAnew sets timerSlack for all threads of a server on Postgres, unless another slack was set. A thread inherits
// the slack of its creator. Therefore the only way to reach existing threads is to execute the program again in the
// same process. If that fails, the server continues with the default.
func beginAnew(args, environ []string) {
	if !servesFromPostgres(args, environ) {
		return
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if set, err := unix.PrctlRetInt(unix.PR_GET_TIMERSLACK, 0, 0, 0, 0); err != nil || set != usualSlack {
		return
	}
	file, err := os.Executable()
	if err == nil && unix.Prctl(unix.PR_SET_TIMERSLACK, timerSlack, 0, 0, 0) == nil {
		_ = syscall.Exec(file, args, environ) //nolint:gosec // the program itself, with the same arguments
	}
}

// servesFromPostgres reports whether the command is serve with a database URL. The settings are not parsed yet: a
// secret file might be readable only once.
func servesFromPostgres(args, environ []string) bool {
	if len(args) < 2 || args[1] != "serve" {
		return false
	}
	flagged := slices.ContainsFunc(args[2:], func(arg string) bool {
		return strings.HasPrefix(strings.TrimLeft(arg, "-"), "database-url")
	})
	return flagged || slices.ContainsFunc(environ, func(set string) bool {
		name, value, _ := strings.Cut(set, "=")
		return (name == "DATABASE_URL" || name == "DATABASE_URL_FILE") && value != ""
	})
}
