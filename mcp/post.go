package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"

	mcpgo "github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
)

// exchange is a request with its context. The tools find it in their context.Context, because the transport passes
// only that.
type exchange struct {
	caller  calendar.Caller
	version version
	// session is the session of the request, or "".
	session sessionID
	message message
	call    toolCall
	// faultID identifies the log line of an internal error.
	faultID string
	// ran is set if a tool has answered. refused is set if its response replaces the transport's.
	ran     bool
	refused *refusal
	// asks is set if the client supports elicitation by form, opens if by page. reply is where an elicitation is sent.
	asks, opens bool
	reply       *reply
	// mail is set if the caller has linked mail.
	mail bool
}

type exchangeKey struct{}

func exchangeOf(ctx context.Context) *exchange {
	x, _ := ctx.Value(exchangeKey{}).(*exchange)
	return x
}

// post serves POST: one message, answered in the response.
func (h *Handler) post(w http.ResponseWriter, r *http.Request, caller calendar.Caller) {
	body, ok := h.readBody(w, r)
	if !ok {
		return
	}
	m, err := parse(body)
	x := &exchange{caller: caller, message: m, faultID: h.faultID(w)}
	header := r.Header.Clone()
	switch {
	case err != nil && err.Code == codeParams:
		sendError(w, statusOf(headerVersion(r), err.Code), m.id, err)
	case err != nil:
		sendError(w, http.StatusBadRequest, m.id, err)
	case m.id != nil && !h.pace.admit(w, ownerOf(caller)):
	case !h.agree(w, r, x, header):
	case x.isStray():
		h.heed(r.Context(), x)
		w.WriteHeader(http.StatusAccepted)
	default:
		h.pass(w, r, x, header)
	}
}

// faultID identifies the log line of an internal error. It is the request id that package server has put into the
// response and its own log.
func (h *Handler) faultID(w http.ResponseWriter) string {
	if id := w.Header().Get("X-Request-Id"); id != "" {
		return id
	}
	return h.config.NewID()
}

// readBody reads the message, up to the limit.
func (h *Handler) readBody(w http.ResponseWriter, r *http.Request) ([]byte, bool) {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		refuse(w, http.StatusUnsupportedMediaType, "the Content-Type must be application/json")
		return nil, false
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, h.config.Limits.BodyBytes))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.Is(err, auth.ErrUnauthorized): // it was valid when the body began
		auth.RefuseJSON(w, http.StatusUnauthorized)
	case errors.As(err, &tooLarge):
		refuse(w, http.StatusRequestEntityTooLarge, fmt.Sprintf("a message has at most %d bytes", h.config.Limits.BodyBytes))
	case err != nil:
		refuse(w, http.StatusBadRequest, "the body could not be read")
	}
	return body, err == nil
}

// agree determines the version and the session, and sets the headers for the transport accordingly.
func (h *Handler) agree(w http.ResponseWriter, r *http.Request, x *exchange, header http.Header) bool {
	claimed := headerVersion(r)
	if declared := x.message.declared(); declared.modern() || claimed.modern() {
		// The transport compares the two, and responds to an unsupported version.
		x.version = max(declared, claimed)
		x.asks, x.opens = abilities(x.message.capabilities())
		header.Del(sessionHeader)
		return true
	}
	if x.message.method == string(mcpgo.MethodInitialize) {
		header.Del(versionHeader)
		return true
	}
	if !claimed.known() {
		sendError(w, http.StatusBadRequest, x.message.id, rpcErrorf(codeRequest, "%s", errVersion(claimed)))
		return false
	}
	x.version = max(claimed, first)
	id := sessionID(r.Header.Get(sessionHeader))
	if id == "" {
		header.Set(sessionHeader, string(h.sessions.once()))
		return true
	}
	s, ok := h.sessions.resume(ownerOf(x.caller), id)
	if !ok {
		refuseSession(w)
		return false
	}
	x.version, x.session = s.version, id
	streams := acceptsEvents(r.Header.Values("Accept"))
	x.asks, x.opens = s.asks && streams, s.opens && streams
	header.Set(versionHeader, string(s.version))
	return true
}

// isStray reports whether a message is accepted but not passed on. Responses are for us only: see heed. So are
// cancellations of 2026-07-28, which has no sessions. mcp-go finds calls by session id and request id, so a user
// without a session could cancel another user's call. Clients of that version cancel by closing the response.
func (x *exchange) isStray() bool {
	switch {
	case x.version.modern():
		return x.message.method == cancelled
	case x.message.answer:
		return true
	default:
		return false
	}
}

const cancelled = "notifications/cancelled"

// ours are the requests that we answer without mcp-go.
var ours = map[string]func(*Handler, http.ResponseWriter, *http.Request, *exchange, http.Header){
	string(mcpgo.MethodResourcesSubscribe):   (*Handler).subscribe,
	string(mcpgo.MethodResourcesUnsubscribe): (*Handler).unsubscribe,
	string(mcpgo.MethodSubscriptionsListen):  (*Handler).listenTo,
}

// pass answers the message.
func (h *Handler) pass(w http.ResponseWriter, r *http.Request, x *exchange, header http.Header) {
	x.mail = h.hasMail(r.Context(), x)
	if x.message.method == string(mcpgo.MethodToolsCall) {
		var err *rpcError
		if x.call, err = x.message.readToolCall(); err != nil {
			sendError(w, statusOf(x.version, err.Code), x.message.id, err)
			return
		}
		if lacks := h.lacks(x); lacks != 0 {
			h.config.StepUp(w, r, x.caller, lacks)
			return
		}
	}
	if serve := ours[x.message.method]; serve != nil && x.message.id != nil {
		serve(h, w, r, x, header)
		return
	}
	h.forward(w, r, x, header)
}

// lacks returns the scopes that a call needs and that its OAuth client can request. The check comes before the
// transport, which could only report a failed call.
func (h *Handler) lacks(x *exchange) calendar.Scope {
	if !x.caller.Delegated || h.config.StepUp == nil {
		return 0
	}
	for _, t := range h.tools {
		if t.named(x.call.Name) && t.offered(x.caller) {
			return t.needs(x.call.Arguments) &^ x.caller.Scopes
		}
	}
	return 0
}

// forward passes the message to the transport and adapts its response.
func (h *Handler) forward(w http.ResponseWriter, r *http.Request, x *exchange, header http.Header) {
	out := newReply(w, func(status int, body []byte) (int, []byte) { return h.settle(w, x, status, body) })
	x.reply = out
	h.transport.Handle(out, x.request(r, header))
	out.finish()
}

// request is the message for the transport.
func (x *exchange) request(r *http.Request, header http.Header) *server.HTTPRequest {
	return &server.HTTPRequest{Method: r.Method, URL: r.URL, Header: header, Body: x.message.bytes(), Context: x.within(r.Context())}
}

// within adds the exchange to a context.
func (x *exchange) within(ctx context.Context) context.Context {
	return context.WithValue(ctx, exchangeKey{}, x)
}

// send responds to a request that bypasses the transport: with a result, unless it was refused.
func (h *Handler) send(w http.ResponseWriter, x *exchange, result any) {
	body, err := json.Marshal(resultReply{mcpgo.JSONRPC_VERSION, x.message.id, result})
	if err != nil {
		x.refused = new(render(err, x.version, x.faultID))
	}
	x.ran = true
	status, body := h.settle(w, x, http.StatusOK, body)
	writeJSON(w, status, body)
}

func writeJSON(w http.ResponseWriter, status int, body []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = w.Write(body) //nolint:gosec // G705: it is JSON and says so. The client may be gone.
}

// resultReply is a JSON-RPC response with a result.
type resultReply struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  any             `json:"result"`
}

// settle adapts the transport's response.
func (h *Handler) settle(w http.ResponseWriter, x *exchange, status int, body []byte) (int, []byte) {
	if x.refused != nil {
		if x.refused.status == http.StatusServiceUnavailable {
			w.Header().Set("Retry-After", strconv.Itoa(retryAfter))
		}
		return x.refused.status, encodeError(x.message.id, x.refused.err)
	}
	if x.ran || !x.isAnnouncement() && hasResult(body) {
		return status, body
	}
	var answered struct {
		Error *rpcError `json:"error"`
	}
	err := json.Unmarshal(body, &answered)
	if err == nil && answered.Error == nil && x.isAnnouncement() {
		body, err = h.dress(w, x, body)
	}
	if err != nil {
		answered.Error = rpcErrorf(codeInternal, "reading the transport's answer: %v", err)
	}
	if answered.Error == nil {
		return status, body
	}
	e := h.reword(x, answered.Error)
	return statusOf(x.version, e.Code), encodeError(x.message.id, e)
}

// hasResult reports whether a response is a result, without parsing it: a list of tools is long.
func hasResult(body []byte) bool {
	d := json.NewDecoder(bytes.NewReader(body))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return false
	}
	for d.More() {
		name, err := d.Token()
		if name == "result" {
			return true
		}
		var value json.RawMessage
		if err != nil || name == "error" || d.Decode(&value) != nil {
			return false
		}
	}
	return false
}
