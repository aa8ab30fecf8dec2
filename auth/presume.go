package auth

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"sync/atomic"

	"caldav-mcp-server/calendar"
)

// Presumed is whose credentials a request came with, and the generation in which they were good last. Whether they are still is not asked
// before the request is worked on: the store looks when it keeps what is written, with the same statement. Until then nothing is
// answered, and where it is not so, or anything else is to be known or done, the request is worked on once more, with its credentials
// asked for first.
type Presumed struct {
	Subject
	Generation int64
	// settled tells that the store has looked, or cannot tell what came of it.
	settled atomic.Bool
}

// ErrAskFirst ends the work on a request whose credentials are presumed to be good: nothing of it was kept.
var ErrAskFirst = errors.New("the credentials have to be asked for first")

// mostPresumed bounds the body of a request that may be worked on twice: as long as that it is held.
const mostPresumed = 64 << 10

// presuming is the context of a request that is worked on so, unless it asks for what cannot be.
func presuming(r *http.Request) (context.Context, *Presumed) {
	asked := AlongOf(r.Context())
	if asked == nil || asked.Object == "" || r.ContentLength < 0 || r.ContentLength > mostPresumed || r.Header.Get("Expect") != "" {
		return nil, nil
	}
	p := &Presumed{}
	return context.WithValue(r.Context(), alongKey{}, &Along{At: asked.At, Object: asked.Object, Fresh: asked.Fresh, presumed: p}), p
}

// Presumed is nil where the credentials were asked for, or have been looked at since.
func (a *Along) Presumed() *Presumed {
	if a == nil || a.presumed == nil || a.presumed.settled.Load() {
		return nil
	}
	return a.presumed
}

// Settle lets the request be answered: what it wrote was kept, or nobody knows whether it was, and so it is not to be done again.
func (p *Presumed) Settle() { p.settled.Store(true) }

// presume lets in whoever was let in with this credential before.
func (s *Service) presume(p *Presumed, a attempt) (calendar.Caller, error) {
	last, known := s.memory.latest(a.digest)
	if !known || !last.good(s.now()) {
		return calendar.Caller{}, ErrAskFirst
	}
	p.Subject, p.Generation = a.subject, last.generation
	return last.caller, nil
}

// tried works on a request whose credentials are presumed to be good, and tells whether it was answered. If not, nothing has come of it.
func (s *Service) tried(d Door, w http.ResponseWriter, r *http.Request, next Handler) bool {
	ctx, p := presuming(r)
	if p == nil {
		return false
	}
	caller, err := s.identify(d, r.WithContext(ctx))
	if err != nil || !s.store.Presume(ctx, caller.User.ID) {
		return false
	}
	body, answer := &heldBody{ReadCloser: r.Body}, &heldAnswer{ResponseWriter: w, presumed: p, header: w.Header().Clone()}
	trial := r.WithContext(ctx)
	trial.Body = body
	next(answer, trial, caller)
	if !p.settled.Load() {
		r.Body = body.again()
		return false
	}
	s.noteUse(caller)
	answer.pass(http.StatusOK)
	return true
}

// heldBody holds what was read of a body, so that it can be read again.
type heldBody struct {
	io.ReadCloser
	read bytes.Buffer
	err  error
}

func (b *heldBody) Read(p []byte) (n int, err error) {
	n, err = b.ReadCloser.Read(p)
	b.read.Write(p[:n])
	b.err = err
	return n, err
}

// Close leaves the body open for whoever reads it again.
func (b *heldBody) Close() error { return nil }

// again is the body from its beginning.
func (b *heldBody) again() io.ReadCloser {
	rest := io.Reader(b.ReadCloser)
	if b.err != nil {
		rest = failing{b.err}
	}
	return struct {
		io.Reader
		io.Closer
	}{io.MultiReader(&b.read, rest), b.ReadCloser}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// heldAnswer is an answer that nobody gets before what it rests on is settled.
type heldAnswer struct {
	http.ResponseWriter
	presumed *Presumed
	header   http.Header
	passed   bool
}

// Header is the answer's own until it is passed on.
func (a *heldAnswer) Header() http.Header {
	if a.passed {
		return a.ResponseWriter.Header()
	}
	return a.header
}

// WriteHeader passes the answer on from here, or drops it.
func (a *heldAnswer) WriteHeader(status int) {
	if a.presumed.settled.Load() {
		a.pass(status)
	}
}

func (a *heldAnswer) pass(status int) {
	if a.passed {
		return
	}
	h := a.ResponseWriter.Header()
	clear(h)
	maps.Copy(h, a.header)
	a.passed = true
	a.ResponseWriter.WriteHeader(status)
}

func (a *heldAnswer) Write(p []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	if !a.passed {
		return len(p), nil
	}
	return a.ResponseWriter.Write(p)
}

// FlushError implements what [http.ResponseController] asks for.
func (a *heldAnswer) FlushError() error {
	if !a.passed {
		return nil
	}
	return http.NewResponseController(a.ResponseWriter).Flush()
}

// Unwrap lets [http.ResponseController] reach the connection.
func (a *heldAnswer) Unwrap() http.ResponseWriter { return a.ResponseWriter }
