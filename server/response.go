package server

import (
	"context"
	"mime"
	"net/http"
	"time"
)

// response watches what a door answers and keeps a client that does not read from holding
// it for ever. The connection has a deadline for each stretch of progress, not for the whole answer:
// a stream may last for days.
type response struct {
	http.ResponseWriter
	control  *http.ResponseController
	now      func() time.Time
	stall    time.Duration
	deadline time.Time

	status int
	bytes  int64
	// stream is called when the answer turns out to be one that ends only with its connection.
	stream func()
}

// WriteHeader notes the status. The informational ones (RFC 9110 §15.2) are not the answer yet.
func (w *response) WriteHeader(status int) {
	if w.status == 0 && status >= http.StatusOK {
		w.begin(status)
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write passes on a piece of the body.
func (w *response) Write(p []byte) (int, error) {
	if w.status == 0 {
		w.begin(http.StatusOK)
	}
	w.renew()
	n, err := w.ResponseWriter.Write(p)
	w.bytes += int64(n)
	return n, err
}

// Flush sends what was written so far. It is here by name for libraries that ask for an
// [http.Flusher].
func (w *response) Flush() {
	_ = w.FlushError()
}

// FlushError is Flush for [http.ResponseController].
func (w *response) FlushError() error {
	if w.status == 0 {
		w.begin(http.StatusOK)
	}
	w.renew()
	return w.control.Flush()
}

// Unwrap lets [http.ResponseController] reach the connection.
func (w *response) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *response) begin(status int) {
	w.status = status
	if kind, _, _ := mime.ParseMediaType(w.Header().Get("Content-Type")); kind == "text/event-stream" {
		w.stream()
	}
}

// renew moves the deadline on, though not for each of a thousand small writes. A writer that
// takes no deadlines (a test's) has nobody to wait for.
func (w *response) renew() {
	now := w.now()
	if w.deadline.Sub(now) > w.stall*3/4 {
		return
	}
	w.deadline = now.Add(w.stall)
	_ = w.control.SetWriteDeadline(w.deadline)
}

// patience bounds, by deadlines on the connection, how long a request's body and its answer
// may stand still.
func (s *Server) patience(next http.Handler) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithCancel(r.Context())
		defer cancel()
		r = r.WithContext(ctx)
		control := http.NewResponseController(rw)
		w := &response{
			ResponseWriter: rw, control: control, now: s.config.Now, stall: s.config.Timeouts.Stall,
			stream: func() { s.endOnStop(ctx, r.Method, cancel) },
		}
		body := &body{ReadCloser: r.Body, control: control, now: s.config.Now, stall: w.stall, end: s.config.Now().Add(s.config.Timeouts.Body), invited: r.Header.Get("Expect") != ""}
		uploads := r.Body != nil && r.Body != http.NoBody
		if uploads {
			r.Body = body
		}
		next.ServeHTTP(w, r)
		if uploads && r.ProtoMajor == 1 {
			body.drain()
		}
		// What is still in buffers is sent by net/http after this.
		w.deadline = time.Time{}
		w.renew()
	})
}

// endOnStop makes a stop end a stream that a client only listens to. One that answers a POST is a
// request in flight and gets its time.
func (s *Server) endOnStop(ctx context.Context, method string, cancel context.CancelFunc) {
	if method != http.MethodGet {
		return
	}
	unhook := context.AfterFunc(s.stopping, cancel) //nolint:contextcheck // the server's own end, not the request's
	context.AfterFunc(ctx, func() { unhook() })
}
