package ledger

import (
	"context"
	"errors"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/change"
)

// imagined holds the effects of a preview so far, for its later steps. A nil value is empty.
type imagined struct {
	objects map[change.ObjectKey][]byte
	copies  map[calendar.UID][]calendar.Appointment
	grown   map[calendar.UserID]calendar.Usage
}

func newImagined() *imagined {
	return &imagined{
		map[change.ObjectKey][]byte{}, map[calendar.UID][]calendar.Appointment{}, map[calendar.UserID]calendar.Usage{},
	}
}

// copiesOf returns the objects with a UID.
func (m *imagined) copiesOf(uid calendar.UID) []calendar.Appointment {
	if m == nil {
		return nil
	}
	return m.copies[uid]
}

// add records the objects that one transaction would have stored.
func (m *imagined) add(cal calendar.Calendar, objects []*calendar.Object, results []calendar.ImportResult, w *work) {
	for n, o := range objects {
		if o == nil || results[n].Err != nil || results[n].Did == calendar.ImportedKept {
			continue
		}
		at := change.ObjectKey{Calendar: cal.ID, UID: o.UID}
		if m.objects[at] == nil {
			m.copies[o.UID] = append(m.copies[o.UID],
				calendar.Appointment{Owner: cal.Owner, Object: calendar.Object{Calendar: cal.ID, Name: o.Name}})
		}
		m.objects[at] = o.Data
	}
	for _, in := range w.Locked {
		m.grown[in.Owner] = m.grown[in.Owner].Plus(in.Grown).Plus(calendar.Usage{Calendars: in.Wanted.Calendars})
	}
}

// plan checks whether a calendar could be created.
func (i *Importer) plan(ctx context.Context, cal calendar.Calendar) (calendar.Calendar, error) {
	var last *work
	err := i.imagine(ctx, &last, func(w *work) error {
		now, err := w.insert(ctx, cal)
		if err == nil {
			now.Wanted.Calendars = 1
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
func (i *Importer) foresee(
	ctx context.Context, cal calendar.Calendar, objects []*calendar.Object, results []calendar.ImportResult,
) error {
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
			if there := i.before.objects[change.ObjectKey{Calendar: cal.ID, UID: o.UID}]; there != nil {
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
	err := i.changePart(ctx, i.caller, &i.unit, func(w *work) error {
		w.before, w.Foreseen = i.before, i.before.grown
		if err := do(w); err != nil {
			return err
		}
		*last = w
		if err := w.CheckQuotas(ctx); err != nil {
			return err
		}
		return errPreview
	})
	if errors.Is(err, errPreview) {
		return nil
	}
	return err
}
