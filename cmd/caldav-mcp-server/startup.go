package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"caldav-mcp-server/cmd/caldav-mcp-server/app"
)

// tellEvery is how often a long step is logged. systemd is asked to wait three times as long.
const tellEvery = 10 * time.Second

const statusReady = "STATUS=ready"

// startup tracks the steps between listening and being ready, and background work after that.
type startup struct {
	log    *slog.Logger
	now    func() time.Time
	notify func(lines ...string)
	// measures are for /metrics.
	measures measures

	mu sync.Mutex
	// doing is the response of the readiness probe.
	doing  string
	logged time.Time
	// ready checks the store, once it is open.
	ready func(context.Context) error
}

func (p *program) newStartup(log *slog.Logger) *startup {
	return &startup{
		log: log, now: p.Now, notify: p.notify, doing: "starting", logged: p.Now(), measures: measures{now: p.Now},
	}
}

// tell publishes the current step at /readyz, to systemd and, if it takes long, in the log. Anyone can read it.
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

// over ends the startup: the server is ready.
func (s *startup) over(h *app.App) {
	s.measures.app.Store(h)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ready = func(ctx context.Context) error { return readiness(ctx, h) }
	s.notify("READY=1", statusReady)
}

// ask answers /readyz.
func (s *startup) ask(ctx context.Context) error {
	s.mu.Lock()
	doing, ready := s.doing, s.ready
	s.mu.Unlock()
	if ready == nil {
		return errors.New(doing)
	}
	return ready(ctx)
}
