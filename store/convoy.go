package store

import (
	"context"
	"errors"
	"hash/maphash"
	"sync"
	"sync/atomic"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
)

// convoy are the early changes of one calendar. Each is decided when it has the turn, for the version behind that of the one before
// it, which may not be kept yet: they go one behind the other, as many at a time as are there when the load before is kept.
type convoy struct {
	mu sync.Mutex
	// locked counts the changes under the lock that are under way, quiet is the mark of when the last one ended, or a load failed:
	// what was read before may be of before.
	locked int
	quiet  int64
	marks  *atomic.Int64
	// known tells that head is the latest version that was given to a change, of this epoch, and given are those behind since.
	known       bool
	since, head calendar.Version
	epoch       calendar.Epoch
	given       []given
	// waiting are those that no load has yet, under tells that one is under way, failed is how many have kept nothing.
	waiting []*early
	under   bool
	failed  int
	// wary is how many changes begin with the lock, as another server is about.
	wary int
	// idle is closed when nothing waits and nothing is under way; nil while nobody wants to know.
	idle chan struct{}
}

// given is a version that a change took, and the digests of where it wrote: a UID may be as long as an object, and a text that was cut
// out of one keeps all of it. Two that are alike by chance cost a change under the lock.
type given struct {
	version   calendar.Version
	name, uid uint64
}

// digests is what they are made with.
var digests = maphash.MakeSeed()

// give is the version of a change.
func (e *early) give() given {
	return given{e.version, maphash.String(digests, string(e.name)), maphash.String(digests, string(e.uid))}
}

// givenMost bounds how many versions are remembered.
const givenMost = 64

// waryFor is how many changes begin with the lock behind a load that another server was ahead of. Where several write into one calendar
// the database would refuse a load each time, and write so into its log.
const waryFor = 32

// careful tells whether a change that has the turn is to begin with the lock.
func (c *convoy) careful() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.wary == 0 {
		return false
	}
	c.wary--
	return true
}

// lock notes that a change under the lock begins.
func (c *convoy) lock() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.locked++
	c.forget()
}

// unlock notes that it is over.
func (c *convoy) unlock() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.locked--
	c.quiet = c.marks.Add(1)
}

// forget lets go of what is known of the versions.
func (c *convoy) forget() { c.known, c.given = false, nil }

// knows tells whether all is known that came behind what was read. Where another process is ahead of the head, nothing that is under way
// will be kept.
func (c *convoy) knows(there *auth.Stored) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if there == nil || c.locked > 0 || there.Mark < c.quiet {
		return false
	}
	v := there.Calendar.Version
	if c.known && there.Calendar.Epoch != c.epoch {
		return !c.under
	}
	return !c.known || c.since <= v && (v <= c.head || !c.under)
}

// follow gives a change the next version, unless one behind the version that was read has the name or the UID.
func (c *convoy) follow(e *early, read calendar.Version) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.known || e.epoch != c.epoch || read < c.since || read > c.head {
		c.forget()
		c.known, c.epoch, c.since, c.head = true, e.epoch, read, read
	}
	mine := e.give()
	for _, g := range c.given {
		if g.version > read && (g.name == mine.name || g.uid == mine.uid) {
			return false
		}
	}
	e.version, e.failed = c.head+1, c.failed
	return true
}

// settled waits until nothing is under way. It is asked by whoever has the turn, so that nothing is added meanwhile.
func (c *convoy) settled(ctx context.Context) error {
	idle := c.untilIdle()
	if idle == nil {
		return nil
	}
	select {
	case <-idle:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (c *convoy) untilIdle() chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.under && c.idle == nil {
		c.idle = make(chan struct{})
	}
	return c.idle
}

// add has a change wait for a load, or make one if none is under way. It must have the turn still.
func (c *convoy) add(e *early) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e.unfit || e.failed != c.failed {
		return errUnderLock
	}
	c.head = e.version
	if c.given = append(c.given, e.give()); len(c.given) > givenMost {
		c.since, c.given = c.given[0].version, c.given[1:]
	}
	c.waiting = append(c.waiting, e)
	if !c.under {
		c.under = true
		e.word <- c.load()
	}
	return nil
}

// load takes those of the waiting that are kept together.
func (c *convoy) load() *load {
	l, n, bytes := &load{}, 0, 0
	for _, e := range c.waiting[:min(len(c.waiting), maxShared)] {
		if n > 0 && bytes >= gatheredBytes {
			break
		}
		bytes += e.size()
		n++
	}
	l.changes = c.waiting[:n:n]
	c.waiting = c.waiting[n:]
	return l
}

// judge says what came of a load. Where nothing of it was kept, those who wait were decided on what is not so. It returns all who are
// to be told, and the next load.
func (c *convoy) judge(l *load, err error) (told []*early, next *load) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range l.changes {
		e.err = err
	}
	told = l.changes
	if errors.Is(err, errMovedOn) {
		c.wary = waryFor
	}
	if err != nil {
		c.failed++
		c.quiet = c.marks.Add(1)
		c.forget()
		for _, e := range c.waiting {
			e.err = errUnderLock
		}
		told, c.waiting = append(told, c.waiting...), nil
	}
	if len(c.waiting) > 0 {
		return told, c.load()
	}
	c.under, c.waiting = false, nil
	if c.idle != nil {
		close(c.idle)
		c.idle = nil
	}
	return told, nil
}
