package server

import (
	"io"
	"net/http"
	"time"
)

// body reads a request's body under two deadlines: one for each pause without a byte, one for the whole body.
type body struct {
	io.ReadCloser
	control *http.ResponseController
	now     func() time.Time
	stall   time.Duration
	end     time.Time
	done    bool
	// invited is set if the client waits for an invitation to send the body (Expect: 100-continue), begun if it got
	// one.
	invited, begun bool
}

const (
	// drainMost and drainFor limit the reading of an unwanted body.
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

// finish removes the deadline: net/http keeps reading after the body to notice a disconnect, and would mistake an
// expired deadline for one.
func (b *body) finish() {
	if !b.done {
		b.done = true
		_ = b.control.SetReadDeadline(time.Time{})
	}
}

// drain reads the unread rest of the body before the response is sent; net/http does not do it afterwards. Closing a
// connection with unread bytes resets it, and the reset overtakes the response. Proxies would then send a 502, which
// apps take for a temporary error.
func (b *body) drain() {
	if b.done || b.invited && !b.begun {
		return
	}
	if soon := b.now().Add(drainFor); soon.Before(b.end) {
		b.end = soon
	}
	_, _ = io.CopyN(io.Discard, b, drainMost)
	if !b.done {
		b.renew() // for the bytes that net/http reads
	}
}
