package query

import (
	"context"
	"slices"

	"caldav-mcp-server/calendar"
)

// A calendar that is too large to be cached whole is cached by days. The calendar's row validates these as it validates
// a whole one. Changes that do not touch its days leave no entry in it. See
// docs/decisions/0024-cached-calendars.md.

// days is the time range of cached days: whole days in UTC, as Unix seconds.
type days struct{ from, until int64 }

const (
	day = 24 * 60 * 60
	// piecesMost bounds the cached days of a calendar, pieceMost the objects of cached days, and pieceDays its days.
	piecesMost, pieceMost, pieceDays = 16, 2000, 62
	// eternity is outside the range of days that we can compute.
	eternity = 1 << 50
)

// daysOf returns the days of the piece that covers a query, or false if no piece can. A query whose range moves with
// the clock gets the same days all day.
func daysOf(q calendar.ObjectQuery) (days, bool) {
	if q.Names != nil || q.From == nil || q.Until == nil {
		return days{}, false
	}
	from, until := *q.From, *q.Until
	if from < -eternity || until > eternity || until <= from || until-from > pieceDays*day {
		return days{}, false
	}
	return days{from - (from%day+day)%day, until + (day-until%day)%day}, true
}

// query returns the query for the objects on the days.
func (d days) query() calendar.ObjectQuery {
	return calendar.ObjectQuery{From: &d.from, Until: &d.until, WithSpan: true}
}

// covering returns a view of the objects that a query may need, or nil if there is none without waiting: of the whole
// calendar, or of the days that a query is about. Of a calendar that may be large, such a query builds its days alone.
// Reading all objects would take many times longer than the answer from the store.
func (c *cache) covering(ctx context.Context, cal calendar.Calendar, q calendar.ObjectQuery) *view {
	if c.bytes == 0 {
		return nil
	}
	d, some := daysOf(q)
	// Every object has a version of its own, so a calendar has at most that many.
	alone := some && cal.Version > pieceMost
	s := c.visit(cal.ID)
	if !alone || s != nil && s.image.Load() != nil {
		if v := c.look(ctx, s, cal, false); v != nil || !some {
			return v
		}
	}
	return c.look(ctx, c.visitPiece(cal.ID, d, alone), cal, false)
}

// visitPiece counts a visit to some days of a calendar. It returns nil while they get no piece. Days alone need no
// calendar that was found to be large.
func (c *cache) visitPiece(id calendar.CalendarID, d days, alone bool) *slot {
	c.mu.Lock()
	defer c.mu.Unlock()
	whole := c.slots[id]
	if whole == nil || !whole.large && !alone {
		return nil
	}
	i := slices.IndexFunc(whole.pieces, func(p *slot) bool { return p.days == d })
	if i >= 0 {
		return c.visited(whole.pieces[i])
	}
	if len(whole.pieces) >= piecesMost {
		c.drop(oldest(slices.Values(whole.pieces), func(*slot) bool { return true }))
	}
	p := &slot{id: whole.id, whole: whole, days: d, wait: 1}
	whole.pieces = append(whole.pieces, p)
	return c.visited(p)
}

// pieceImage builds a cached calendar of a calendar's days. Each page of objects is a snapshot of another moment, all
// after the calendar's row was read. So it then applies the changes since that row, to reach one consistent state.
func (c *cache) pieceImage(ctx context.Context, s *slot, cal calendar.Calendar) (*cachedCalendar, error) {
	m, q, from := imageAt(cal, cal.Version), s.days.query(), c.store.At(cal)
	m.admits = admission(q)
	for o, err := range from.Objects(ctx, cal.ID, q) {
		if err != nil {
			return nil, err
		}
		if m.byName = append(m.byName, newEntry(o)); len(m.byName) > pieceMost {
			return nil, errTooMany
		}
	}
	changes, last, err := read(ctx, from, cal.ID, calendar.VersionRange{After: cal.Version, Unbroken: cal.Version},
		catchUpMost)
	if err != nil {
		return nil, err
	}
	m, _ = m.after(changes, max(cal.Version, last))
	return m, nil
}
