package store

import (
	"context"
	"fmt"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/store/db"
)

// Rederive implements [calendar.Store]. It walks all objects page by page, in transactions so short that
// requests do not wait for them. It skips an object that is written meanwhile: its writer derived it.
func (s objectStore) Rederive(ctx context.Context, walk calendar.Walk, derive func(calendar.Object) calendar.Derived) (int, error) {
	last := walk.After
	for total := 0; ; {
		objects, err := s.pageOfAll(ctx, last)
		if err != nil || len(objects) == 0 {
			return total, err
		}
		if err := s.rederive(ctx, objects, derive); err != nil {
			return total, err
		}
		total += len(objects)
		end := objects[len(objects)-1]
		last = calendar.ObjectAddress{Calendar: end.Calendar, Name: end.Name}
		if walk.Reached == nil {
			continue
		}
		if err := walk.Reached(ctx, last, total); err != nil {
			return total, err
		}
	}
}

// pageOfAll reads the next objects after an address, including tombstones and calendars in the trash.
func (s objectStore) pageOfAll(ctx context.Context, last calendar.ObjectAddress) ([]calendar.Object, error) {
	var objects []calendar.Object
	room := pageBytes
	err := db.Each(ctx, s.db.Reads, func(row db.Scanner) (bool, error) {
		o, err := scanObject(row)
		objects = append(objects, o)
		room -= len(o.Data)
		return room > 0, err
	}, `SELECT `+wholeColumns+` FROM objects WHERE (calendar_id, name) > ($1, $2)
		ORDER BY calendar_id, name LIMIT $3 + 0`, last.Calendar, last.Name, firstDataRows)
	return objects, err
}

// rederive updates the derived columns that changed.
func (s objectStore) rederive(ctx context.Context, objects []calendar.Object, derive func(calendar.Object) calendar.Derived) error {
	var changed []calendar.Object
	for _, o := range objects {
		next := o
		next.Derived = derive(o)
		if !sameDerived(o.Derived, next.Derived) {
			changed = append(changed, next)
		}
	}
	if len(changed) == 0 {
		return nil
	}
	return s.transact(ctx, func(t *transaction) error {
		last := calendar.CalendarID("")
		for _, o := range changed {
			if o.Calendar != last {
				last = o.Calendar
				if err := t.Run(ctx, newEdition, last); err != nil {
					return err
				}
			}
			if err := t.updateDerived(ctx, o); err != nil {
				return fmt.Errorf("object %s of calendar %s: %w", o.Name, o.Calendar, err)
			}
		}
		return nil
	})
}

// newEdition tells processes that cache a calendar's objects that these changed. It locks the calendar first
// and its objects second, like every other change.
const newEdition = `UPDATE calendars SET edition = edition + 1 WHERE id = $1`

func (t *transaction) updateDerived(ctx context.Context, o calendar.Object) error {
	at, r := spanOf(o.Span), recurrenceOf(o.Derived)
	return uidTaken(t.Exec(ctx, `UPDATE objects SET uid = $4, kind = $5, span_start = $6, span_end = $7, recurring = $8,
			transparent = $9, status = $10, summary = $11, search = $12, reach = $13,
			known = $14, week_1 = $15, week_2 = $16, week_3 = $17, dates = $18, beat = $19
		WHERE calendar_id = $1 AND name = $2 AND version = $3`,
		o.Calendar, o.Name, o.Version, o.UID, o.Kind, at.start, at.end, o.Recurring,
		o.Transparent, o.Status, o.Summary, o.Search, class(o.Derived),
		r.Known, r.Hours[0], r.Hours[1], r.Hours[2], r.Dates, beat(o.Derived)))
}

func sameDerived(a, b calendar.Derived) bool {
	if spanOf(a.Span) != spanOf(b.Span) || !a.Recurrence.Equal(b.Recurrence) {
		return false
	}
	a.Span, b.Span = calendar.Span{}, calendar.Span{}
	a.Recurrence, b.Recurrence = nil, nil
	return a == b
}
