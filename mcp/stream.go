package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"strings"
	"sync"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/service"
	"caldav-mcp-server/calendar/watch"
)

// stream is a listening stream that is open.
type stream struct {
	owner owner
	// session is whose it is; "" where there is none, as from 2026-07-28 on.
	session sessionID
	// watch hears of changes; nil where nobody will be told any.
	watch *watch.Watch
	end   context.CancelFunc
}

// streams are the listening streams that are open. It counts them by token, and can end them.
type streams struct {
	limit int

	mu sync.Mutex
	// open has the newest last.
	open   []*stream
	closed bool
}

// add counts a stream in, if its owner may have one more.
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

// remove counts a stream out. Another one of its session may have to go on where it ended.
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

// speaks tells whether a stream is the one of its session that has the word: each message goes to
// one of a session's streams alone (MCP 2025-03-26 "Multiple Connections"). It is the newest, since
// a client that opens one more may have lost the others without our knowing.
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
func (s *streams) end(id sessionID) {
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

// listen serves GET: a stream for what the server has to say on its own. mcp-go is not asked: it
// would open one under any id that is sent, whoever's it is.
func (h *Handler) listen(w http.ResponseWriter, r *http.Request, caller calendar.Caller) {
	claimed := headerVersion(r)
	id := sessionID(r.Header.Get(sessionHeader))
	switch {
	case claimed.modern():
		refuseSessionMethod(w, r)
		return
	case !claimed.known():
		refuse(w, http.StatusBadRequest, errVersion(claimed))
		return
	case !acceptsEvents(r.Header.Values("Accept")):
		refuse(w, http.StatusNotAcceptable, "GET opens a stream of events: accept text/event-stream")
		return
	}
	place := stream{owner: ownerOf(caller)}
	// MCP leaves GET without a session to the server: there is nothing to be heard on it.
	if id != "" {
		s, ok := h.sessions.resume(ownerOf(caller), id)
		if !ok {
			refuseSession(w)
			return
		}
		watch, err := h.watchSession(r.Context(), caller, id, s)
		if err != nil {
			h.refuseFault(w, r, caller, err)
			return
		}
		place.session, place.watch = id, watch
	}
	h.serveStream(r.Context(), w, &hearing{stream: place, caller: caller})
}

// watchSession begins to hear of what a session subscribes to, and of the list of resources,
// which clients of the first version are not promised, and tokens for other tools do not get.
func (h *Handler) watchSession(ctx context.Context, caller calendar.Caller, id sessionID, s session) (*watch.Watch, error) {
	watch := h.box.service.Watch(subscriberOf(id))
	if s.version.plain() || !listOfCalendars.to(caller) {
		return watch, nil
	}
	err := watch.Follow(ctx, caller, listName, calendar.Target{})
	if err != nil && calendar.ReasonOf(err) != calendar.Forbidden {
		return nil, errors.Join(err, watch.Close(ctx))
	}
	return watch, nil
}

// refuseFault answers a stream that cannot be opened for a reason that is ours.
func (h *Handler) refuseFault(w http.ResponseWriter, r *http.Request, caller calendar.Caller, err error) {
	x := &exchange{caller: caller, message: message{method: r.Method}, faultID: h.faultID(w)}
	if calendar.ReasonOf(err) == calendar.Internal && r.Context().Err() == nil {
		h.logFault(x, service.ForLog(err))
	}
	x.refused = new(renderError(err, x.version, x.faultID))
	h.send(w, x, nil)
}

// serveStream runs a stream until its client, its session, its token, its age or the server ends
// it. It is false when there is no place for the stream.
func (h *Handler) serveStream(ctx context.Context, w http.ResponseWriter, s *hearing) bool {
	ctx, end := context.WithTimeout(ctx, h.streamAge(s.caller))
	defer end()
	s.end = end
	if !h.streams.add(&s.stream) {
		h.closeWatch(ctx, s)
		w.Header().Set("Retry-After", "60")
		refuse(w, http.StatusTooManyRequests, "too many streams are open with this token: close one")
		return false
	}
	defer h.streams.remove(&s.stream)
	// First it is noted what was told: another stream of the session goes on from there.
	defer h.closeWatch(ctx, s)
	s.out = beginEvents(w)
	if s.begin == nil || s.begin() == nil {
		h.hear(ctx, s)
	}
	return true
}

// streamAge is how long a stream may last: no longer than the token that opened it.
func (h *Handler) streamAge(c calendar.Caller) time.Duration {
	if c.Expires.IsZero() {
		return h.config.Limits.StreamAge
	}
	return min(h.config.Limits.StreamAge, c.Expires.Sub(h.now()))
}

// acceptsEvents tells whether a client that says what it accepts takes events.
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

// sse is an answer that is a stream of events (WHATWG HTML "Server-sent events").
type sse struct{ w http.ResponseWriter }

func beginEvents(w http.ResponseWriter) sse {
	w.Header().Set("Content-Type", "text/event-stream")
	// nginx and its kin hold responses back until they are whole, unless told not to.
	w.Header().Set("X-Accel-Buffering", "no")
	w.WriteHeader(http.StatusOK)
	e := sse{w}
	_ = e.flush() // whether somebody hears it shows with the first event
	return e
}

// send writes one message, at once.
func (e sse) send(message any) error {
	data, err := json.Marshal(message)
	if err != nil {
		return fmt.Errorf("encoding an event: %w", err)
	}
	if _, err := fmt.Fprintf(e.w, eventPrefix+"%s"+eventSuffix, data); err != nil {
		return err
	}
	return e.flush()
}

// comment keeps a stream alive that has nothing to say: proxies cut silent connections.
func (e sse) comment() error {
	if _, err := e.w.Write([]byte(": still here\n\n")); err != nil {
		return err
	}
	return e.flush()
}

func (e sse) flush() error { return http.NewResponseController(e.w).Flush() }
