package calendar

import (
	"context"
	"log/slog"
)

// Task is told of something that the server does by itself: a visit, a mail, a message. It returns what to do that within, and what
// to call with whether it came to nothing. Its name and its facts are kinds, counts and states, in words of the program's own: an operator
// reads them, and nothing of them may be what somebody wrote, or tell who it was.
type Task func(ctx context.Context, name string) (within context.Context, end func(failed bool, facts ...slog.Attr))

// OrNone is the task, or one that does nothing where there is none.
func (t Task) OrNone() Task {
	if t != nil {
		return t
	}
	return func(ctx context.Context, _ string) (context.Context, func(bool, ...slog.Attr)) {
		return ctx, func(bool, ...slog.Attr) {}
	}
}
