package wire

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
	"time"

	mcpgo "github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// post serves POST: one message, answered in the response.
func (e *Endpoint) post(w http.ResponseWriter, r *http.Request, caller Peer) {
	body, ok := e.readBody(w, r)
	if !ok {
		return
	}
	m, err := parse(body)
	x := &Exchange{Caller: caller, Message: m, FaultID: e.faultID(w)}
	header := r.Header.Clone()
	var wait time.Duration
	if err == nil && m.id != nil {
		wait = e.pace.take(caller.Owner)
	}
	switch {
	case err != nil && err.Code == CodeParams:
		sendError(w, StatusOf(headerVersion(r), err.Code), m.id, err)
	case err != nil:
		sendError(w, http.StatusBadRequest, m.id, err)
	case !e.agree(w, r, x, header):
	case wait > 0:
		e.limit(w, x, wait)
	case x.isStray():
		e.heed(r.Context(), x)
		w.WriteHeader(http.StatusAccepted)
	default:
		e.pass(w, r, x, header)
	}
}

// faultID identifies the log line of an internal error. It is the request id that package server has put into the
// response and its own log.
func (e *Endpoint) faultID(w http.ResponseWriter) string {
	if id := w.Header().Get("X-Request-Id"); id != "" {
		return id
	}
	return e.newID()
}

// readBody reads the message, up to the limit.
func (e *Endpoint) readBody(w http.ResponseWriter, r *http.Request) ([]byte, bool) {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		refuse(w, http.StatusUnsupportedMediaType, "the Content-Type must be application/json")
		return nil, false
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, e.limits.BodyBytes))
	var tooLarge *http.MaxBytesError
	switch {
	case err != nil && e.content.Revoked(err): // it was valid when the body began
		e.content.Unauthorized(w)
	case errors.As(err, &tooLarge):
		refuse(w, http.StatusRequestEntityTooLarge, fmt.Sprintf("a message has at most %d bytes", e.limits.BodyBytes))
	case err != nil:
		refuse(w, http.StatusBadRequest, "the body could not be read")
	}
	return body, err == nil
}

// agree determines the version and the session, and sets the headers for the transport accordingly.
func (e *Endpoint) agree(w http.ResponseWriter, r *http.Request, x *Exchange, header http.Header) bool {
	claimed := headerVersion(r)
	if declared := x.Message.declared(); declared.Modern() || claimed.Modern() {
		// The transport compares the two, and responds to an unsupported version.
		x.Version = max(declared, claimed)
		x.Asks, x.Opens = abilities(x.Message.capabilities())
		x.Shows = showsViews(x.Message.capabilities())
		header.Del(SessionHeader)
		return true
	}
	if x.Message.Method == string(mcpgo.MethodInitialize) {
		header.Del(VersionHeader)
		return true
	}
	if !claimed.known() {
		sendError(w, http.StatusBadRequest, x.Message.id, Errorf(CodeRequest, "%s", errVersion(claimed)))
		return false
	}
	x.Version = max(claimed, FirstVersion)
	id := SessionID(r.Header.Get(SessionHeader))
	if id == "" {
		header.Set(SessionHeader, string(e.sessions.once()))
		return true
	}
	s, ok := e.sessions.resume(x.Caller.Owner, id)
	if !ok {
		refuseSession(w)
		return false
	}
	x.Version, x.Session, x.Shows = s.Version, id, s.shows
	streams := acceptsEvents(r.Header.Values("Accept"))
	x.Asks, x.Opens = s.asks && streams, s.opens && streams
	header.Set(VersionHeader, string(s.Version))
	return true
}

// isStray reports whether a message is accepted but not passed on. Responses are for us only: see heed. So are
// cancellations of 2026-07-28, which has no sessions. mcp-go finds calls by session id and request id, so a user
// without a session could cancel another user's call. Clients of that version cancel by closing the response.
func (x *Exchange) isStray() bool {
	switch {
	case x.Version.Modern():
		return x.Message.Method == MethodCancelled
	case x.Message.Answer:
		return true
	default:
		return false
	}
}

// MethodCancelled is the notification that cancels a request.
const MethodCancelled = "notifications/cancelled"

// ours are the requests that we answer without mcp-go.
var ours = map[string]func(*Endpoint, http.ResponseWriter, *http.Request, *Exchange, http.Header){
	string(mcpgo.MethodResourcesSubscribe):   (*Endpoint).subscribe,
	string(mcpgo.MethodResourcesUnsubscribe): (*Endpoint).unsubscribe,
	string(mcpgo.MethodSubscriptionsListen):  (*Endpoint).listenTo,
	"skills/list":                            (*Endpoint).listSkills,
	"skills/get":                             (*Endpoint).getSkill,
}

// pass answers the message.
func (e *Endpoint) pass(w http.ResponseWriter, r *http.Request, x *Exchange, header http.Header) {
	e.content.Prepare(r.Context(), x)
	if x.Message.Method == string(mcpgo.MethodToolsCall) {
		var err *Error
		if x.Call, err = x.Message.readToolCall(); err != nil {
			sendError(w, StatusOf(x.Version, err.Code), x.Message.id, err)
			return
		}
		if e.content.Challenge(w, r, x) {
			return
		}
	}
	if serve := ours[x.Message.Method]; serve != nil && x.Message.id != nil {
		serve(e, w, r, x, header)
		return
	}
	e.forward(w, r, x, header)
}

// forward passes the message to the transport and adapts its response.
func (e *Endpoint) forward(w http.ResponseWriter, r *http.Request, x *Exchange, header http.Header) {
	out := newReply(w, func(status int, body []byte) (int, []byte) { return e.settle(w, x, status, body) })
	x.reply = out
	e.transport.Handle(out, x.request(r, header))
	out.finish()
}

// request is the message for the transport.
func (x *Exchange) request(r *http.Request, header http.Header) *server.HTTPRequest {
	return &server.HTTPRequest{
		Method: r.Method, URL: r.URL, Header: header, Body: x.Message.bytes(),
		Context: x.Within(r.Context()),
	}
}

// Within adds the exchange to a context.
func (x *Exchange) Within(ctx context.Context) context.Context {
	return context.WithValue(ctx, exchangeKey{}, x)
}

// send responds to a request that bypasses the transport: with a result, unless it was refused.
func (e *Endpoint) send(w http.ResponseWriter, x *Exchange, result any) {
	body, err := json.Marshal(resultReply{mcpgo.JSONRPC_VERSION, x.Message.id, result})
	if err != nil {
		x.Refused = &Refusal{Err: ErrFault(x.FaultID), Status: http.StatusOK}
	}
	x.Ran = true
	status, body := e.settle(w, x, http.StatusOK, body)
	writeJSON(w, status, body)
}

// resultReply is a JSON-RPC response with a result.
type resultReply struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  any             `json:"result"`
}

// settle adapts the transport's response.
func (e *Endpoint) settle(w http.ResponseWriter, x *Exchange, status int, body []byte) (int, []byte) {
	if x.Refused != nil {
		if x.Refused.Status == http.StatusServiceUnavailable {
			w.Header().Set("Retry-After", strconv.Itoa(RetryAfter))
		}
		return x.Refused.Status, encodeError(x.Message.id, x.Refused.Err)
	}
	if x.Ran || !x.isAnnouncement() && hasResult(body) {
		return status, body
	}
	var answered struct {
		Error *Error `json:"error"`
	}
	err := json.Unmarshal(body, &answered)
	if err == nil && answered.Error == nil && x.isAnnouncement() {
		body, err = e.dress(w, x, body)
	}
	if err != nil {
		answered.Error = Errorf(CodeInternal, "reading the transport's answer: %v", err)
	}
	if answered.Error == nil {
		return status, body
	}
	reworded := e.content.Reword(x, answered.Error)
	return StatusOf(x.Version, reworded.Code), encodeError(x.Message.id, reworded)
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

// endSession serves DELETE: the client ends its session.
func (e *Endpoint) endSession(w http.ResponseWriter, r *http.Request, caller Peer) {
	if headerVersion(r).Modern() {
		refuseSessionMethod(w, r)
		return
	}
	id := SessionID(r.Header.Get(SessionHeader))
	if id == "" {
		refuse(w, http.StatusBadRequest, "name the session in the header "+SessionHeader)
		return
	}
	if _, ok := e.sessions.resume(caller.Owner, id); !ok {
		refuseSession(w)
		return
	}
	e.sessions.end(id)
	e.streams.end(id)
	e.content.Forget(r.Context(), id)
	w.WriteHeader(http.StatusNoContent)
}
