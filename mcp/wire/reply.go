package wire

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
)

// settler adapts the transport's response: see Endpoint.settle.
type settler func(status int, body []byte) (int, []byte)

// reply is the writer for the transport. It buffers a JSON response until that is settled. Events of a stream pass
// through at once, and the response among them is settled on the way.
type reply struct {
	w      http.ResponseWriter
	settle settler

	// mu keeps keep-alive comments from splitting events.
	mu        sync.Mutex
	status    int
	body      bytes.Buffer
	streaming bool
	// asked is set once an elicitation was sent: the response is then the last event.
	asked bool
}

func newReply(w http.ResponseWriter, s settler) *reply { return &reply{w: w, settle: s} }

// Header implements server.HTTPResponseWriter.
func (p *reply) Header() http.Header { return p.w.Header() }

// CanStream implements server.HTTPResponseWriter.
func (p *reply) CanStream() bool { return true }

// WriteHeader implements server.HTTPResponseWriter.
func (p *reply) WriteHeader(status int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.status = status
	if p.asked {
		return
	}
	if p.w.Header().Get("Content-Type") != "text/event-stream" {
		return
	}
	p.streaming = true
	// nginx and similar proxies buffer responses unless told not to.
	p.w.Header().Set("X-Accel-Buffering", "no")
	p.w.WriteHeader(status)
}

// Write implements server.HTTPResponseWriter. The transport writes each event in one call.
func (p *reply) Write(data []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.streaming {
		return p.body.Write(data)
	}
	if _, err := p.w.Write(p.settleEvent(data)); err != nil { //nolint:gosec // G705: events of JSON, declared as such
		return 0, err
	}
	return len(data), nil
}

const eventPrefix, eventSuffix = "event: message\ndata: ", "\n\n"

// settleEvent settles an event that carries the response. Notifications pass unchanged.
func (p *reply) settleEvent(event []byte) []byte {
	data, ok := bytes.CutPrefix(event, []byte(eventPrefix))
	data, whole := bytes.CutSuffix(data, []byte(eventSuffix))
	if !ok || !whole {
		return event
	}
	if m, err := parse(data); err != nil || !m.Answer {
		return event
	}
	_, body := p.settle(p.status, data)
	return append(append([]byte(eventPrefix), bytes.TrimSpace(body)...), eventSuffix...)
}

// Flush implements server.HTTPResponseWriter.
func (p *reply) Flush() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.streaming {
		_ = http.NewResponseController(p.w).Flush() // the client may have disconnected
	}
}

// ask sends a request to the client before the response to its call.
func (p *reply) ask(request any) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.asked {
		p.asked = true
		beginEvents(p.w)
	}
	return sse{p.w}.send(request)
}

// wait keeps the connection alive while a user decides.
func (p *reply) wait() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return sse{p.w}.comment()
}

// finish sends the buffered response.
func (p *reply) finish() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.asked {
		// the stream has begun, even if the transport has changed the header since
		p.w.Header().Set("Content-Type", "text/event-stream")
		_, body := p.settle(p.status, p.body.Bytes())
		_ = sse{p.w}.send(json.RawMessage(body)) // the client may have disconnected
		return
	}
	if p.streaming || p.status == 0 {
		return
	}
	status, body := p.status, p.body.Bytes()
	if p.w.Header().Get("Content-Type") == "application/json" {
		status, body = p.settle(status, body)
	}
	p.w.WriteHeader(status)
	_, _ = p.w.Write(body) // the client may have disconnected
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

// Exchange is a request with its context. The tools find it in their context.Context, because the transport passes
// only that.
type Exchange struct {
	Caller  Peer
	Version Version
	// Session is the session of the request, or "".
	Session SessionID
	Message Message
	Call    ToolCall
	// FaultID identifies the log line of an internal error.
	FaultID string
	// Ran is set if a tool has answered. Refused is set if its response replaces the transport's.
	Ran     bool
	Refused *Refusal
	// Asks is set if the client supports elicitation by form, Opens if by page. reply is where an elicitation is sent.
	Asks, Opens bool
	reply       *reply
	// Shows is set if the client shows HTML pages next to results.
	Shows bool
}

type exchangeKey struct{}

// ExchangeOf returns the exchange of a request, or nil.
func ExchangeOf(ctx context.Context) *Exchange {
	x, _ := ctx.Value(exchangeKey{}).(*Exchange)
	return x
}
