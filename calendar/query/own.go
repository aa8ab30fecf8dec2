package query

import (
	"context"
	"iter"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/lookup"
	"caldav-mcp-server/calendar/meter"
	"caldav-mcp-server/calendar/personal"
)

// own holds a sharee's private data for a calendar's objects.
type own struct {
	parts map[calendar.UID]calendar.OwnPart
	meter *meter.Meter
	// held is the memory that the meter counts for the parts.
	held int64
}

// ownOf reads the private data. It returns nil for the caller's own calendars, whose objects contain it.
func (r *objectReader) ownOf(
	ctx context.Context, m *meter.Meter, c calendar.Caller, cal calendar.Calendar, withData bool,
) (*own, error) {
	if cal.Owner == c.User.ID {
		return nil, nil
	}
	mine := &own{meter: m}
	if cal.Own == 0 {
		return mine, nil
	}
	all, err := r.store.OwnParts(ctx, cal.ID, c.User.ID, 0, withData)
	if err != nil {
		return nil, err
	}
	mine.parts = make(map[calendar.UID]calendar.OwnPart, len(all))
	for _, p := range all {
		mine.parts[p.UID] = p
		mine.held += instanceBytes + int64(len(p.Data))
	}
	if err := m.Hold(mine.held); err != nil {
		return nil, err
	}
	return mine, nil
}

// done returns the memory of the parts to the meter.
func (o *own) done() {
	if o != nil {
		o.meter.Free(o.held)
	}
}

// seen returns a candidate as the sharee sees it. An object without private data keeps its parsed form.
func (o *own) seen(c candidate) (candidate, error) {
	if o == nil || c.Deleted {
		return c, nil
	}
	part, has := o.parts[c.UID]
	if len(c.Data) == 0 {
		c.ETag = part.Tag(c.ETag)
		return c, nil
	}
	if !has {
		if err := c.weigh(o.meter); err != nil {
			return c, err
		}
		read, err := c.content()
		c.unload(o.meter)
		c.weight = 0
		if err != nil || !personal.Has(read) {
			return c, nil // an older version stored it: it stays as it is
		}
	}
	object, err := lookup.Exchanged(o.meter, c.Object, part)
	return candidate{Object: object, drawn: c.drawn}, err
}

// asOwn yields candidates as the caller sees them.
func (r *objectReader) asOwn(
	ctx context.Context, m *meter.Meter, c calendar.Caller, cal calendar.Calendar, withData bool,
	all iter.Seq2[candidate, error],
) iter.Seq2[candidate, error] {
	if cal.Owner == c.User.ID {
		return all
	}
	return func(yield func(candidate, error) bool) {
		mine, err := r.ownOf(ctx, m, c, cal, withData)
		if err != nil {
			yield(candidate{}, err)
			return
		}
		defer mine.done()
		for one, err := range all {
			if err == nil {
				one, err = mine.seen(one)
			}
			if !yield(one, err) || err != nil {
				return
			}
		}
	}
}

// ownChanges yields changes as a sharee sees them. After them it yields the objects whose private data has changed
// since the token, although the objects themselves have not.
func (r *objectReader) ownChanges(
	ctx context.Context, m *meter.Meter, c calendar.Caller, cal calendar.Calendar, since calendar.SyncToken,
	all iter.Seq2[calendar.Object, error],
) iter.Seq2[calendar.Object, error] {
	if cal.Owner == c.User.ID {
		return all
	}
	return func(yield func(calendar.Object, error) bool) {
		told := map[calendar.UID]bool{}
		mine, err := r.ownOf(ctx, m, c, cal, false)
		if err != nil {
			yield(calendar.Object{}, err)
			return
		}
		defer mine.done()
		for o, err := range all {
			one, _ := mine.seen(candidate{Object: o})
			told[o.UID] = true
			if !yield(one.Object, err) || err != nil {
				return
			}
		}
		if since == (calendar.SyncToken{}) || since.Own == cal.Own {
			return
		}
		changed, err := r.store.OwnParts(ctx, cal.ID, c.User.ID, since.Own, false)
		if err != nil {
			yield(calendar.Object{}, err)
			return
		}
		for _, p := range changed {
			o, err := r.store.ObjectByUID(ctx, cal.ID, p.UID)
			if told[p.UID] || err != nil && calendar.ReasonOf(err) == calendar.NotFound {
				continue
			}
			// The version says that the client now knows all changes of the calendar itself.
			o.Data, o.ETag, o.Version, o.Own = nil, p.Tag(o.ETag), cal.Version, p.Version
			if !yield(o, err) || err != nil {
				return
			}
		}
	}
}
