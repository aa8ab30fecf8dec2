package mcp

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// errPanic is a panic as an error, for the log: where it was, and what it was. The runtime's own words say
// nothing of anybody's calendar; any other value may hold a piece of it, so that its type has to do.
func errPanic(panicked any) error {
	what := fmt.Sprintf("%T", panicked)
	if err, ok := panicked.(runtime.Error); ok {
		what = err.Error()
	}
	return fmt.Errorf("panic: %s\n%s", what, debug.Stack())
}

// rescue, where it is deferred, makes a panic the error.
func rescue(err *error) {
	if p := recover(); p != nil {
		*err = errPanic(p)
	}
}
