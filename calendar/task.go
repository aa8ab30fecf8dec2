package calendar

import (
	"context"
	"log/slog"
	"time"
)

// Task reports the start of background work, such as a mail or a notification. It returns the context for the work,
// and a function to call at the end with the outcome. Names and facts are kinds, counts and states in the program's
// own words. Operators read them, so they must not contain user data or identify a user.
type Task func(ctx context.Context, name string) (within context.Context, end func(failed bool, facts ...slog.Attr))

// UntilNext returns the time until the next multiple of an interval. Loops that look for work at these moments wake a
// process at rest together, and not each on its own.
func UntilNext(now time.Time, every time.Duration) time.Duration {
	return now.Truncate(every).Add(every).Sub(now)
}

// OrNone returns t, or a Task that does nothing if t is nil.
func (t Task) OrNone() Task {
	if t != nil {
		return t
	}
	return func(ctx context.Context, _ string) (context.Context, func(bool, ...slog.Attr)) {
		return ctx, func(bool, ...slog.Attr) {}
	}
}
