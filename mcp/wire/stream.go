package wire

import (
	"context"
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"strings"
	"sync"
	"time"
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

// listen serves GET: a stream for the server's own messages. It bypasses mcp-go, which would open a stream for any
// session id, even another user's.
func (e *Endpoint) listen(w http.ResponseWriter, r *http.Request, caller Peer) {
	claimed := headerVersion(r)
	id := SessionID(r.Header.Get(SessionHeader))
	switch {
	case claimed.Modern():
		refuseSessionMethod(w, r)
		return
	case !claimed.known():
		refuse(w, http.StatusBadRequest, errVersion(claimed))
		return
	case !acceptsEvents(r.Header.Values("Accept")):
		refuse(w, http.StatusNotAcceptable, "GET opens a stream of events: accept text/event-stream")
		return
	}
	place := stream{owner: caller.Owner}
	// MCP lets the server decide about GET without a session. This stream sends only keep-alive comments.
	if id != "" {
		s, ok := e.sessions.resume(caller.Owner, id)
		if !ok {
			refuseSession(w)
			return
		}
		watch, err := e.content.Watch(r.Context(), caller, id, s)
		if err != nil {
			e.refuseFault(w, r, caller, err)
			return
		}
		place.session, place.watch = id, watch
	}
	e.serveStream(r.Context(), w, &hearing{stream: place, caller: caller})
}

// serveStream runs a stream until the client disconnects, its session or token ends, its age is reached, or the server
// stops. It returns false if there are too many streams.
func (e *Endpoint) serveStream(ctx context.Context, w http.ResponseWriter, s *hearing) bool {
	ctx, end := context.WithTimeout(ctx, e.streamAge(s.caller))
	defer end()
	s.end = end
	if !e.streams.add(&s.stream) {
		e.closeWatch(ctx, s)
		w.Header().Set("Retry-After", "60")
		refuse(w, http.StatusTooManyRequests, "too many streams are open with this token: close one")
		return false
	}
	defer e.streams.remove(&s.stream)
	// closeWatch first stores the position, so that another stream of the session continues from there.
	defer e.closeWatch(ctx, s)
	s.out = beginEvents(w)
	if s.begin == nil || s.begin() == nil {
		e.hear(ctx, s)
	}
	return true
}

// streamAge is how long a stream may last: no longer than its token.
func (e *Endpoint) streamAge(c Peer) time.Duration {
	if c.Expires.IsZero() {
		return e.limits.StreamAge
	}
	return min(e.limits.StreamAge, c.Expires.Sub(e.now()))
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

// sse is a response that is a stream of events (WHATWG HTML "Server-sent events").
type sse struct{ w http.ResponseWriter }

func beginEvents(w http.ResponseWriter) sse {
	w.Header().Set("Content-Type", "text/event-stream")
	// nginx and similar proxies buffer responses unless told not to.
	w.Header().Set("X-Accel-Buffering", "no")
	w.WriteHeader(http.StatusOK)
	s := sse{w}
	_ = s.flush() // the first event shows whether the client is still connected
	return s
}

// send writes one message and flushes it.
func (s sse) send(message any) error {
	data, err := json.Marshal(message)
	if err != nil {
		return fmt.Errorf("encoding an event: %w", err)
	}
	if _, err := fmt.Fprintf(s.w, eventPrefix+"%s"+eventSuffix, data); err != nil {
		return err
	}
	return s.flush()
}

// comment keeps an idle stream alive, because proxies cut silent connections.
func (s sse) comment() error {
	if _, err := s.w.Write([]byte(": still here\n\n")); err != nil {
		return err
	}
	return s.flush()
}

func (s sse) flush() error { return http.NewResponseController(s.w).Flush() }

// refuseFault responds if a stream cannot be opened because of an error on our side.
func (e *Endpoint) refuseFault(w http.ResponseWriter, r *http.Request, caller Peer, err error) {
	x := &Exchange{Caller: caller, Message: Message{Method: r.Method}, FaultID: e.faultID(w)}
	e.content.Refuse(r.Context(), x, err)
	e.send(w, x, nil)
}
