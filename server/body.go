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
}

func (b *body) Read(p []byte) (int, error) {
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

// rest bounds the time in which net/http throws away what the handler left unread.
func (b *body) rest(there bool) {
	if there && !b.done {
		b.renew()
	}
}
