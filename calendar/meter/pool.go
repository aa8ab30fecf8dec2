package meter

import (
	"context"
	"slices"
	"sync"
	"time"
)

// Config is what a Pool is made of.
type Config struct {
	// Bytes is what all requests may hold together, beyond what each has free. One request may go beyond that
	// by what Limits.Held lets it.
	Bytes int64
	// Turns is how many requests that take long may work at once: as many as there are processors.
	Turns int
	// Limits are each request's.
	Limits Limits
	// Wait is the longest that a request waits for room, Line how many may wait.
	Wait time.Duration
	Line int
	// Refuse makes the error of an overrun; nil for the overrun itself.
	Refuse func(*OverrunError) error
}

// Pool is what the requests of a process have together: memory, drawn by the byte, and turns at a processor. A request that
// holds nothing yet waits in line and gets room when there is some, but no more than half for one user. A request that holds
// some goes before those; where there is no room for it, one such request at a time goes over the pool's size, up to its
// own limit, so that there always is one that gets to its end: those who hold and wait cannot block each other.
type Pool struct {
	size   int64
	limits Limits
	wait   time.Duration
	most   int
	refuse func(*OverrunError) error
	turns  chan struct{}

	mu   sync.Mutex
	used int64
	// by is what each user has of used.
	by map[string]int64
	// over is the request that may go over the size.
	over *Meter
	// growing are those who wait and hold some, coming those who hold nothing.
	growing, coming []*waiter
}

// waiter is a request that waits for bytes.
type waiter struct {
	meter   *Meter
	bytes   int64
	granted chan struct{}
}

// NewPool makes a pool.
func NewPool(c Config) *Pool {
	refuse := c.Refuse
	if refuse == nil {
		refuse = func(o *OverrunError) error { return o }
	}
	limits := c.Limits
	if limits.Held == 0 || limits.Held > c.Bytes {
		limits.Held = c.Bytes // what asks for more would wait for ever
	}
	return &Pool{
		size: c.Bytes, limits: limits, wait: c.Wait, most: c.Line, refuse: refuse,
		turns: make(chan struct{}, max(c.Turns, 1)), by: map[string]int64{},
	}
}

// Meter makes the meter of a request of somebody, which ends with ctx. Its maker closes it.
func (p *Pool) Meter(ctx context.Context, who string) *Meter {
	return &Meter{ctx: ctx, pool: p, who: who, rotate: turnAfter}
}

// Used tells how many bytes are drawn.
func (p *Pool) Used() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.used
}

// draw takes bytes for a request, or waits for them.
func (p *Pool) draw(m *Meter, bytes int64) error {
	p.mu.Lock()
	if p.take(m, bytes) {
		p.mu.Unlock()
		return nil
	}
	if len(p.growing)+len(p.coming) >= p.most {
		p.mu.Unlock()
		return p.refuse(&OverrunError{Room, p.size})
	}
	w := &waiter{m, bytes, make(chan struct{})}
	line := p.line(m)
	*line = append(*line, w)
	p.serve() // those before may all wait for what their own user has
	p.mu.Unlock()
	m.Rest()
	return p.await(w)
}

// await waits until the bytes are granted, the client has gone, or it has taken too long.
func (p *Pool) await(w *waiter) error {
	timer := time.NewTimer(p.wait)
	defer timer.Stop()
	var err error
	select {
	case <-w.granted:
		return nil
	case <-w.meter.ctx.Done():
		err = w.meter.ctx.Err()
	case <-timer.C:
		err = p.refuse(&OverrunError{Room, p.size})
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	line := p.line(w.meter)
	i := slices.Index(*line, w)
	if i < 0 {
		return nil // granted at the same moment: the meter has them, and gives them back
	}
	*line = slices.Delete(*line, i, i+1)
	p.serve() // those behind may be smaller
	return err
}

// line is where a request waits.
func (p *Pool) line(m *Meter) *[]*waiter {
	if m.drawn > 0 {
		return &p.growing
	}
	return &p.coming
}

// take gives a request its bytes at once, unless others wait for theirs. The one that they may be waiting for does not.
func (p *Pool) take(m *Meter, bytes int64) bool {
	if p.over != m && (len(p.growing) > 0 || m.drawn == 0 && len(p.coming) > 0) {
		return false
	}
	return p.grant(m, bytes)
}

// grant gives a request bytes, if it can have them.
func (p *Pool) grant(m *Meter, bytes int64) bool {
	grows := m.drawn > 0
	fits := p.used+bytes <= p.size && (grows || p.mine(m, bytes))
	if !fits {
		if !grows || p.over != nil && p.over != m {
			return false
		}
		p.over = m
	}
	p.used += bytes
	p.by[m.who] += bytes
	m.drawn += bytes
	return true
}

// mine tells whether a request is within its user's half. A user who has nothing gets the part of one request.
func (p *Pool) mine(m *Meter, bytes int64) bool {
	return p.by[m.who] == 0 || p.by[m.who]+bytes <= p.size/2
}

// give takes bytes back.
func (p *Pool) give(m *Meter, bytes int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	m.drawn -= bytes
	p.used -= bytes
	if p.by[m.who] -= bytes; p.by[m.who] == 0 {
		delete(p.by, m.who)
	}
	if p.used <= p.size || p.over == m && m.drawn == 0 {
		p.over = nil
	}
	p.serve()
}

// serve lets waiters in: first all who hold some, then by turns those who have just come, past those whose user has
// enough for now.
func (p *Pool) serve() {
	for len(p.growing) > 0 {
		if !p.let(&p.growing, 0) {
			return
		}
	}
	for i := 0; i < len(p.coming); {
		w := p.coming[i]
		if !p.mine(w.meter, w.bytes) {
			i++
		} else if !p.let(&p.coming, i) {
			return
		}
	}
}

func (p *Pool) let(line *[]*waiter, i int) bool {
	w := (*line)[i]
	if !p.grant(w.meter, w.bytes) {
		return false
	}
	*line = slices.Delete(*line, i, i+1)
	close(w.granted)
	return true
}

// pass lets a request go on that has taken many steps. So many as there are processors do, by turns: those who ask for little
// never stand behind more than these.
func (p *Pool) pass(m *Meter) error {
	if m.steps < m.rotate {
		return nil
	}
	m.Rest()
	select {
	case p.turns <- struct{}{}:
		m.turn, m.look, m.rotate = true, m.steps+lookEvery, m.steps+turnAfter
		return nil
	case <-m.ctx.Done():
		return m.ctx.Err()
	}
}
