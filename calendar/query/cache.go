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

// cache holds images of the calendars that are asked for most. A reader has looked the
// calendar up, for access; its epoch, edition and version tell whether the image is still true,
// whichever process has written since. See docs/decisions/0024-images.md.
type cache struct {
	store calendar.Reader
	// bytes is how much all images may take together, about.
	bytes int64

	mu    sync.Mutex
	slots map[calendar.CalendarID]*slot
	// held is what all images take; clock counts the visits.
	held, clock int64
	// shown counts the questions that an image answered, made the images made or caught up.
	shown, made atomic.Int64
}

// slot is a calendar's place in the cache.
type slot struct {
	id    calendar.CalendarID
	image atomic.Pointer[image]
	// missed counts the patient readers who found none.
	missed atomic.Int64
	// making is held while the image is brought up to date. Nobody waits for it.
	making sync.Mutex

	// days are those of a piece, whole the slot of its calendar; nil for the calendar itself.
	days  days
	whole *slot

	// The rest is guarded by the cache's mu. used is when it was last visited; wait how many
	// visits there shall be before an image is made; held what the image takes.
	used, wait, held int64
	// idle is set when nobody has come since the last rest, gone when the slot is no longer there; large when an image of
	// it would take too much.
	idle, gone, large bool
	// pieces are what is held of a large calendar.
	pieces []*slot
}

const (
	// slotsMost bounds the calendars of which the cache knows anything.
	slotsMost = 4096
	// imageMost is how many objects an image has at most: a larger calendar is read as it is asked for.
	imageMost = 20_000
	// catchUpMost is how many changes an image takes; with more it is made anew.
	catchUpMost = 256
	// patience is how many of the patient must come until one has the image made.
	patience = 8
	// largeWait is for how many visits a calendar stays one that is too large.
	largeWait = 1000
)

func newCache(store calendar.Reader, bytes int64) *cache {
	return &cache{store: store, bytes: bytes, slots: map[calendar.CalendarID]*slot{}}
}

// of returns a view of a calendar that is at least as new as what was looked up; nil where there
// is none to be had at once. A patient reader does not have the image brought up to date for a
// single question.
func (c *cache) of(ctx context.Context, cal calendar.Calendar, patient bool) *view {
	if c.bytes == 0 {
		return nil
	}
	return c.look(ctx, c.visit(cal.ID), cal, patient)
}

// look returns a view of what a slot holds, once that is as new as what was looked up.
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

// visit notes that a calendar is asked for; nil while there is to be no image of it.
func (c *cache) visit(id calendar.CalendarID) *slot {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.clock++
	s := c.slots[id]
	if s == nil {
		// What was cut out of a calendar's row would keep all of it.
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

// renew makes an image of the calendar as it is by now, of the former one if it can. What goes
// wrong is told to the next one who asks the store.
func (c *cache) renew(ctx context.Context, s *slot, m *image, cal calendar.Calendar) *image {
	c.made.Add(1)
	if m.isOf(cal) {
		changes, last, err := read(ctx, c.store, cal.ID, calendar.VersionRange{After: m.version, Unbroken: m.version}, catchUpMost)
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

// wholeImage makes an image of a calendar as it is by now.
func (c *cache) wholeImage(ctx context.Context, _ *slot, cal calendar.Calendar) (*image, error) {
	changes, last, err := read(ctx, c.store.At(cal), cal.ID, calendar.VersionRange{Unbroken: max(cal.Version, 1)}, imageMost)
	if err != nil {
		return nil, err
	}
	return newImage(cal, changes, max(cal.Version, last)), nil
}

var errTooMany = errors.New("there are too many objects")

// read reads the changes in a range up to the present. As they come by version, and each
// page as it is at one moment, the version of the last one names the state that they lead to.
func read(ctx context.Context, from calendar.ObjectReader, id calendar.CalendarID, in calendar.VersionRange, most int) (changes []*entry, last calendar.Version, err error) {
	in.Until = math.MaxInt64
	rows := 0
	for o, err := range from.Changes(ctx, id, in) {
		if err != nil {
			return nil, 0, err
		}
		last = o.Version
		// What was gone before the reading began was on no page of it.
		if !o.Deleted || o.Version > in.Unbroken {
			changes = append(changes, newEntry(o))
		}
		if rows++; len(changes) > most || rows > 2*imageMost {
			return nil, 0, errTooMany
		}
	}
	return changes, last, nil
}

// note brings an image up to date with a change that was just kept, if it shows what was there when
// the change began. A client that has written asks next for the changes, and need not read its own.
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
			// What was cut out of the text would keep all of it.
			Name: calendar.ObjectName(strings.Clone(string(o.Name))), Derived: calendar.Derived{
				UID: calendar.UID(strings.Clone(string(o.UID))), Kind: calendar.Kind(strings.Clone(string(o.Kind))), Span: o.Span,
				Rhythm: o.Rhythm,
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

// hang puts up an image, unless it takes more than one calendar may.
func (c *cache) hang(s *slot, m *image, more int64) *image {
	s.image.Store(m)
	if c.room(s, more) {
		return m
	}
	c.take(s)
	return nil
}

// take takes a slot's image down.
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

// room makes room for so much more in an image; false when it would have more than two thirds
// of the cache, or is no longer in it.
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

// shrink lets go of what nobody has asked for the longest, but not of one slot.
func (c *cache) shrink(but *slot) {
	for len(c.slots) > slotsMost {
		c.drop(oldest(maps.Values(c.slots), func(s *slot) bool { return s != but && s != but.whole }))
	}
	for c.held > c.bytes {
		least := oldest(c.all(), func(s *slot) bool { return s != but && s.held > 0 })
		if least == nil {
			return
		}
		c.drop(least)
	}
}

// all yields the calendars, and the pieces of those that are large.
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

// oldest returns that of some slots that nobody has asked for the longest, or nil.
func oldest(of iter.Seq[*slot], may func(*slot) bool) (found *slot) {
	for s := range of {
		if may(s) && (found == nil || s.used < found.used) {
			found = s
		}
	}
	return found
}

// drop lets go of a piece, or of a calendar with all its pieces.
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

// Rest gives back the memory of calendars that nobody has asked for since it was last called.
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
