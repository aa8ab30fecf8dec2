package mcp

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// errPanic converts a panic to an error for the log, with a stack trace. A runtime error contains no user data. Any
// other value may contain some, so only its type is logged.
func errPanic(panicked any) error {
	what := fmt.Sprintf("%T", panicked)
	if err, ok := panicked.(runtime.Error); ok {
		what = err.Error()
	}
	return fmt.Errorf("panic: %s\n%s", what, debug.Stack())
}

// rescue, when deferred, converts a panic to an error.
func rescue(err *error) {
	if p := recover(); p != nil {
		*err = errPanic(p)
	}
}
