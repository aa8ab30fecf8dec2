package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"
)

// tellEvery is how often what takes long is logged, and how long systemd is asked to wait for more.
const tellEvery = 10 * time.Second

const statusReady = "STATUS=ready"

// startup is what goes on between listening and being ready, and what is left to do then.
type startup struct {
	log    *slog.Logger
	now    func() time.Time
	notify func(lines ...string)
	// measures are for /metrics.
	measures measures

	mu sync.Mutex
	// doing is the answer of the readiness probe.
	doing  string
	logged time.Time
	// ready asks the store, once that is open.
	ready func(context.Context) error
}

func (p *program) newStartup(log *slog.Logger) *startup {
	return &startup{log: log, now: p.now, notify: p.notify, doing: "starting", logged: p.now()}
}

// tell says what goes on: at /readyz, to systemd, and, where it lasts, in the log. Anybody may read it.
func (s *startup) tell(ctx context.Context, format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.doing = fmt.Sprintf(format, args...)
	lines := []string{"STATUS=" + s.doing}
	if s.ready == nil {
		lines = append(lines, fmt.Sprint("EXTEND_TIMEOUT_USEC=", (3*tellEvery).Microseconds()))
	}
	s.notify(lines...)
	if now := s.now(); now.Sub(s.logged) >= tellEvery {
		s.logged = now
		s.log.InfoContext(ctx, "still at work", "ready", s.ready != nil, "doing", s.doing)
	}
}

// over ends it: from now on the house answers.
func (s *startup) over(h *house) {
	s.measures.house.Store(h)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ready = h.ready
	s.notify("READY=1", statusReady)
}

// ask is for /readyz.
func (s *startup) ask(ctx context.Context) error {
	s.mu.Lock()
	doing, ready := s.doing, s.ready
	s.mu.Unlock()
	if ready == nil {
		return errors.New(doing)
	}
	return ready(ctx)
}
