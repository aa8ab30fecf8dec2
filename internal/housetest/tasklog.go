package housetest

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
)

// TaskLog records tasks: a line for each finished one, with its facts.
type TaskLog struct {
	mu    sync.Mutex
	lines []string
}

// Task is a [calendar.Task].
func (k *TaskLog) Task(ctx context.Context,
	name string,
) (within context.Context, end func(failed bool, facts ...slog.Attr)) {
	return ctx, func(failed bool, facts ...slog.Attr) {
		words := []string{name}
		for _, f := range facts {
			words = append(words, f.String())
		}
		if failed {
			words = append(words, "failed")
		}
		k.mu.Lock()
		defer k.mu.Unlock()
		k.lines = append(k.lines, strings.Join(words, " "))
	}
}

// Ended returns the lines since the last call, sorted.
func (k *TaskLog) Ended() []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	lines := k.lines
	k.lines = nil
	slices.Sort(lines)
	return lines
}
