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
)

// exchange is a request with its context. The tools find it in their context.Context, because the transport passes
// only that.
type exchange struct {
	caller  peer
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
}

type exchangeKey struct{}

func exchangeOf(ctx context.Context) *exchange {
	x, _ := ctx.Value(exchangeKey{}).(*exchange)
	return x
}

// post serves POST: one message, answered in the response.
func (e *endpoint) post(w http.ResponseWriter, r *http.Request, caller peer) {
	body, ok := e.readBody(w, r)
	if !ok {
		return
	}
	m, err := parse(body)
	x := &exchange{caller: caller, message: m, faultID: e.faultID(w)}
	header := r.Header.Clone()
	switch {
	case err != nil && err.Code == codeParams:
		sendError(w, statusOf(headerVersion(r), err.Code), m.id, err)
	case err != nil:
		sendError(w, http.StatusBadRequest, m.id, err)
	case m.id != nil && !e.pace.admit(w, caller.owner):
	case !e.agree(w, r, x, header):
	case x.isStray():
		e.heed(r.Context(), x)
		w.WriteHeader(http.StatusAccepted)
	default:
		e.pass(w, r, x, header)
	}
}

// faultID identifies the log line of an internal error. It is the request id that package server has put into the
// response and its own log.
func (e *endpoint) faultID(w http.ResponseWriter) string {
	if id := w.Header().Get("X-Request-Id"); id != "" {
		return id
	}
	return e.newID()
}

// readBody reads the message, up to the limit.
func (e *endpoint) readBody(w http.ResponseWriter, r *http.Request) ([]byte, bool) {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		refuse(w, http.StatusUnsupportedMediaType, "the Content-Type must be application/json")
		return nil, false
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, e.limits.BodyBytes))
	var tooLarge *http.MaxBytesError
	switch {
	case err != nil && e.content.revoked(err): // it was valid when the body began
		e.content.unauthorized(w)
	case errors.As(err, &tooLarge):
		refuse(w, http.StatusRequestEntityTooLarge, fmt.Sprintf("a message has at most %d bytes", e.limits.BodyBytes))
	case err != nil:
		refuse(w, http.StatusBadRequest, "the body could not be read")
	}
	return body, err == nil
}

// agree determines the version and the session, and sets the headers for the transport accordingly.
func (e *endpoint) agree(w http.ResponseWriter, r *http.Request, x *exchange, header http.Header) bool {
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
		header.Set(sessionHeader, string(e.sessions.once()))
		return true
	}
	s, ok := e.sessions.resume(x.caller.owner, id)
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
var ours = map[string]func(*endpoint, http.ResponseWriter, *http.Request, *exchange, http.Header){
	string(mcpgo.MethodResourcesSubscribe):   (*endpoint).subscribe,
	string(mcpgo.MethodResourcesUnsubscribe): (*endpoint).unsubscribe,
	string(mcpgo.MethodSubscriptionsListen):  (*endpoint).listenTo,
}

// pass answers the message.
func (e *endpoint) pass(w http.ResponseWriter, r *http.Request, x *exchange, header http.Header) {
	e.content.prepare(r.Context(), x)
	if x.message.method == string(mcpgo.MethodToolsCall) {
		var err *rpcError
		if x.call, err = x.message.readToolCall(); err != nil {
			sendError(w, statusOf(x.version, err.Code), x.message.id, err)
			return
		}
		if e.content.challenge(w, r, x) {
			return
		}
	}
	if serve := ours[x.message.method]; serve != nil && x.message.id != nil {
		serve(e, w, r, x, header)
		return
	}
	e.forward(w, r, x, header)
}

// forward passes the message to the transport and adapts its response.
func (e *endpoint) forward(w http.ResponseWriter, r *http.Request, x *exchange, header http.Header) {
	out := newReply(w, func(status int, body []byte) (int, []byte) { return e.settle(w, x, status, body) })
	x.reply = out
	e.transport.Handle(out, x.request(r, header))
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
func (e *endpoint) send(w http.ResponseWriter, x *exchange, result any) {
	body, err := json.Marshal(resultReply{mcpgo.JSONRPC_VERSION, x.message.id, result})
	if err != nil {
		x.refused = &refusal{err: errFault(x.faultID), status: http.StatusOK}
	}
	x.ran = true
	status, body := e.settle(w, x, http.StatusOK, body)
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
func (e *endpoint) settle(w http.ResponseWriter, x *exchange, status int, body []byte) (int, []byte) {
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
		body, err = e.dress(w, x, body)
	}
	if err != nil {
		answered.Error = rpcErrorf(codeInternal, "reading the transport's answer: %v", err)
	}
	if answered.Error == nil {
		return status, body
	}
	reworded := e.content.reword(x, answered.Error)
	return statusOf(x.version, reworded.Code), encodeError(x.message.id, reworded)
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
