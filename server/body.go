package server

import (
	"io"
	"net/http"
	"time"
)

// body reads a request's body under two deadlines: one for each stretch without a byte, one
// for all of it.
type body struct {
	io.ReadCloser
	control *http.ResponseController
	now     func() time.Time
	stall   time.Duration
	end     time.Time
	done    bool
	// invited tells that the client waits for a word before it sends the body (Expect: 100-continue), begun that it got one.
	invited, begun bool
}

const (
	// drainMost and drainFor bound what is read of a body that nobody wants.
	drainMost = 16 << 20
	drainFor  = 10 * time.Second
)

func (b *body) Read(p []byte) (int, error) {
	b.begun = true
	if !b.done {
		b.renew()
	}
	n, err := b.ReadCloser.Read(p)
	if err != nil {
		b.finish()
	}
	return n, err
}

func (b *body) renew() {
	deadline := b.now().Add(b.stall)
	if deadline.After(b.end) {
		deadline = b.end
	}
	_ = b.control.SetReadDeadline(deadline)
}

// finish takes the deadline away: after the body net/http goes on reading to notice when the
// client hangs up, and would take a deadline that passes for that.
func (b *body) finish() {
	if !b.done {
		b.done = true
		_ = b.control.SetReadDeadline(time.Time{})
	}
}

// drain reads what the handler left unread, before the answer leaves: after it net/http reads no more. A connection that is closed with bytes unread is
// reset, which overtakes the answer: proxies then say 502 in place of what we said, and apps take that for "try again".
func (b *body) drain() {
	if b.done || b.invited && !b.begun {
		return
	}
	if soon := b.now().Add(drainFor); soon.Before(b.end) {
		b.end = soon
	}
	_, _ = io.CopyN(io.Discard, b, drainMost)
	if !b.done {
		b.renew() // for what net/http reads of it
	}
}
