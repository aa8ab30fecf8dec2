package server

import (
	"context"
	"mime"
	"net/http"
	"time"
)

// response records a door's response. It also keeps a client that does not read from holding the door forever: the
// connection has a deadline for each pause, but not for the whole response, since a stream may last for days.
type response struct {
	http.ResponseWriter
	control  *http.ResponseController
	now      func() time.Time
	stall    time.Duration
	deadline time.Time

	status int
	bytes  int64
	// stream is called when the response turns out to be an endless stream.
	stream func()
}

// WriteHeader records the status. Informational ones (RFC 9110 §15.2) are not final.
func (w *response) WriteHeader(status int) {
	if w.status == 0 && status >= http.StatusOK {
		w.begin(status)
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write writes a part of the body.
func (w *response) Write(p []byte) (int, error) {
	if w.status == 0 {
		w.begin(http.StatusOK)
	}
	w.renew()
	n, err := w.ResponseWriter.Write(p)
	w.bytes += int64(n)
	return n, err
}

// Flush sends buffered data. It exists for libraries that require an [http.Flusher].
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

// renew extends the deadline, but not for every small write. A writer without deadlines (in a test) needs none.
func (w *response) renew() {
	now := w.now()
	if w.deadline.Sub(now) > w.stall*3/4 {
		return
	}
	w.deadline = now.Add(w.stall)
	_ = w.control.SetWriteDeadline(w.deadline)
}

// patience limits, by deadlines on the connection, how long a request's body and its response may pause.
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
		body := &body{
			ReadCloser: r.Body, control: control, now: s.config.Now, stall: w.stall,
			end: s.config.Now().Add(s.config.Timeouts.Body), invited: r.Header.Get("Expect") != "",
		}
		uploads := r.Body != nil && r.Body != http.NoBody
		if uploads {
			r.Body = body
		}
		next.ServeHTTP(w, r)
		if uploads && r.ProtoMajor == 1 {
			body.drain()
		}
		// After this, net/http still sends the buffered rest.
		w.deadline = time.Time{}
		w.renew()
	})
}

// endOnStop ends a listening stream on shutdown. A stream that answers a POST is a request in flight and may finish.
func (s *Server) endOnStop(ctx context.Context, method string, cancel context.CancelFunc) {
	if method != http.MethodGet {
		return
	}
	unhook := context.AfterFunc(s.stopping, cancel) // the server's own end, not the request's
	context.AfterFunc(ctx, func() { unhook() })
}
