// Package console prints tables, JSON and progress, and asks for passwords and confirmations. It knows no settings and
// no store.
package console

import (
	"fmt"
	"io"
	"os"
	"time"
)

// Program is the name of the program.
const Program = "caldav-mcp-server"

// Console holds the streams, the environment, the clock and the source of ids of the program.
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

// Unwrap returns the description of the mistake.
func (e UsageError) Unwrap() error { return e.Err }

// Error returns the text of the mistake.
func (e UsageError) Error() string { return e.Err.Error() }

// WrongUsage returns a UsageError.
func WrongUsage(format string, args ...any) error {
	return UsageError{fmt.Errorf(format, args...)}
}

// Say prints to standard error. Write errors are ignored.
func (c *Console) Say(format string, args ...any) {
	_, _ = fmt.Fprintf(c.Stderr, format, args...)
}
