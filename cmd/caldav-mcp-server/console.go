package main

import (
	"fmt"
	"io"
	"os"
	"time"
)

// name is the name of the program.
const name = "caldav-mcp-server"

// console is the surroundings of a command: the streams, the environment, the clock and the source of ids.
type console struct {
	environ        []string
	stdin          *os.File
	stdout, stderr io.Writer
	version        string
	now            func() time.Time
	newID          func() string
	// database describes the open database for people.
	database string
}

// usageError is a mistake in the arguments or settings.
type usageError struct{ error }

// Unwrap returns the error that says what the mistake is.
func (e usageError) Unwrap() error { return e.error }

// wrongUsage returns a usageError.
func wrongUsage(format string, args ...any) error {
	return usageError{fmt.Errorf(format, args...)}
}

// say prints to standard error. Write errors are ignored.
func (c *console) say(format string, args ...any) {
	_, _ = fmt.Fprintf(c.stderr, format, args...)
}
