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
	// usualSlack is how late the system may wake a thread that waits for a time, in nanoseconds, unless somebody says otherwise.
	usualSlack = 50_000
	// timerSlack is how late it may where the store is Postgres. As long as anything goes on, the Go runtime looks every 20 µs and that
	// slack whether a thread is stuck in the system: a fifth of the work of a server that writes, and nothing is stuck there, as all waits
	// for the network. On SQLite threads wait for the disk, and others go on when the runtime has seen that.
	timerSlack = 1_000_000
)

// beginAnew gives all threads the timerSlack, where the server is one for that and nobody has set another. A thread has it from the one that
// began it, so that those which are there already get it by no other way than that the program begins anew, as the same process. Where
// it cannot, all goes on as it is.
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
		_ = syscall.Exec(file, args, environ) //nolint:gosec // the program itself, as it was called
	}
}

// servesFromPostgres tells whether this is to be a server with a database that has a URL. The settings are not read yet: what is in a file
// may be there to be read once.
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
