package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"

	mcpgo "github.com/mark3labs/mcp-go/mcp"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/watch"
)

// listenTo serves subscriptions/listen (MCP 2026-07-28 "Subscriptions"): the answer is a stream
// that first says what will be told, then tells it, and ends with a result when the server ends it.
// The transport checks the request, and says what it would answer; that is not sent. It would
// acknowledge whatever was asked for, now and then lose that, and tell of no change.
func (h *Handler) listenTo(w http.ResponseWriter, r *http.Request, x *exchange, header http.Header) {
	checked := verdict{header: make(http.Header)}
	h.transport.Handle(&checked, x.request(r, header))
	if !checked.good() {
		status, body := h.settle(w, x, checked.status, checked.body.Bytes())
		writeJSON(w, status, body)
		return
	}
	s := &hearing{stream: stream{owner: ownerOf(x.caller), watch: h.box.service.Watch("")}, caller: x.caller, tag: x.message.id}
	var granted mcpgo.SubscriptionFilter
	ctx := x.within(r.Context())
	h.attend(ctx, func(c *call) error {
		var asked mcpgo.SubscriptionsListenParams
		err := json.Unmarshal(x.message.params, &asked)
		if err == nil {
			granted, err = h.grant(ctx, c, s, asked.Notifications)
		}
		return err
	})
	if x.refused != nil {
		h.closeWatch(r.Context(), s)
		h.send(w, x, nil)
		return
	}
	h.serveSubscription(w, r, s, granted)
}

// serveSubscription runs the stream of a subscription. Where nothing is to be told, it ends at once.
func (h *Handler) serveSubscription(w http.ResponseWriter, r *http.Request, s *hearing, granted mcpgo.SubscriptionFilter) {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	s.begin = func() error {
		if granted.IsEmpty() {
			cancel()
		}
		return s.out.send(s.notify(mcpgo.MethodNotificationSubscriptionsAcknowledged, map[string]any{"notifications": granted}))
	}
	if h.serveStream(ctx, w, s) && r.Context().Err() == nil {
		_ = s.out.send(resultReply{mcpgo.JSONRPC_VERSION, s.tag, map[string]any{"resultType": "complete", "_meta": subscriptionMeta(s.tag)}}) // the client may be gone
	}
}

// grant follows what of it the caller may follow: of what they cannot see, and of what never was,
// nothing is said. Lists of tools and prompts do not change.
func (h *Handler) grant(ctx context.Context, c *call, s *hearing, asked mcpgo.SubscriptionFilter) (granted mcpgo.SubscriptionFilter, err error) {
	if len(asked.ResourceSubscriptions) >= watch.MaxFollowed {
		return granted, errArgument("a subscription names fewer than %d resources", watch.MaxFollowed)
	}
	if asked.ResourcesListChanged {
		if granted.ResourcesListChanged, err = h.follow(ctx, c, s, listName, calendar.Target{}); err != nil {
			return granted, err
		}
	}
	seen := make(map[string]bool)
	for _, uri := range asked.ResourceSubscriptions {
		target, err := targetOf(uri)
		if err != nil || seen[uri] {
			continue
		}
		seen[uri] = true
		ok, err := h.follow(ctx, c, s, uri, target)
		if err != nil {
			return granted, err
		}
		if ok {
			granted.ResourceSubscriptions = append(granted.ResourceSubscriptions, uri)
		}
	}
	return granted, nil
}

// follow tells whether the caller may follow something, and then does.
func (h *Handler) follow(ctx context.Context, c *call, s *hearing, name string, target calendar.Target) (bool, error) {
	err := h.box.follows(ctx, c, target)
	if err == nil {
		err = s.watch.Follow(ctx, s.caller, name, target)
	}
	if err != nil && (calendar.ReasonOf(err) == calendar.NotFound || calendar.ReasonOf(err) == calendar.Forbidden) {
		return false, nil
	}
	return err == nil, err
}

// verdict is what the transport says to a request that it does not get to answer. It implements
// server.HTTPResponseWriter.
type verdict struct {
	header http.Header
	status int
	body   bytes.Buffer
}

// Header implements server.HTTPResponseWriter.
func (v *verdict) Header() http.Header { return v.header }

// WriteHeader implements server.HTTPResponseWriter.
func (v *verdict) WriteHeader(status int) { v.status = status }

// Write implements server.HTTPResponseWriter.
func (v *verdict) Write(p []byte) (int, error) { return v.body.Write(p) }

// Flush implements server.HTTPResponseWriter.
func (v *verdict) Flush() {}

// CanStream implements server.HTTPResponseWriter: what comes before the answer is dropped.
func (v *verdict) CanStream() bool { return false }

// good tells whether the request was answered with a result.
func (v *verdict) good() bool {
	var answered struct{ Result, Error json.RawMessage }
	return json.Unmarshal(v.body.Bytes(), &answered) == nil && answered.Result != nil && answered.Error == nil
}
