// Package meter measures the cost of a request: the bytes that it holds and writes, the instances that it creates
// and its steps of work. All requests of a process share one [Pool].
package meter

import (
	"context"
	"fmt"
)

// Resource is a limited resource of a request.
type Resource uint8

// The resources.
const (
	// Held is the number of bytes that a request has in memory at one time.
	Held Resource = iota
	// Written is the number of bytes of generated text. Stored bytes that are passed on do not count.
	Written
	// Instances is the number of generated instances of recurring objects.
	Instances
	// Steps is work. A step examines a property, an instance or about 64 bytes of text, and takes about 100 ns.
	Steps
	// Room is the memory of the pool for all requests.
	Room
)

var resourceNames = [...]string{
	Held: "bytes in memory", Written: "bytes of text", Instances: "instances", Steps: "steps of work",
	Room: "bytes for all requests",
}

// String returns the name of the resource.
func (r Resource) String() string { return resourceNames[r] }

// OverrunError reports that a request exceeds a limit.
type OverrunError struct {
	Of    Resource
	Limit int64
}

// Error returns the message.
func (o *OverrunError) Error() string { return fmt.Sprintf("it takes more than %d %s", o.Limit, o.Of) }

// Limits are the limits of one request; 0 means no limit, except that the pool limits Held.
type Limits struct {
	Held, Written, Instances, Steps int64
}

// Meter measures one request. It is passed as an argument to the code that does the work, and charged before the
// work is done. Its errors end the request. Only one goroutine may use it at a time. The nil Meter measures
// nothing; administrators' commands use it.
type Meter struct {
	ctx  context.Context
	pool *Pool
	// who is the user whose share of the pool the request uses.
	who string
	// held is the number of bytes in memory, drawn is the part of them that came from the pool.
	held, drawn               int64
	written, instances, steps int64
	// When steps reaches look, the next check is due. When it reaches rotate, the turn passes to another waiting
	// request.
	look, rotate int64
	turn         bool
}

const (
	// free is the memory of each request outside of the pool. Most requests need no more.
	free = 256 << 10
	// draught is the allocation unit of the pool, and spare the unused memory that a meter keeps.
	draught = 64 << 10
	spare   = 1 << 20
	// lookEvery is the number of steps between two checks for cancellation. turnAfter is the number of steps after
	// which a request must wait for a turn.
	lookEvery = 1_000
	turnAfter = 30_000
)

// Hold charges memory that the request is about to use. It may wait for the pool. On error nothing is charged.
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

// Free returns memory that the request no longer uses.
func (m *Meter) Free(bytes int64) {
	if m == nil {
		return
	}
	m.held -= bytes
	if needed := max(m.held-free, 0); m.drawn-needed >= spare || needed == 0 && m.drawn > 0 {
		m.pool.give(m, m.drawn-needed)
	}
}

// Write charges text that the request is about to generate.
func (m *Meter) Write(bytes int64) error {
	if m == nil {
		return nil
	}
	return m.count(&m.written, bytes, Written, m.pool.limits.Written)
}

// Instance charges instances that the request is about to generate.
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

// Work charges steps before they are done. About every thousand steps it checks whether the request was cancelled.
// A request with many steps waits for its turn.
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

// Text charges the work of reading some bytes of text once.
func (m *Meter) Text(bytes int) error { return m.Work(1 + int64(bytes)>>6) }

// Make charges text that is about to be generated: its work, its bytes, and the memory for its copies.
func (m *Meter) Make(bytes, copies int64) error {
	if err := m.Text(int(bytes)); err != nil {
		return err
	}
	if err := m.Write(bytes); err != nil {
		return err
	}
	return m.Hold(copies * bytes)
}

// Rest gives up the turn while the request waits for its client. The next steps wait for a turn again.
func (m *Meter) Rest() {
	if m != nil && m.turn {
		m.turn, m.look, m.rotate = false, m.steps, m.steps
		<-m.pool.turns
	}
}

// Held returns the number of bytes that the request holds.
func (m *Meter) Held() int64 {
	if m == nil {
		return 0
	}
	return m.held
}

// Close returns everything to the pool.
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
