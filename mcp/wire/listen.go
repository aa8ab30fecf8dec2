package wire

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"

	mcpgo "github.com/mark3labs/mcp-go/mcp"
)

// listenTo serves subscriptions/listen (MCP 2026-07-28 "Subscriptions"). The response is a stream: first an
// acknowledgement of the granted subscriptions, then notifications, and a result when the server ends it. The transport
// validates the request, but its response is not sent: mcp-go acknowledges any subscription, sometimes loses the
// acknowledgement, and never notifies.
func (e *Endpoint) listenTo(w http.ResponseWriter, r *http.Request, x *Exchange, header http.Header) {
	checked := verdict{header: make(http.Header)}
	e.transport.Handle(&checked, x.request(r, header))
	if !checked.good() {
		status, body := e.settle(w, x, checked.status, checked.body.Bytes())
		writeJSON(w, status, body)
		return
	}
	watch, granted := e.content.Listen(x.Within(r.Context()), x)
	s := &hearing{stream: stream{owner: x.Caller.Owner, watch: watch}, caller: x.Caller, tag: x.Message.id}
	if x.Refused != nil {
		e.closeWatch(r.Context(), s)
		e.send(w, x, nil)
		return
	}
	e.serveSubscription(w, r, s, granted)
}

// serveSubscription runs the stream of a subscription. It ends at once if nothing was granted.
func (e *Endpoint) serveSubscription(
	w http.ResponseWriter, r *http.Request, s *hearing, granted mcpgo.SubscriptionFilter,
) {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	s.begin = func() error {
		if granted.IsEmpty() {
			cancel()
		}
		return s.out.send(s.notify(mcpgo.MethodNotificationSubscriptionsAcknowledged,
			map[string]any{"notifications": granted}))
	}
	if e.serveStream(ctx, w, s) && r.Context().Err() == nil {
		// the client may have disconnected
		_ = s.out.send(resultReply{mcpgo.JSONRPC_VERSION, s.tag, map[string]any{
			"resultType": "complete",
			"_meta":      subscriptionMeta(s.tag),
		}})
	}
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

// subscribe serves resources/subscribe, for versions with sessions. The notifications go over the stream of the
// session, which may be on another process.
func (e *Endpoint) subscribe(w http.ResponseWriter, r *http.Request, x *Exchange, header http.Header) {
	e.serveSession(w, r, x, header, e.content.Subscribe)
}

// unsubscribe serves resources/unsubscribe. It succeeds even without a subscription.
func (e *Endpoint) unsubscribe(w http.ResponseWriter, r *http.Request, x *Exchange, header http.Header) {
	e.serveSession(w, r, x, header, e.content.Unsubscribe)
}

// serveSession serves a request about a resource that needs a session; the transport knows no sessions.
func (e *Endpoint) serveSession(
	w http.ResponseWriter, r *http.Request, x *Exchange, header http.Header, work func(context.Context, *Exchange,
		Session, string),
) {
	if x.Version.Modern() {
		e.forward(w, r, x, header) // it knows no such method in this version
		return
	}
	var params struct {
		URI string `json:"uri"`
	}
	if json.Unmarshal(x.Message.Params, &params) != nil || params.URI == "" {
		sendError(w, StatusOf(x.Version, CodeParams), x.Message.id,
			Errorf(CodeParams, `%s takes "uri", the address of a resource`, x.Message.Method))
		return
	}
	s, ok := e.sessions.resume(x.Caller.Owner, x.Session)
	if !ok {
		sendError(w, http.StatusBadRequest, x.Message.id, Errorf(CodeRequest,
			"%s needs a session: open one with initialize", x.Message.Method))
		return
	}
	work(x.Within(r.Context()), x, s, params.URI)
	e.send(w, x, struct{}{})
}
