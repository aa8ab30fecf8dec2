package ledger

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"regexp"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/change"
	"caldav-mcp-server/ical"
)

// Importer imports calendars and objects. An import is one unit of the journal, which can be undone as a whole. It
// takes several transactions, so that other writers get their turn.
type Importer struct {
	*Ledger
	calendar.ImportOptions
	caller calendar.Caller
	unit   calendar.ChangeID
	// planned holds the calendars that a preview would have created or changed, by address. unmade marks the ones that
	// the preview did not really create.
	planned map[calendar.Segment]calendar.Calendar
	unmade  map[calendar.CalendarID]bool
	before  *imagined
}

// NewImporter returns an Importer for one import.
func (s *Ledger) NewImporter(c calendar.Caller, o calendar.ImportOptions) *Importer {
	return &Importer{
		Ledger: s, ImportOptions: o, caller: c, before: newImagined(),
		planned: map[calendar.Segment]calendar.Calendar{}, unmade: map[calendar.CalendarID]bool{},
	}
}

// Change returns the id of the first change, which undoes the whole import. ok is false if nothing changed.
func (i *Importer) Change() (id calendar.ChangeID, ok bool) {
	return i.unit, i.unit != calendar.ChangeID{}
}

// Continue makes the import part of an earlier one that was interrupted, so that one undo reverts both.
func (i *Importer) Continue(first calendar.ChangeID) { i.unit = first }

// Store stores objects in a calendar, in one transaction. An invalid object does not affect the others.
func (i *Importer) Store(
	ctx context.Context, cal calendar.Calendar, batch []calendar.Import,
) ([]calendar.ImportResult, error) {
	if err := i.caller.May(calendar.WriteObjects, cal); err != nil {
		return nil, err
	}
	results, objects := make([]calendar.ImportResult, len(batch)), make([]*calendar.Object, len(batch))
	for n, one := range batch {
		objects[n], results[n].Err = i.prepare(ctx, cal, one)
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	if i.Preview {
		return results, i.foresee(ctx, cal, objects, results)
	}
	err := i.changePart(ctx, i.caller, &i.unit, func(w *work) error {
		changed := false
		for n, o := range objects {
			if o == nil {
				continue
			}
			var err error
			if results[n], err = i.take(ctx, w, *o); err != nil {
				return err
			}
			changed = changed || results[n].Did == calendar.ImportedNew || results[n].Did == calendar.ImportedReplaced
		}
		if !changed {
			return change.ErrSame
		}
		return nil
	})
	return results, change.UnlessSame(err)
}

// prepare checks an object before any lock is taken.
func (i *Importer) prepare(ctx context.Context, cal calendar.Calendar, one calendar.Import) (*calendar.Object, error) {
	// In its stored form, for the comparison with an existing object.
	one.Data = ical.WithoutControls(one.Data)
	if err := i.validator.CheckSize(one.Data); err != nil {
		return nil, err
	}
	o, err := i.validator.Read(ctx, one.Data)
	if err != nil {
		return nil, err
	}
	if !cal.Kinds.Has(calendar.Kind(o.Kind)) {
		return nil, change.ErrKind(cal, calendar.Kind(o.Kind))
	}
	name := cmp.Or(one.Name, nameOf(calendar.UID(o.UID)))
	if err := name.Validate(); err != nil {
		return nil, err
	}
	return &calendar.Object{
		Calendar: cal.ID, Name: name, ETag: calendar.ETagOf(one.Data), Size: int64(len(one.Data)), Data: one.Data,
		Derived: i.validator.DerivedOf(o),
	}, nil
}

// against returns the result for an object if another one has its UID.
func (i *Importer) against(there, next []byte) calendar.Imported {
	switch {
	case there == nil:
		return calendar.ImportedNew
	case bytes.Equal(there, next) || sameComponents(there, next):
		return calendar.ImportedSame
	case i.Replace:
		return calendar.ImportedReplaced
	}
	return calendar.ImportedKept
}

// sameComponents reports whether two objects have the same components. An export writes one PRODID and each time zone
// once for the whole file, so the lines around a component say nothing about it.
func sameComponents(a, b []byte) bool {
	first, err := componentsOf(a)
	if err != nil {
		return false
	}
	second, err := componentsOf(b)
	return err == nil && bytes.Equal(first, second)
}

func componentsOf(data []byte) ([]byte, error) {
	doc, err := ical.Parse(data, ical.Limits{})
	if err != nil {
		return nil, err
	}
	root, err := doc.Calendar()
	if err != nil {
		return nil, err
	}
	var text []byte
	for c := range root.Components() {
		if c.Name() != "VTIMEZONE" {
			text = append(text, ical.NewDocument(c).Bytes()...)
		}
	}
	return text, nil
}

// take is the part of Store that runs under the calendar's lock.
func (i *Importer) take(ctx context.Context, w *work, next calendar.Object) (calendar.ImportResult, error) {
	cal, atName, there, err := w.LockObject(ctx, calendar.WriteObjects, next.Calendar, next.Name, next.UID)
	if err == nil && there == nil && atName != nil {
		// Another object has that name. Only the UID identifies an object, so the name may change.
		next.Name = change.HashedName(next.UID)
		atName, there, err = w.LiveObject(ctx, next.Calendar, next.Name, next.UID)
	}
	if err != nil {
		return calendar.ImportResult{}, err
	}
	next.Modified = w.Now().Truncate(time.Second)
	next.Created = next.Modified
	result := calendar.ImportResult{Did: calendar.ImportedNew}
	switch {
	case there != nil:
		result.Did = i.against(there.Data, next.Data)
		next.Name, next.Created = there.Name, there.Created
	case atName != nil:
		return calendar.ImportResult{Err: calendar.Errorf(calendar.Exists, "",
			"other objects have the names that it could have")}, nil
	}
	if result.Did == calendar.ImportedSame || result.Did == calendar.ImportedKept {
		return result, nil
	}
	if there == nil {
		if err := w.scheduling.UniqueForOwner(ctx, cal.Calendar, next, w.before.copiesOf(next.UID)); err != nil {
			if calendar.ReasonOf(err) != calendar.Exists {
				return calendar.ImportResult{}, err
			}
			return calendar.ImportResult{Err: err}, nil
		}
	}
	if w.Owns(cal.Calendar) {
		_, err = w.Write(ctx, next, there)
		return result, err
	}
	err = w.saveShared(ctx, cal, &calendar.Saved{Object: next}, calendar.Draft{Telling: calendar.Unscheduled}, there,
		nil)
	if errors.Is(err, change.ErrSame) {
		result.Did, err = calendar.ImportedSame, nil
	}
	return result, w.along(ctx, cal.ID, err)
}

// plainUID matches UIDs that need no escape in a URL.
var plainUID = regexp.MustCompile(`^[A-Za-z0-9_@-][A-Za-z0-9._@-]{0,199}$`)

// nameOf derives an object's name from its UID, as clients do.
func nameOf(uid calendar.UID) calendar.ObjectName {
	if plainUID.MatchString(string(uid)) {
		return calendar.ObjectName(uid + ".ics")
	}
	return change.HashedName(uid)
}
