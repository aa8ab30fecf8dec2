package wire

import (
	"context"
	"mime"
	"strings"
	"sync"
)

// stream is an open event stream.
type stream struct {
	owner Owner
	// session is the stream's session, or "" if there is none, as from 2026-07-28 on.
	session SessionID
	// watch receives changes; nil if the stream has no subscriptions.
	watch Watch
	end   context.CancelFunc
}

// streams holds the open event streams. It counts them by token, and can end them.
type streams struct {
	limit int

	mu sync.Mutex
	// open is ordered; the newest is last.
	open   []*stream
	closed bool
}

// add registers a stream, unless its owner has too many.
func (s *streams) add(added *stream) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	held := 0
	for _, other := range s.open {
		if other.owner == added.owner {
			held++
		}
	}
	if s.closed || held >= s.limit {
		return false
	}
	s.open = append(s.open, added)
	return true
}

// remove unregisters a stream. Another stream of its session may then have to send the remaining notifications.
func (s *streams) remove(gone *stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	left := s.open[:0]
	for _, other := range s.open {
		if other == gone {
			continue
		}
		left = append(left, other)
		if other.session == gone.session && other.watch != nil {
			other.watch.Again()
		}
	}
	clear(s.open[len(left):])
	s.open = left
}

// speaks reports whether a stream is the one that sends its session's notifications: each message goes to only one
// stream of a session (MCP 2025-03-26 "Multiple Connections"). It is the newest, because a client that opens another
// stream may have lost the older ones unnoticed.
func (s *streams) speaks(asked *stream) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := len(s.open) - 1; i >= 0 && asked.session != ""; i-- {
		if s.open[i].session == asked.session {
			return s.open[i] == asked
		}
	}
	return true
}

// end ends the streams of a session.
func (s *streams) end(id SessionID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, other := range s.open {
		if other.session == id {
			other.end()
		}
	}
}

func (s *streams) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for _, other := range s.open {
		other.end()
	}
}

// acceptsEvents reports whether a client's Accept header allows event streams.
func acceptsEvents(accept []string) bool {
	all := strings.Join(accept, ",")
	if strings.TrimSpace(all) == "" {
		return true
	}
	for item := range strings.SplitSeq(all, ",") {
		switch kind, _, _ := mime.ParseMediaType(item); kind {
		case "text/event-stream", "text/*", "*/*":
			return true
		}
	}
	return false
}
