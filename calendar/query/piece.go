package query

import (
	"context"
	"slices"

	"caldav-mcp-server/calendar"
)

// A piece is what a calendar has on some days, held in memory where the calendar is too large to be. It is an image like
// any other, of which the calendar's row tells whether it still holds, but that changes which do not touch its days leave no
// entry in it. See docs/decisions/0024-images.md.

// days are those of a piece: whole ones, in UTC, as Unix seconds.
type days struct{ from, until int64 }

const (
	day = 24 * 60 * 60
	// piecesMost is how many pieces of a calendar are known, pieceMost how many objects one has at most, and pieceDays for
	// how long a time one is made.
	piecesMost, pieceMost, pieceDays = 16, 2000, 62
	// eternity is beyond all times of which the days can be told.
	eternity = 1 << 50
)

// daysOf are those whose piece has all that may answer a question; false where none has. A question that moves on with the
// clock has the same ones all day.
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

// query asks for what is on the days.
func (d days) query() calendar.ObjectQuery {
	return calendar.ObjectQuery{From: &d.from, Until: &d.until, WithSpan: true}
}

// piece returns a view of what a large calendar has on the days that a question is about; nil where there is none to be
// had at once.
func (c *cache) piece(ctx context.Context, cal calendar.Calendar, q calendar.ObjectQuery) *view {
	d, some := daysOf(q)
	if !some {
		return nil
	}
	return c.look(ctx, c.visitPiece(cal.ID, d), cal, false)
}

// visitPiece notes that some days of a calendar are asked for; nil while there is to be no piece of them.
func (c *cache) visitPiece(id calendar.CalendarID, d days) *slot {
	c.mu.Lock()
	defer c.mu.Unlock()
	whole := c.slots[id]
	if whole == nil || !whole.large {
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

// pieceImage makes an image of a calendar's days. The objects are read page after page, each as it is at another moment, but
// none before the calendar was looked up: what changed since then is read once more, so that it leads to one state.
func (c *cache) pieceImage(ctx context.Context, s *slot, cal calendar.Calendar) (*image, error) {
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
	changes, last, err := read(ctx, from, cal.ID, calendar.VersionRange{After: cal.Version, Unbroken: cal.Version}, catchUpMost)
	if err != nil {
		return nil, err
	}
	m, _ = m.after(changes, max(cal.Version, last))
	return m, nil
}
