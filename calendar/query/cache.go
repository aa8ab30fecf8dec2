package query

import (
	"context"
	"errors"
	"iter"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"caldav-mcp-server/calendar"
)

// cache holds the most frequently read calendars in memory. Readers look up the calendar's row first, for access
// control. Its epoch, edition and version decide whether the cached calendar is current, even if another process wrote
// last. See docs/decisions/0024-cached-calendars.md.
type cache struct {
	store calendar.Reader
	// bytes bounds the memory of all cached calendars, approximately.
	bytes int64

	mu    sync.Mutex
	slots map[calendar.CalendarID]*slot
	// held is the memory of all cached calendars; clock counts the visits.
	held, clock int64
	// shown counts the queries answered from a cached calendar, made the cached calendars that were built or updated.
	shown, made atomic.Int64
}

// slot is a calendar's entry in the cache.
type slot struct {
	id    calendar.CalendarID
	image atomic.Pointer[cachedCalendar]
	// missed counts the patient reads without a cached calendar.
	missed atomic.Int64
	// making is held while the cached calendar is built or updated. Other readers do not wait for it.
	making sync.Mutex

	// days are the cached days, whole is the slot of its calendar; nil for the calendar itself.
	days  days
	whole *slot

	// The cache's mu guards the rest. used is the clock of the last visit, wait the number of visits until a cached
	// calendar may be built, and held the memory of the cached calendar.
	used, wait, held int64
	// idle is set if there was no visit since the last Rest, gone if the slot was dropped, and large if the cached
	// calendar would take too much memory.
	idle, gone, large bool
	// pieces are the cached days of a large calendar.
	pieces []*slot
}

const (
	// slotsMost bounds the number of slots.
	slotsMost = 4096
	// imageMost bounds the objects of a cached calendar. A larger calendar is read from the store.
	imageMost = 20_000
	// catchUpMost bounds the changes applied to a cached calendar; with more, it is built again.
	catchUpMost = 256
	// patience is how many patient reads it takes to build the cached calendar.
	patience = 8
	// largeWait is the number of visits until a too large calendar is tried again.
	largeWait = 1000
	// visitRows is the number of rows per visit that are read to build evicted calendars again.
	visitRows = 10
)

func newCache(store calendar.Reader, bytes int64) *cache {
	return &cache{store: store, bytes: bytes, slots: map[calendar.CalendarID]*slot{}}
}

// of returns a view of a calendar that is at least as new as its row, or nil if there is none without waiting. A single
// patient read does not bring the cached calendar up to date.
func (c *cache) of(ctx context.Context, cal calendar.Calendar, patient bool) *view {
	if c.bytes == 0 {
		return nil
	}
	return c.look(ctx, c.visit(cal.ID), cal, patient)
}

// look returns a view of a slot, if its cached calendar is or can be made as new as the calendar's row.
func (c *cache) look(ctx context.Context, s *slot, cal calendar.Calendar, patient bool) *view {
	if s == nil {
		return nil
	}
	if m := s.image.Load(); m.shows(cal) {
		c.shown.Add(1)
		return &view{c, s, m}
	}
	if patient && s.missed.Add(1)%patience != 0 || !s.making.TryLock() {
		return nil
	}
	defer s.making.Unlock()
	m := s.image.Load()
	if !m.shows(cal) {
		m = c.renew(ctx, s, m, cal)
	}
	if m == nil {
		return nil
	}
	return &view{c, s, m}
}

// visit counts a visit to a calendar. It returns nil while the calendar gets no cached calendar.
func (c *cache) visit(id calendar.CalendarID) *slot {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.clock++
	s := c.slots[id]
	if s == nil {
		// A substring would keep the calendar's whole row in memory.
		s = &slot{id: calendar.CalendarID(strings.Clone(string(id))), wait: 1}
		c.slots[s.id] = s
		c.shrink(s)
	}
	return c.visited(s)
}

func (c *cache) visited(s *slot) *slot {
	s.used, s.idle = c.clock, false
	if s.wait > 0 {
		s.wait--
		return nil
	}
	return s
}

// renew returns an up-to-date cached calendar of the calendar, from the previous one if possible. It returns nil after
// an error; the caller then reads from the store and gets that error there.
func (c *cache) renew(ctx context.Context, s *slot, m *cachedCalendar, cal calendar.Calendar) *cachedCalendar {
	c.made.Add(1)
	if m.isOf(cal) {
		changes, last, err := read(ctx, c.store, cal.ID, calendar.VersionRange{After: m.version, Unbroken: m.version},
			catchUpMost)
		if err == nil {
			next, more := m.after(changes, max(cal.Version, last))
			return c.hang(s, next, more)
		}
	}
	c.take(s)
	anew := c.wholeImage
	if s.whole != nil {
		anew = c.pieceImage
	}
	next, err := anew(ctx, s, cal)
	if err == nil {
		if next = c.hang(s, next, bytesOf(next.byName)); next == nil {
			err = errTooMany
		}
	}
	if errors.Is(err, errTooMany) {
		c.postpone(s)
	}
	return next
}

// wholeImage builds a cached calendar of the calendar's current state.
func (c *cache) wholeImage(ctx context.Context, _ *slot, cal calendar.Calendar) (*cachedCalendar, error) {
	changes, last, err := read(ctx, c.store.At(cal), cal.ID, calendar.VersionRange{Unbroken: max(cal.Version, 1)},
		imageMost)
	if err != nil {
		return nil, err
	}
	return newImage(cal, changes, max(cal.Version, last)), nil
}

var errTooMany = errors.New("there are too many objects")

// read reads the changes in a range up to the present. They come by version, and each page is a snapshot. So the
// version of the last change identifies the resulting state.
func read(
	ctx context.Context, from calendar.ObjectReader, id calendar.CalendarID, in calendar.VersionRange, most int,
) (changes []*entry, last calendar.Version, err error) {
	in.Until = math.MaxInt64
	rows := 0
	for o, err := range from.Changes(ctx, id, in) {
		if err != nil {
			return nil, 0, err
		}
		last = o.Version
		// An object that was deleted before the read began is on none of its pages.
		if !o.Deleted || o.Version > in.Unbroken {
			changes = append(changes, newEntry(o))
		}
		if rows++; len(changes) > most || rows > 2*imageMost {
			return nil, 0, errTooMany
		}
	}
	return changes, last, nil
}

// note applies a change that was just committed, if the cached calendar has the state before it. A client usually reads
// the changes after it writes, and this saves reading its own.
func (c *cache) note(cal calendar.Calendar, first calendar.Version, written []calendar.Object) {
	c.mu.Lock()
	s := c.slots[cal.ID]
	c.mu.Unlock()
	if s == nil || len(written) > catchUpMost || !s.making.TryLock() {
		return
	}
	defer s.making.Unlock()
	m := s.image.Load()
	if !m.isOf(cal) || m.version != first-1 {
		return
	}
	changes := make([]*entry, len(written))
	for i, o := range written {
		changes[i] = newEntry(calendar.Object{
			Calendar: s.id, Version: o.Version, ETag: o.ETag, Size: o.Size, Deleted: o.Deleted,
			// A substring would keep the whole text in memory.
			Name: calendar.ObjectName(strings.Clone(string(o.Name))), Derived: calendar.Derived{
				UID: calendar.UID(strings.Clone(string(o.UID))), Kind: calendar.Kind(strings.Clone(string(o.Kind))),
				Span:       o.Span,
				Recurrence: o.Recurrence,
			},
			Created: o.Created.UTC(), Modified: o.Modified.UTC(),
		})
	}
	next, more := m.after(changes, cal.Version)
	c.hang(s, next, more)
}

func bytesOf(entries []*entry) (sum int64) {
	for _, e := range entries {
		sum += e.bytes.Load()
	}
	return sum
}

// hang stores a cached calendar, unless it exceeds the share of one calendar.
func (c *cache) hang(s *slot, m *cachedCalendar, more int64) *cachedCalendar {
	s.image.Store(m)
	if c.room(s, more) {
		return m
	}
	c.take(s)
	return nil
}

// take drops a slot's cached calendar.
func (c *cache) take(s *slot) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s.image.Store(nil)
	c.held -= s.held
	s.held = 0
}

func (c *cache) postpone(s *slot) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s.wait, s.large = largeWait, true
}

// room reserves memory for a cached calendar. It returns false if the cached calendar would take more than two thirds
// of the cache or was dropped.
func (c *cache) room(s *slot, more int64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s.gone || s.held+more > c.bytes/3*2 {
		return false
	}
	s.held += more
	c.held += more
	c.shrink(s)
	return true
}

// shrink evicts the least recently used entries, but never the slot but.
func (c *cache) shrink(but *slot) {
	for len(c.slots) > slotsMost {
		c.drop(oldest(maps.Values(c.slots), func(s *slot) bool { return s != but && s != but.whole }))
	}
	for c.held > c.bytes {
		least := oldest(c.all(), func(s *slot) bool { return s != but && s.held > 0 })
		if least == nil {
			return
		}
		c.evict(least)
	}
}

// evict drops a slot to make room. A calendar of n objects is then not built for n/10 visits, but its days are. So
// calendars that do not fit together are not all built again at each visit.
func (c *cache) evict(s *slot) {
	m := s.image.Load()
	c.drop(s)
	if s.whole == nil && m != nil {
		c.slots[s.id] = &slot{id: s.id, used: s.used, large: true, wait: int64(len(m.byName) / visitRows)}
	}
}

// all yields the calendars and the cached days of large ones.
func (c *cache) all() iter.Seq[*slot] {
	return func(yield func(*slot) bool) {
		for _, s := range c.slots {
			for _, one := range append([]*slot{s}, s.pieces...) {
				if !yield(one) {
					return
				}
			}
		}
	}
}

// oldest returns the least recently used slot that may admits, or nil.
func oldest(of iter.Seq[*slot], may func(*slot) bool) (found *slot) {
	for s := range of {
		if may(s) && (found == nil || s.used < found.used) {
			found = s
		}
	}
	return found
}

// drop evicts cached days, or a calendar with all its cached days.
func (c *cache) drop(s *slot) {
	c.forget(s)
	for _, p := range s.pieces {
		c.forget(p)
	}
	if s.whole != nil {
		s.whole.pieces = slices.DeleteFunc(s.whole.pieces, func(p *slot) bool { return p == s })
		return
	}
	delete(c.slots, s.id)
}

func (c *cache) forget(s *slot) {
	s.gone = true
	s.image.Store(nil)
	c.held, s.held = c.held-s.held, 0
}

// Rest frees the memory of calendars that were not read since the last call.
func (s *Queries) Rest() {
	s.cache.mu.Lock()
	defer s.cache.mu.Unlock()
	for _, one := range slices.Collect(s.cache.all()) {
		if one.idle && !one.gone {
			s.cache.drop(one)
		}
		one.idle = true
	}
}
