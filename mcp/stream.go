package mcp

import (
	"context"
	"mime"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/server"

	"caldav-mcp-server/calendar"
)

// stream is a listening stream that is open (GET).
type stream struct {
	owner   owner
	session sessionID
	end     context.CancelFunc
}

// streams are the listening streams that are open. It counts them by token, and can end them.
type streams struct {
	limit int

	mu     sync.Mutex
	open   map[*stream]bool
	closed bool
}

// add counts a stream in, if its owner may have one more.
func (s *streams) add(added *stream) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	held := 0
	for other := range s.open {
		if other.owner == added.owner {
			held++
		}
	}
	if s.closed || held >= s.limit {
		return false
	}
	if s.open == nil {
		s.open = make(map[*stream]bool)
	}
	s.open[added] = true
	return true
}

func (s *streams) remove(gone *stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, gone)
}

// end ends the streams of a session.
func (s *streams) end(id sessionID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for other := range s.open {
		if other.session == id {
			other.end()
		}
	}
}

func (s *streams) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for other := range s.open {
		other.end()
	}
}

// listen serves GET: a stream for what the server has to say on its own.
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
	// MCP leaves GET without a session to the server. mcp-go would open a stream under any id
	// that is sent, another user's included: it never asks whose it is.
	if id == "" {
		id = h.sessions.once()
	} else if _, ok := h.sessions.resume(ownerOf(caller), id); !ok {
		refuseSession(w)
		return
	}
	h.serveStream(w, r, ownerOf(caller), id)
}

// serveStream runs a stream until its client, its session, its age or the server ends it.
func (h *Handler) serveStream(w http.ResponseWriter, r *http.Request, o owner, id sessionID) {
	ctx, end := context.WithTimeout(r.Context(), h.limits.StreamAge)
	defer end()
	s := &stream{o, id, end}
	if !h.streams.add(s) {
		w.Header().Set("Retry-After", "60")
		refuse(w, http.StatusTooManyRequests, "too many streams are open with this token: close one")
		return
	}
	defer h.streams.remove(s)
	// The server's deadline for responses is not meant for one that never ends. A writer that
	// can't set it has none.
	_ = http.NewResponseController(w).SetWriteDeadline(time.Time{})
	header := r.Header.Clone()
	header.Set(sessionHeader, string(id))
	header.Del(versionHeader)
	out := newReply(w, func(status int, body []byte) (int, []byte) { return status, body })
	var beating sync.WaitGroup
	beating.Go(func() { out.keepAlive(ctx, end, h.limits.StreamPause) })
	h.transport.Handle(out, &server.HTTPRequest{Method: r.Method, URL: r.URL, Header: header, Context: ctx})
	end()
	beating.Wait()
	out.finish()
}

// keepAlive breaks the silence until ctx ends, and ends the stream when nobody hears it.
func (p *reply) keepAlive(ctx context.Context, end context.CancelFunc, pause time.Duration) {
	ticker := time.NewTicker(pause)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			if p.comment() != nil {
				end()
			}
		}
	}
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
