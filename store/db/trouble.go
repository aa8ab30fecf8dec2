package db

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"caldav-mcp-server/calendar"
)

// trouble logs why the database failed. The client gets only an "unavailable" error, and the request's log line
// only a status.
type trouble struct {
	log *slog.Logger
	now func() time.Time

	mu   sync.Mutex
	told [len(faults)]struct {
		at   time.Time
		more int
	}
	damaged map[any]bool
}

// troubles are the faults that the administrator can fix, with their log level. The others concern one request.
var troubles = [len(faults)]slog.Level{
	faultCut: slog.LevelWarn, faultSlow: slog.LevelWarn, faultAway: slog.LevelError, faultFull: slog.LevelError,
}

// troubleEvery is how often an ongoing fault is logged again, since each request meets it.
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

// mostDamaged is how many damaged rows are logged: these are enough to make the administrator look.
const mostDamaged = 100

// Damaged lets tell log, once per row, that something of it cannot be read.
func (e *Engine) Damaged(row any, tell func(*slog.Logger)) {
	t := e.trouble
	if t == nil {
		return
	}
	t.mu.Lock()
	known := t.damaged[row] || len(t.damaged) == mostDamaged
	if t.damaged == nil {
		t.damaged = map[any]bool{}
	}
	if !known {
		t.damaged[row] = true
	}
	t.mu.Unlock()
	if !known {
		tell(t.log)
	}
}
