package mirror

import (
	"context"
	"errors"
	"time"

	"caldav-mcp-server/calendar"
)

const (
	// chunk is the number of objects per transaction, so that other writers get their turn.
	chunk = 200
	// pagesMost bounds the pages of one sync, in case a source always has another one.
	pagesMost = 5000
	// anewMost is how often a sync restarts after the source has forgotten its cursor.
	anewMost = 2
)

// errEndless is the error for a source that never stops sending pages.
var errEndless = &Later{Why: "the account lists the same objects again and again"}

// look fetches the changes of a calendar from its source. It continues after the last page that was stored.
func (m *Mirror) look(ctx context.Context, id calendar.CalendarID, again bool) (looked, error) {
	mirror, err := m.Store.Mirror(ctx, id)
	if err != nil {
		return looked{}, err
	}
	account, err := m.Store.Account(ctx, mirror.Account)
	if err != nil {
		return looked{}, err
	}
	source, _, err := m.open(account)
	if err != nil {
		return looked{}, err
	}
	return m.lookWith(ctx, source, account, id, again)
}

// looked is the result of a sync, and how long the source wants to be left alone.
type looked struct {
	calendar.Arrived
	wait time.Duration
	// bytes is the size of the fetched data, listed the number of objects in it.
	bytes  int64
	listed int
}

// add adds the result of another page or calendar.
func (l *looked) add(b looked) {
	l.Add(b.Arrived)
	l.wait, l.bytes, l.listed = max(l.wait, b.wait), l.bytes+b.bytes, l.listed+b.listed
}

func (m *Mirror) lookWith(
	ctx context.Context, source Source, a calendar.Account, id calendar.CalendarID, again bool,
) (looked, error) {
	var all looked
	anew := 0
	for range pagesMost {
		page, more, err := m.page(ctx, source, a, id)
		all.add(page)
		if errors.Is(err, ErrExpired) && anew < anewMost {
			anew++
			continue
		}
		if err != nil || !more {
			return all, err
		}
	}
	if again {
		return all, nil
	}
	return all, errEndless
}

// page stores one page of changes under the calendar's lease. Otherwise a write here after the source answered, and
// before the answer is stored, would be taken for the older version.
func (m *Mirror) page(
	ctx context.Context, source Source, a calendar.Account, id calendar.CalendarID,
) (done looked, more bool, err error) {
	held, g, err := m.holdAll(ctx, id)
	if err != nil {
		return done, false, err
	}
	defer g.release(ctx)
	done, more, err = m.heldPage(held, g, source, a, id)
	return done, more, g.why(held, err)
}

func (m *Mirror) heldPage(
	ctx context.Context, g grip, source Source, a calendar.Account, id calendar.CalendarID,
) (done looked, more bool, err error) {
	mirror, err := m.Store.Mirror(ctx, id)
	if err != nil {
		return done, false, err
	}
	cal, err := m.Store.Calendar(ctx, a.Owner, id)
	if err != nil {
		return done, false, err
	}
	asked := mirror.Cursor
	changes, err := source.Changes(ctx, mirror.Remote, asked)
	done.bytes = changes.Bytes
	if errors.Is(err, ErrExpired) && asked != "" {
		mirror.Cursor, mirror.Whole = "", false
		if _, failed := m.arrive(ctx, g, cal, calendar.Arrival{Mirror: mirror}); failed != nil {
			return done, false, failed
		}
		return done, true, ErrExpired
	}
	if err != nil {
		return done, false, err
	}
	if changes.More && changes.Cursor == asked {
		return done, false, errEndless
	}
	done.wait, done.listed = changes.Wait, len(changes.Objects)
	done.Arrived, err = m.take(ctx, g, cal, mirror, changes)
	return done, changes.More, err
}

// arrive stores changes, unless the lease may be lost and another process may have stored newer ones.
func (m *Mirror) arrive(
	ctx context.Context, g grip, cal calendar.Calendar, a calendar.Arrival,
) (calendar.Arrived, error) {
	if err := g.sure(ctx); err != nil {
		return calendar.Arrived{}, err
	}
	a.Fence = g.fence(cal.ID)
	return m.ledger.Arrive(ctx, cal, a)
}

// take stores a page, in chunks.
func (m *Mirror) take(
	ctx context.Context, g grip, cal calendar.Calendar, at calendar.Mirror, page Changes,
) (all calendar.Arrived, err error) {
	part := at // the state while only a part of the page is stored: just the round is advanced
	// A feed lists everything each time, on one page. A listing of several pages begins without a cursor.
	if at.Cursor == "" && (page.Whole || page.More) || page.Whole && !at.Whole {
		at.Round++
		at.Whole, part.Round = true, at.Round
	}
	arriving := make([]calendar.Arriving, 0, len(page.Objects)+len(page.Kept))
	for _, o := range page.Objects {
		arriving = append(arriving, calendar.Arriving{
			Mirrored: calendar.Mirrored{
				Ref: o.Ref, Version: o.Version, UID: calendar.UID(o.UID), Round: at.Round, Fault: o.Fault,
			}, Data: o.Data,
		})
	}
	for _, ref := range page.Kept {
		arriving = append(arriving, calendar.Arriving{Mirrored: calendar.Mirrored{Ref: ref, Round: at.Round}})
	}
	for len(arriving) > chunk {
		some, err := m.arrive(ctx, g, cal, calendar.Arrival{Mirror: part, Objects: arriving[:chunk]})
		if all.Add(some); err != nil {
			return all, err
		}
		arriving = arriving[chunk:]
	}
	end := at
	end.Cursor, end.Error = page.Cursor, ""
	if !page.More {
		end.Whole, end.Checked = false, m.Now()
	}
	some, err := m.arrive(ctx, g, cal,
		calendar.Arrival{
			Mirror: end, Objects: arriving, Gone: page.Gone, Sweep: page.Whole && !page.More, Careful: true,
			UpToDate: !page.Whole && !page.More,
		})
	all.Add(some)
	return all, err
}
