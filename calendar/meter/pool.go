package meter

import (
	"context"
	"slices"
	"sync"
	"time"
)

// Config is the configuration of a Pool.
type Config struct {
	// Bytes is the memory for all requests together, in addition to the free part of each. One request at a time
	// may exceed it, up to Limits.Held.
	Bytes int64
	// Turns is the number of long requests that may work at the same time: the number of processors.
	Turns int
	// Limits are the limits of each request.
	Limits Limits
	// Wait is the maximum time that a request waits for memory, Line is the maximum number of waiting requests.
	Wait time.Duration
	Line int
	// Refuse converts the error of an overrun; nil returns the OverrunError itself.
	Refuse func(*OverrunError) error
}

// Pool holds the resources that the requests of a process share: memory and turns on a processor. A request without
// memory from the pool waits in a queue until there is room, and one user may have at most half of the pool. A
// request that already has memory goes first. If there is no room for it, one such request at a time may exceed the
// pool's size, up to its own limit. So one request can always finish, and requests that wait while they hold memory
// cannot deadlock.
type Pool struct {
	size   int64
	limits Limits
	wait   time.Duration
	most   int
	refuse func(*OverrunError) error
	turns  chan struct{}

	mu   sync.Mutex
	used int64
	// by is the part of used that each user has.
	by map[string]int64
	// over is the request that may exceed the size.
	over *Meter
	// growing are the waiting requests that already have memory, coming are the ones that have none.
	growing, coming []*waiter
}

// waiter is a request that waits for memory.
type waiter struct {
	meter   *Meter
	bytes   int64
	granted chan struct{}
}

// NewPool creates a pool.
func NewPool(c Config) *Pool {
	refuse := c.Refuse
	if refuse == nil {
		refuse = func(o *OverrunError) error { return o }
	}
	limits := c.Limits
	if limits.Held == 0 || limits.Held > c.Bytes {
		limits.Held = c.Bytes // a larger request would wait forever
	}
	return &Pool{
		size: c.Bytes, limits: limits, wait: c.Wait, most: c.Line, refuse: refuse,
		turns: make(chan struct{}, max(c.Turns, 1)), by: map[string]int64{},
	}
}

// Meter creates the meter of a user's request. It ends with ctx; the caller must close it.
func (p *Pool) Meter(ctx context.Context, who string) *Meter {
	return &Meter{ctx: ctx, pool: p, who: who, rotate: turnAfter}
}

// Used returns the number of allocated bytes.
func (p *Pool) Used() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.used
}

// draw allocates memory for a request, or waits for it.
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
	p.serve() // all earlier waiters may be blocked by their own user's limit
	p.mu.Unlock()
	m.Rest()
	return p.await(w)
}

// await waits until the memory is granted, the client has gone, or the wait times out.
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
		return nil // granted at the same moment: the meter has the memory and returns it later
	}
	*line = slices.Delete(*line, i, i+1)
	p.serve() // later waiters may need less
	return err
}

// line returns the queue of a waiting request.
func (p *Pool) line(m *Meter) *[]*waiter {
	if m.drawn > 0 {
		return &p.growing
	}
	return &p.coming
}

// take allocates memory at once, unless other requests wait. The request that may exceed the size need not wait,
// because the others may be waiting for it.
func (p *Pool) take(m *Meter, bytes int64) bool {
	if p.over != m && (len(p.growing) > 0 || m.drawn == 0 && len(p.coming) > 0) {
		return false
	}
	return p.grant(m, bytes)
}

// grant allocates memory for a request if there is room.
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

// mine reports whether a request stays within its user's half. A user without memory may always have one request.
func (p *Pool) mine(m *Meter, bytes int64) bool {
	return p.by[m.who] == 0 || p.by[m.who]+bytes <= p.size/2
}

// give returns memory to the pool.
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

// serve grants memory to waiters: first to all that already have some, then in order to the new ones. It skips new
// ones whose user has enough for now.
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

// pass makes a request with many steps wait for its turn. As many requests work in turns as there are processors,
// so a small request never waits for more than these.
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
