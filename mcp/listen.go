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

// listenTo serves subscriptions/listen (MCP 2026-07-28 "Subscriptions"). The response is a stream: first an
// acknowledgement of the granted subscriptions, then notifications, and a result when the server ends it. The transport
// validates the request, but its response is not sent: mcp-go acknowledges any subscription, sometimes loses the
// acknowledgement, and never notifies.
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

// serveSubscription runs the stream of a subscription. It ends at once if nothing was granted.
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
		_ = s.out.send(resultReply{mcpgo.JSONRPC_VERSION, s.tag, map[string]any{"resultType": "complete", "_meta": subscriptionMeta(s.tag)}}) // the client may have disconnected
	}
}

// grant subscribes to the requested resources that the caller can read. It silently drops all others, so that callers
// cannot tell inaccessible resources from missing ones. The lists of tools and prompts never change.
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

// follow subscribes to a target, and reports whether the caller may read it.
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

// verdict records the transport's response to a request without sending it. It implements server.HTTPResponseWriter.
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

// CanStream implements server.HTTPResponseWriter: messages before the final response are dropped.
func (v *verdict) CanStream() bool { return false }

// good reports whether the response is a result.
func (v *verdict) good() bool {
	var answered struct{ Result, Error json.RawMessage }
	return json.Unmarshal(v.body.Bytes(), &answered) == nil && answered.Result != nil && answered.Error == nil
}
