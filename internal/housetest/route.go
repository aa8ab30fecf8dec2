package housetest

import (
	"context"
	"runtime"
	"slices"
	"strings"
	"sync"

	"caldav-mcp-server/calendar"
)

// Route is a store that records which files of the program are on the call stack when an object is written.
type Route struct {
	calendar.Store
	mu    sync.Mutex
	files []string
}

// Update implements [calendar.Store].
func (r *Route) Update(ctx context.Context, do func(calendar.Tx) error) error {
	return r.Store.Update(ctx, func(tx calendar.Tx) error { return do(routed{tx, r}) })
}

// Files returns the files of the latest write, the innermost first.
func (r *Route) Files() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.files
}

type routed struct {
	calendar.Tx
	route *Route
}

// PutObject implements [calendar.Tx].
func (r routed) PutObject(ctx context.Context, o calendar.Object) error {
	r.route.mu.Lock()
	r.route.files = onTheStack()
	r.route.mu.Unlock()
	return r.Tx.PutObject(ctx, o)
}

// onTheStack returns the program's files on the call stack, except test files.
func onTheStack() []string {
	callers := make([]uintptr, 200)
	frames := runtime.CallersFrames(callers[:runtime.Callers(2, callers)])
	var files []string
	for {
		frame, more := frames.Next()
		at := strings.LastIndex(frame.File, "caldav-mcp-server/")
		if strings.HasPrefix(frame.Function, "caldav-mcp-server/") && !strings.HasSuffix(frame.File, "_test.go") &&
			!strings.Contains(frame.File, "/housetest/") {
			file := frame.File[max(at, 0):]
			if !slices.Contains(files, file) {
				files = append(files, file)
			}
		}
		if !more {
			return files
		}
	}
}
