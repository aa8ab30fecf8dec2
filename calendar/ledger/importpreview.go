package ledger

import (
	"context"
	"errors"

	"caldav-mcp-server/calendar"
)

// imagined holds the effects of a preview so far, for its later steps. A nil value is empty.
type imagined struct {
	objects map[holding][]byte
	copies  map[calendar.UID][]calendar.Appointment
	grown   map[calendar.UserID]calendar.Usage
}

// holding is a UID in a calendar.
type holding struct {
	in  calendar.CalendarID
	uid calendar.UID
}

func newImagined() *imagined {
	return &imagined{map[holding][]byte{}, map[calendar.UID][]calendar.Appointment{}, map[calendar.UserID]calendar.Usage{}}
}

// copiesOf returns the objects with a UID.
func (m *imagined) copiesOf(uid calendar.UID) []calendar.Appointment {
	if m == nil {
		return nil
	}
	return m.copies[uid]
}

// grownOf returns by how much a user's usage would grow.
func (m *imagined) grownOf(owner calendar.UserID) calendar.Usage {
	if m == nil {
		return calendar.Usage{}
	}
	return m.grown[owner]
}

// add records the objects that one transaction would have stored.
func (m *imagined) add(cal calendar.Calendar, objects []*calendar.Object, results []calendar.ImportResult, w *work) {
	for n, o := range objects {
		if o == nil || results[n].Err != nil || results[n].Did == calendar.ImportedKept {
			continue
		}
		at := holding{cal.ID, o.UID}
		if m.objects[at] == nil {
			m.copies[o.UID] = append(m.copies[o.UID], calendar.Appointment{Owner: cal.Owner, Object: calendar.Object{Calendar: cal.ID, Name: o.Name}})
		}
		m.objects[at] = o.Data
	}
	for _, in := range w.opened {
		m.grown[in.Owner] = m.grown[in.Owner].Plus(in.grown).Plus(calendar.Usage{Calendars: in.wanted.Calendars})
	}
}

// plan checks whether a calendar could be created.
func (i *Importer) plan(ctx context.Context, cal calendar.Calendar) (calendar.Calendar, error) {
	var last *work
	err := i.imagine(ctx, &last, func(w *work) error {
		now, err := w.insert(ctx, cal)
		if err == nil {
			now.wanted.Calendars = 1
		}
		return err
	})
	if err == nil {
		i.planned[cal.Segment], i.unmade[cal.ID] = cal, true
		i.before.add(cal, nil, nil, last)
	}
	return cal, err
}

// foresee computes the results of a Store: it runs the transaction and rolls it back.
func (i *Importer) foresee(ctx context.Context, cal calendar.Calendar, objects []*calendar.Object, results []calendar.ImportResult) error {
	var last *work
	err := i.imagine(ctx, &last, func(w *work) error {
		if i.unmade[cal.ID] {
			if _, err := w.insert(ctx, cal); err != nil {
				return err
			}
		}
		for n, o := range objects {
			if o == nil {
				continue
			}
			if there := i.before.objects[holding{cal.ID, o.UID}]; there != nil {
				results[n] = calendar.ImportResult{Did: i.against(there, o.Data)}
				continue
			}
			var err error
			if results[n], err = i.take(ctx, w, *o); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		i.before.add(cal, objects, results, last)
	}
	return err
}

// imagine runs a change and rolls it back.
func (i *Importer) imagine(ctx context.Context, last **work, do func(*work) error) error {
	err := i.changeIn(ctx, i.caller, &i.unit, func(w *work) error {
		w.before = i.before
		if err := do(w); err != nil {
			return err
		}
		*last = w
		if err := w.count(ctx); err != nil {
			return err
		}
		return errPreview
	})
	if errors.Is(err, errPreview) {
		return nil
	}
	return err
}
