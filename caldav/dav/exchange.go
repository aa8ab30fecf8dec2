package dav

import (
	"io"
	"net/http"
	"strconv"

	"caldav-mcp-server/calendar/meter"
)

// Exchange is a request and its response.
type Exchange struct {
	W http.ResponseWriter
	R *http.Request
	// Meter counts the cost of the response.
	Meter *meter.Meter
	// Begun is set once a part of a streamed response has been sent.
	Begun  bool
	server *Server
	// guard checks the tokens of the body for its decoder.
	guard *Guard
}

// Guard returns the guard of the XML body that is being read.
func (x *Exchange) Guard() *Guard { return x.guard }

// Markup takes a buffer from the pool; Release returns it.
func (x *Exchange) Markup() *Markup { return x.server.Markup() }

// Release returns a buffer to the pool.
func (x *Exchange) Release(m *Markup) { x.server.Release(m) }

// Refuse answers with a refusal.
func (x *Exchange) Refuse(f *StatusError) {
	m := x.Markup()
	defer x.Release(m)
	m.failure(f)
	x.Reply(f.Status, f.mediaType(), m.Buf)
}

// Reply sends a complete response.
func (x *Exchange) Reply(status int, mediaType string, body []byte) {
	h := x.W.Header()
	h.Set("Content-Type", mediaType)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	x.W.WriteHeader(status)
	// If the client has gone, there is no way to report the error.
	_, _ = x.W.Write(body)
}

// Done answers a write without a body.
func (x *Exchange) Done(created bool) error {
	if created {
		return x.Blank(http.StatusCreated)
	}
	x.W.WriteHeader(http.StatusNoContent)
	return nil
}

// Blank answers with a status and no body.
func (x *Exchange) Blank(status int) error {
	x.W.Header().Set("Content-Length", "0")
	x.W.WriteHeader(status)
	return nil
}

// streamed is a response sent in parts. Once it has begun, no error can be reported.
type streamed struct{ x *Exchange }

// Stream returns a writer for a response that is sent in parts. Once it has begun, no error can be reported.
func (x *Exchange) Stream() io.Writer { return streamed{x} }

func (s streamed) Write(p []byte) (int, error) {
	s.x.Begun = true
	s.x.Meter.Rest() // the client may take its time
	return s.x.W.Write(p)
}

// Exchange begins an exchange.
func (s *Server) Exchange(w http.ResponseWriter, r *http.Request) *Exchange {
	return &Exchange{W: w, R: r, server: s}
}
