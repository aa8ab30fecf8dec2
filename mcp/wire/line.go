package wire

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"

	mcpgo "github.com/mark3labs/mcp-go/mcp"
)

// spareLine lets a line exceed the limit for messages. The message is then refused with a proper response.
const spareLine = 64 << 10

// mostAtOnce limits concurrent requests.
const mostAtOnce = 16

// lines is a connection over a pair of streams.
type lines struct {
	endpoint *Endpoint
	caller   Peer
	// session was opened by the last initialize; unhear ends its stream.
	session SessionID
	unhear  context.CancelFunc
	// subscribed is set once the session has subscribed to a resource.
	subscribed bool
	slots      chan struct{}
	// answering counts the requests that must finish after the end of input, listening counts the streams.
	answering, listening sync.WaitGroup

	// mu serializes responses.
	mu  sync.Mutex
	out io.Writer
	bad error
	// open holds the subscriptions by the ids of their requests.
	open map[string]context.CancelFunc
}

// ServeLines serves one caller over a pair of streams (MCP "stdio"), with one message per line in both directions. Each
// message passes through the same layer as over HTTP. ServeLines returns when the input ends and its requests are
// answered, or when ctx is done.
func (e *Endpoint) ServeLines(ctx context.Context, caller Peer, in io.Reader, out io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	l := &lines{
		endpoint: e, caller: caller, out: out, unhear: func() {}, slots: make(chan struct{}, mostAtOnce),
		open: make(map[string]context.CancelFunc),
	}
	defer func() {
		cancel()
		l.end(context.WithoutCancel(ctx))
	}()
	messages, ended := make(chan []byte), make(chan error, 1)
	go func() { ended <- l.read(ctx, in, messages) }()
	for {
		select {
		case <-ctx.Done():
			return nil
		case err := <-ended:
			l.answering.Wait()
			return errors.Join(err, l.fault())
		case line := <-messages:
			l.take(ctx, line)
		}
	}
}

// read passes on the input line by line. A blocked read cannot be interrupted.
func (l *lines) read(ctx context.Context, in io.Reader, messages chan<- []byte) error {
	scanner := bufio.NewScanner(in)
	longest := int(l.endpoint.limits.BodyBytes) + spareLine
	scanner.Buffer(nil, 2*longest)
	scanner.Split(cutLines(longest))
	for scanner.Scan() {
		if len(bytes.TrimSpace(scanner.Bytes())) == 0 {
			continue
		}
		select {
		case messages <- bytes.Clone(scanner.Bytes()):
		case <-ctx.Done():
			return nil
		}
	}
	if err := scanner.Err(); err != nil {
		return fmt.Errorf("reading messages: %w", err)
	}
	return nil
}

// cutLines splits a text into lines. A line that is too long for a message is truncated, and then refused for its
// length like any long message. Later lines are still served.
func cutLines(longest int) bufio.SplitFunc {
	skipping := false
	return func(data []byte, atEOF bool) (advance int, line []byte, err error) {
		end := bytes.IndexByte(data, '\n')
		switch {
		case skipping && end >= 0:
			skipping = false
			return end + 1, nil, nil
		case skipping:
			return len(data), nil, nil
		case end < 0 && len(data) >= longest:
			skipping = true
			return longest, data[:longest], nil
		}
		return bufio.ScanLines(data, atEOF)
	}
}

// take handles one message. It waits only for an initialize, because the next message needs the session. A subscription
// lasts as long as the connection, so the end of input does not wait for it.
func (l *lines) take(ctx context.Context, line []byte) {
	m, unreadable := parse(line)
	// JSON-RPC 2.0 §4.1: a notification never gets a response, not even an error.
	expected := unreadable != nil || m.id != nil
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://localhost/mcp", bytes.NewReader(line))
	if err != nil {
		l.fail(err)
		return
	}
	l.address(r.Header, m)
	switch m.Method {
	case string(mcpgo.MethodInitialize):
		if id := l.answer(r, expected).header.Get(SessionHeader); id != "" {
			l.begin(ctx, SessionID(id))
		}
	case string(mcpgo.MethodSubscriptionsListen):
		l.listen(r, m.id, expected)
	case MethodCancelled:
		l.unlisten(m)
		l.work(r, expected)
	default:
		l.subscribed = l.subscribed || m.Method == string(mcpgo.MethodResourcesSubscribe)
		l.work(r, expected)
	}
}

// work serves a request concurrently with others.
func (l *lines) work(r *http.Request, expected bool) {
	l.slots <- struct{}{}
	l.answering.Go(func() {
		defer func() { <-l.slots }()
		l.answer(r, expected)
	})
}

// end waits for the streams, and deletes the session's subscriptions: no later connection can resume them.
func (l *lines) end(ctx context.Context) {
	l.listening.Wait()
	ctx, cancel := context.WithTimeout(ctx, closeTimeout)
	defer cancel()
	if l.subscribed {
		l.endpoint.content.Forget(ctx, l.session)
	}
}

// begin switches to a new session. Its notifications arrive on the same connection: begin opens an event stream, and
// reopens it when it expires.
func (l *lines) begin(ctx context.Context, id SessionID) {
	l.unhear()
	l.session = id
	ctx, l.unhear = context.WithCancel(ctx)
	l.listening.Go(func() {
		for streamed := true; streamed && ctx.Err() == nil; {
			r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://localhost/mcp", http.NoBody)
			if err != nil {
				l.fail(err)
				return
			}
			r.Header.Set(SessionHeader, string(id))
			streamed = l.answer(r, false).status == http.StatusOK
		}
	})
}

// listen serves a subscription until the connection ends or the client cancels it.
func (l *lines) listen(r *http.Request, id json.RawMessage, expected bool) {
	ctx, cancel := context.WithCancel(r.Context())
	l.mu.Lock()
	l.open[string(id)] = cancel
	l.mu.Unlock()
	l.listening.Go(func() {
		defer cancel()
		l.answer(r.WithContext(ctx), expected)
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.open, string(id))
	})
}

// unlisten ends the subscription that a client cancels. Over HTTP the client would close the response instead.
func (l *lines) unlisten(m Message) {
	var params struct {
		RequestID json.RawMessage `json:"requestId"`
	}
	if json.Unmarshal(m.Params, &params) != nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if end := l.open[string(params.RequestID)]; end != nil {
		end()
	}
}

// answer passes a message through the layer, and returns the reply.
func (l *lines) answer(r *http.Request, expected bool) *lineReply {
	w := &lineReply{verdict{header: make(http.Header)}, l}
	l.endpoint.Serve(w, r, l.caller)
	if expected {
		l.write(w.body.Bytes())
	}
	return w
}

// address adds the headers that HTTP clients would send. From 2026-07-28 on they repeat parts of the message; earlier
// versions name the session.
func (l *lines) address(header http.Header, m Message) {
	header.Set("Content-Type", "application/json")
	header.Set("Accept", "application/json, text/event-stream")
	declared := m.declared()
	if !declared.Modern() {
		if l.session != "" && m.Method != string(mcpgo.MethodInitialize) {
			header.Set(SessionHeader, string(l.session))
		}
		return
	}
	header.Set(VersionHeader, string(declared))
	header.Set("Mcp-Method", m.Method)
	var named struct {
		Name string `json:"name"`
		URI  string `json:"uri"`
	}
	// The layer reports params that cannot be parsed.
	if json.Unmarshal(m.Params, &named) == nil && named.Name+named.URI != "" {
		header.Set("Mcp-Name", named.Name+named.URI)
	}
}

// write sends a message as one line.
func (l *lines) write(body []byte) {
	var line bytes.Buffer
	if len(body) == 0 {
		return
	}
	if err := json.Compact(&line, body); err != nil {
		l.fail(err)
		return
	}
	line.WriteByte('\n')
	l.mu.Lock()
	_, err := l.out.Write(line.Bytes())
	l.mu.Unlock()
	l.fail(err)
}

// fail keeps the connection's first error.
func (l *lines) fail(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.bad == nil && err != nil {
		l.bad = fmt.Errorf("answering: %w", err)
	}
}

func (l *lines) fault() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.bad
}

// lineReply receives the layer's response. Events of a stream are sent immediately. The client does not get the HTTP
// status, which adds nothing to the response.
type lineReply struct {
	verdict
	lines *lines
}

// Write implements http.ResponseWriter.
func (p *lineReply) Write(data []byte) (int, error) {
	if p.header.Get("Content-Type") != "text/event-stream" {
		return p.verdict.Write(data)
	}
	for line := range bytes.Lines(data) {
		if event, ok := bytes.CutPrefix(line, []byte("data: ")); ok {
			p.lines.write(event)
		}
	}
	return len(data), nil
}
