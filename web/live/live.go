// Package live tells the pages of a browser about changes that were made elsewhere.
package live

import (
	"context"
	"io"
	"net/http"
	"sync"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/watch"
)

const (
	// mostStreams limits the streams of a user in one process. All tabs of a browser share one.
	mostStreams = 4
	// age is how long a stream lasts. The browser opens the next one by itself.
	age = 10 * time.Minute
	// beat is the time between two checks that the visitor is still signed in. It also keeps the connection open.
	beat = 20 * time.Second
)

// Streams are the open streams of this process.
type Streams struct {
	mu   sync.Mutex
	open map[calendar.UserID]int
}

func (s *Streams) enter(user calendar.UserID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open == nil {
		s.open = map[calendar.UserID]int{}
	}
	if s.open[user] >= mostStreams {
		return false
	}
	s.open[user]++
	return true
}

func (s *Streams) leave(user calendar.UserID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open[user]--; s.open[user] == 0 {
		delete(s.open, user)
	}
}

// Serve writes an event for each change of the caller's calendars. good returns an error once the visitor is no longer
// signed in.
func (s *Streams) Serve(
	ctx context.Context, w http.ResponseWriter, hub *watch.Hub, c calendar.Caller, good func(context.Context) error,
) error {
	if !s.enter(c.User.ID) {
		w.WriteHeader(http.StatusNoContent) // the browser does not try again
		return nil
	}
	defer s.leave(c.User.ID)
	ctx, cancel := context.WithTimeout(ctx, age)
	defer cancel()
	all := hub.Watch("")
	defer func() { _ = all.Close(ctx) }()
	if err := follow(ctx, hub, all, c); err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no")
	if _, err := all.Changed(ctx, c); err != nil { // the first check is due at once
		return err
	}
	out := events{w, http.NewResponseController(w)}
	if out.send(": here\nretry: 5000\n\n") != nil {
		return nil
	}
	ticker := time.NewTicker(beat)
	defer ticker.Stop()
	for {
		changed := false
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		case <-all.Ready():
			list, err := all.Changed(ctx, c)
			if err != nil {
				return nil
			}
			for _, sub := range list {
				all.Told(sub)
			}
			changed = len(list) > 0
		}
		if good(ctx) != nil {
			return nil
		}
		text := ": here\n\n"
		if changed {
			text = "event: change\ndata:\n\n"
		}
		if out.send(text) != nil {
			return nil
		}
	}
}

// follow follows the list of calendars, and each calendar up to the limit of a watch.
func follow(ctx context.Context, hub *watch.Hub, all *watch.Watch, c calendar.Caller) error {
	if err := all.Follow(ctx, c, "", calendar.Target{}); err != nil {
		return err
	}
	calendars, err := hub.Calendars(ctx, c)
	if err != nil {
		return err
	}
	for _, cal := range calendars[:min(len(calendars), watch.MaxFollowed-1)] {
		err := all.Follow(ctx, c, string(cal.ID), calendar.Target{Calendar: cal.ID})
		if err != nil && calendar.ReasonOf(err) != calendar.NotFound && calendar.ReasonOf(err) != calendar.Forbidden {
			return err
		}
	}
	return nil
}

// events is a response in the form of server-sent events.
type events struct {
	w       io.Writer
	control *http.ResponseController
}

func (e events) send(text string) error {
	if _, err := io.WriteString(e.w, text); err != nil {
		return err
	}
	return e.control.Flush()
}
