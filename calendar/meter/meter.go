// Package meter counts what a request costs while it is worked for: the bytes that it holds and writes, the instances that
// it makes and the steps of its work. All requests of a process draw on one [Pool].
package meter

import (
	"context"
	"fmt"
)

// Resource is something that a request has a bounded share of.
type Resource uint8

// The resources there are.
const (
	// Held is the bytes that a request has in memory at one time.
	Held Resource = iota
	// Written is the bytes of text that were made for an answer, as opposed to stored bytes that are passed on.
	Written
	// Instances is how many instances of series were made.
	Instances
	// Steps is work: a step looks at a property, an instance, or some 64 bytes of text, and takes about 100 ns.
	Steps
	// Room is what the pool has for all requests together.
	Room
)

var resourceNames = [...]string{
	Held: "bytes in memory", Written: "bytes of text", Instances: "instances", Steps: "steps of work", Room: "bytes for all requests",
}

// String names the resource.
func (r Resource) String() string { return resourceNames[r] }

// OverrunError says that a request wants more of something than it gets.
type OverrunError struct {
	Of    Resource
	Limit int64
}

// Error says it in one sentence.
func (o *OverrunError) Error() string { return fmt.Sprintf("it takes more than %d %s", o.Limit, o.Of) }

// Limits bound what one request may have; 0 is no bound but, for Held, the pool.
type Limits struct {
	Held, Written, Instances, Steps int64
}

// Meter counts for one request. It is handed down as an argument to where the work is done, before the work is done, and
// its errors end the request. One goroutine uses it at a time. The nil Meter counts nothing: the operator's commands have it.
type Meter struct {
	ctx  context.Context
	pool *Pool
	// who is the user from whose share of the pool the request takes.
	who string
	// held is what the request holds, drawn how much of that came out of the pool.
	held, drawn               int64
	written, instances, steps int64
	// look is at how many steps there is something to look at, rotate at how many the turn goes to others who wait.
	look, rotate int64
	turn         bool
}

const (
	// free is what each request may hold without asking the pool, so that usual ones never do.
	free = 256 << 10
	// draught is what the pool gives out at a time, and spare what a meter keeps of what it no longer holds.
	draught = 64 << 10
	spare   = 1 << 20
	// lookEvery is after how many steps the request's end is looked for, and turnAfter how many a request may take before
	// it stands in line for a processor.
	lookEvery = 1_000
	turnAfter = 30_000
)

// Hold counts bytes that the request is about to have in memory. It may wait for room in the pool. What failed is not
// counted.
func (m *Meter) Hold(bytes int64) error {
	if m == nil {
		return nil
	}
	wanted := m.held + bytes - free
	if wanted <= m.drawn {
		m.held += bytes
		return nil
	}
	if over(m.held+bytes, m.pool.limits.Held) {
		return m.pool.refuse(&OverrunError{Held, m.pool.limits.Held})
	}
	if err := m.pool.draw(m, (wanted-m.drawn+draught-1)/draught*draught); err != nil {
		return err
	}
	m.held += bytes
	return nil
}

// Free counts bytes that the request no longer has in memory.
func (m *Meter) Free(bytes int64) {
	if m == nil {
		return
	}
	m.held -= bytes
	if needed := max(m.held-free, 0); m.drawn-needed >= spare || needed == 0 && m.drawn > 0 {
		m.pool.give(m, m.drawn-needed)
	}
}

// Write counts bytes of text that the request is about to make.
func (m *Meter) Write(bytes int64) error {
	if m == nil {
		return nil
	}
	return m.count(&m.written, bytes, Written, m.pool.limits.Written)
}

// Instance counts instances that the request is about to make.
func (m *Meter) Instance(n int64) error {
	if m == nil {
		return nil
	}
	return m.count(&m.instances, n, Instances, m.pool.limits.Instances)
}

func (m *Meter) count(used *int64, more int64, of Resource, limit int64) error {
	if over(*used+more, limit) {
		return m.pool.refuse(&OverrunError{of, limit})
	}
	*used += more
	return nil
}

func over(used, limit int64) bool { return limit > 0 && used > limit }

// Work counts steps of work that is about to be done. Every thousand or so it looks whether anybody still waits for the
// answer; a request that has taken many waits for its turn.
func (m *Meter) Work(steps int64) error {
	if m == nil {
		return nil
	}
	if m.steps += steps; m.steps < m.look {
		return nil
	}
	m.look = m.steps + lookEvery
	if err := m.ctx.Err(); err != nil {
		return err
	}
	if over(m.steps, m.pool.limits.Steps) {
		return m.pool.refuse(&OverrunError{Steps, m.pool.limits.Steps})
	}
	return m.pool.pass(m)
}

// Text counts the work of looking through so many bytes of text once.
func (m *Meter) Text(bytes int) error { return m.Work(1 + int64(bytes)>>6) }

// Make counts text that is about to be made: its work, its bytes, and in how many copies it is held.
func (m *Meter) Make(bytes, copies int64) error {
	if err := m.Text(int(bytes)); err != nil {
		return err
	}
	if err := m.Write(bytes); err != nil {
		return err
	}
	return m.Hold(copies * bytes)
}

// Rest lets others work while the request waits for its client. Its next steps take a turn again.
func (m *Meter) Rest() {
	if m != nil && m.turn {
		m.turn, m.look, m.rotate = false, m.steps, m.steps
		<-m.pool.turns
	}
}

// Held tells how many bytes the request holds.
func (m *Meter) Held() int64 {
	if m == nil {
		return 0
	}
	return m.held
}

// Close gives back all that the request has.
func (m *Meter) Close() {
	if m == nil {
		return
	}
	m.Rest()
	m.held = 0
	if m.drawn > 0 {
		m.pool.give(m, m.drawn)
	}
}
