// Package console holds the surroundings of a command: what it prints for people and programs, and what it asks.
//
// It knows no settings and no store.
package console

import (
	"fmt"
	"io"
	"os"
	"time"
)

// Program is the name of the program.
const Program = "caldav-mcp-server"

// Console is the surroundings of a command: the streams, the environment, the clock and the source of ids.
type Console struct {
	Environ        []string
	Stdin          *os.File
	Stdout, Stderr io.Writer
	Version        string
	Now            func() time.Time
	NewID          func() string
	// Database describes the open database for people.
	Database string
}

// UsageError is a mistake in the arguments or settings.
type UsageError struct{ Err error }

// Unwrap returns the error that says what the mistake is.
func (e UsageError) Unwrap() error { return e.Err }

// Error returns the text of that error.
func (e UsageError) Error() string { return e.Err.Error() }

// WrongUsage returns a UsageError.
func WrongUsage(format string, args ...any) error {
	return UsageError{fmt.Errorf(format, args...)}
}

// Say prints to standard error. Write errors are ignored.
func (c *Console) Say(format string, args ...any) {
	_, _ = fmt.Fprintf(c.Stderr, format, args...)
}
