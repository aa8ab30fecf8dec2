package wire

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"time"

	mcpgo "github.com/mark3labs/mcp-go/mcp"
)

// hearing is an event stream that sends notifications of changes.
type hearing struct {
	stream
	caller Peer
	out    sse
	// begin sends the first message of the stream, if there is one.
	begin func() error
	// tag is the id of the request that opened the stream, or nil.
	tag json.RawMessage
}

// ListName is the subscription name for the list of resources. No resource has an empty URI.
const ListName = ""

// notification is a message without a response.
type notification struct {
	JSONRPC string         `json:"jsonrpc"`
	Method  string         `json:"method"`
	Params  map[string]any `json:"params,omitempty"`
}

// notify returns a notification for a stream. In a subscription it carries the subscription's id.
func (s *hearing) notify(method string, params map[string]any) notification {
	if s.tag != nil {
		if params == nil {
			params = make(map[string]any)
		}
		params["_meta"] = subscriptionMeta(s.tag)
	}
	return notification{JSONRPC: mcpgo.JSONRPC_VERSION, Method: method, Params: params}
}

func subscriptionMeta(id json.RawMessage) map[string]any {
	return map[string]any{mcpgo.MetaKeySubscriptionID: id}
}

// hear sends notifications until ctx ends, the client disconnects, or the token becomes invalid.
func (e *Endpoint) hear(ctx context.Context, s *hearing) {
	beat := time.NewTicker(e.limits.StreamPause)
	defer beat.Stop()
	var ready <-chan struct{}
	if s.watch != nil {
		ready = s.watch.Ready()
	}
	listening := ready
	var calm <-chan time.Time
	for {
		var err error
		select {
		case <-ctx.Done():
			return
		case <-beat.C:
			if err = e.content.Valid(ctx, s.caller); err == nil || e.content.Away(err) {
				err = s.out.comment()
			}
		case <-calm:
			listening = ready
		case <-listening:
			err = e.tell(ctx, s)
			// Frequent changes are reported at intervals.
			listening, calm = nil, time.After(e.limits.Calm)
		}
		if err != nil {
			e.log.LogAttrs(ctx, slog.LevelDebug, "a stream ends", slog.String("user", s.caller.Name),
				slog.String("token", s.caller.Token), slog.String("why", e.content.ForLog(err)))
			return
		}
	}
}

// tell sends notifications for all changes. It checks the token after it has read the changes, so that a token revoked
// in the meantime gets nothing.
func (e *Endpoint) tell(ctx context.Context, s *hearing) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if !e.streams.speaks(&s.stream) {
		return nil
	}
	changed, err := s.watch.Changed(ctx)
	if err == nil {
		err = e.content.Valid(ctx, s.caller)
	}
	switch {
	case e.content.Away(err):
		s.watch.Again()
		return nil
	case err != nil && ctx.Err() == nil && !e.content.Revoked(err):
		e.log.ErrorContext(ctx, "changes could not be sent to a stream", slog.String("user", s.caller.Name),
			slog.String("error", e.content.ForLog(err)))
	}
	for _, one := range changed {
		if err != nil {
			return err
		}
		err = s.out.send(s.notificationOf(one.Name))
		if err == nil {
			one.Told()
		}
	}
	return err
}

func (s *hearing) notificationOf(name string) notification {
	if name == ListName {
		return s.notify(mcpgo.MethodNotificationResourcesListChanged, nil)
	}
	return s.notify(mcpgo.MethodNotificationResourceUpdated, map[string]any{"uri": name})
}

// closeWatch stops watching, and stores which changes the client has seen.
func (e *Endpoint) closeWatch(ctx context.Context, s *hearing) {
	if s.watch == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
	defer cancel()
	if err := s.watch.Close(ctx); err != nil {
		e.log.WarnContext(ctx, "the position of a stream was not stored: its session may get some notifications again",
			slog.String("error", e.content.ForLog(err)))
	}
}

// closeTimeout limits the cleanup after a client has disconnected.
const closeTimeout = 5 * time.Second

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

// refuseFault responds if a stream cannot be opened because of an error on our side.
func (e *Endpoint) refuseFault(w http.ResponseWriter, r *http.Request, caller Peer, err error) {
	x := &Exchange{Caller: caller, Message: Message{Method: r.Method}, FaultID: e.faultID(w)}
	e.content.Refuse(r.Context(), x, err)
	e.send(w, x, nil)
}
