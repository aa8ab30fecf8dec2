package store

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"caldav-mcp-server/calendar"
)

// trouble tells the log why the database did not do what it was asked: who asked hears that it is away, and the line of their
// request has a status.
type trouble struct {
	log *slog.Logger
	now func() time.Time

	mu   sync.Mutex
	told [len(faults)]struct {
		at   time.Time
		more int
	}
	damaged map[calendar.ChangeID]bool
}

// troubles are the faults that whoever runs the server can do something about. The others are those of a request.
var troubles = [len(faults)]slog.Level{
	faultCut: slog.LevelWarn, faultSlow: slog.LevelWarn, faultAway: slog.LevelError, faultFull: slog.LevelError,
}

// troubleEvery is how often the same is told again while it lasts: each request meets it.
const troubleEvery = 10 * time.Second

func (t *trouble) met(ctx context.Context, kind fault, err *calendar.Error) {
	if t == nil || troubles[kind] == 0 {
		return
	}
	t.mu.Lock()
	before := &t.told[kind]
	if !before.at.IsZero() && t.now().Sub(before.at).Abs() < troubleEvery {
		before.more++
		t.mu.Unlock()
		return
	}
	more := before.more
	before.at, before.more = t.now(), 0
	t.mu.Unlock()
	t.log.Log(ctx, troubles[kind], "the database failed", "why", err.Message, "err", err.Cause, "untold", more)
}

// mostDamaged is how many lines of the journal are told: where more are damaged, these are enough to make somebody look.
const mostDamaged = 100

// unreadable tells, once of each line of the journal, that nothing can be made of what it keeps.
func (t *trouble) unreadable(ctx context.Context, line calendar.ChangeID) {
	if t == nil {
		return
	}
	t.mu.Lock()
	known := t.damaged[line] || len(t.damaged) == mostDamaged
	if t.damaged == nil {
		t.damaged = map[calendar.ChangeID]bool{}
	}
	if !known {
		t.damaged[line] = true
	}
	t.mu.Unlock()
	if !known {
		t.log.ErrorContext(ctx, "a line of the journal is damaged: what was before that change cannot be read", "calendar", line.Calendar, "version", line.Version)
	}
}
