package ledger

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"regexp"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/ical"
)

// Importer takes over what has a life elsewhere. All that it does is one unit of the journal, which
// is taken back at once, in as many transactions as others need to get their turn in between.
type Importer struct {
	*Ledger
	calendar.ImportOptions
	caller calendar.Caller
	unit   calendar.ChangeID
	// planned are the calendars that a preview would have made or changed, by address, unmade those of them that are not
	// there.
	planned map[calendar.Segment]calendar.Calendar
	unmade  map[calendar.CalendarID]bool
	before  *imagined
}

// NewImporter makes an Importer for one import.
func (s *Ledger) NewImporter(c calendar.Caller, o calendar.ImportOptions) *Importer {
	return &Importer{
		Ledger: s, ImportOptions: o, caller: c, before: newImagined(),
		planned: map[calendar.Segment]calendar.Calendar{}, unmade: map[calendar.CalendarID]bool{},
	}
}

// Change is the first of the changes that were made, with which all are taken back; ok tells
// whether there is any.
func (i *Importer) Change() (id calendar.ChangeID, ok bool) {
	return i.unit, i.unit != calendar.ChangeID{}
}

// Store stores objects in a calendar, in one transaction. A fault in one does not touch the others.
func (i *Importer) Store(ctx context.Context, cal calendar.Calendar, batch []calendar.Import) ([]calendar.ImportResult, error) {
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
	err := i.changeIn(ctx, i.caller, &i.unit, func(w *work) error {
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
			return errSame
		}
		return nil
	})
	return results, unlessSame(err)
}

// prepare looks at an object before any lock is taken.
func (i *Importer) prepare(ctx context.Context, cal calendar.Calendar, one calendar.Import) (*calendar.Object, error) {
	// As it would be stored: what is there already is compared to it.
	one.Data = ical.WithoutControls(one.Data)
	if err := i.mayHold(one.Data); err != nil {
		return nil, err
	}
	o, err := i.read(ctx, one.Data)
	if err != nil {
		return nil, err
	}
	if !cal.Kinds.Has(calendar.Kind(o.Kind)) {
		return nil, errKind(cal, calendar.Kind(o.Kind))
	}
	name := cmp.Or(one.Name, nameOf(calendar.UID(o.UID)))
	if err := name.Validate(); err != nil {
		return nil, err
	}
	return &calendar.Object{
		Calendar: cal.ID, Name: name, ETag: calendar.ETagOf(one.Data), Size: int64(len(one.Data)), Data: one.Data, Derived: i.derivedOf(o),
	}, nil
}

// against tells what becomes of an object where there is another one with its UID.
func (i *Importer) against(there, next []byte) calendar.Imported {
	switch {
	case there == nil:
		return calendar.ImportedNew
	case bytes.Equal(there, next):
		return calendar.ImportedSame
	case i.Replace:
		return calendar.ImportedReplaced
	}
	return calendar.ImportedKept
}

// take is the part of Store that runs under the calendar's lock.
func (i *Importer) take(ctx context.Context, w *work, next calendar.Object) (calendar.ImportResult, error) {
	cal, atName, there, err := w.openAt(ctx, calendar.WriteObjects, next.Calendar, next.Name, next.UID)
	if err == nil && there == nil && atName != nil {
		// Something else has that name. UIDs tell objects apart, names need not.
		next.Name = hashedName(next.UID)
		atName, there, err = w.live(ctx, next.Calendar, next.Name, next.UID)
	}
	if err != nil {
		return calendar.ImportResult{}, err
	}
	next.Modified = w.now().Truncate(time.Second)
	next.Created = next.Modified
	result := calendar.ImportResult{Did: calendar.ImportedNew}
	switch {
	case there != nil:
		result.Did = i.against(there.Data, next.Data)
		next.Name, next.Created = there.Name, there.Created
	case atName != nil:
		return calendar.ImportResult{Err: calendar.Errorf(calendar.Exists, "", "other objects have the names that it could have")}, nil
	}
	if result.Did == calendar.ImportedSame || result.Did == calendar.ImportedKept {
		return result, nil
	}
	if there == nil {
		if err := w.elsewhere(ctx, cal.Calendar, next); err != nil {
			if calendar.ReasonOf(err) != calendar.Exists {
				return calendar.ImportResult{}, err
			}
			return calendar.ImportResult{Err: err}, nil
		}
	}
	if w.owned(cal.Calendar) {
		_, err = w.put(ctx, next, there)
		return result, err
	}
	err = w.saveShared(ctx, cal, &calendar.Saved{Object: next}, calendar.Draft{Telling: calendar.Unscheduled}, there, nil)
	if errors.Is(err, errSame) {
		result.Did, err = calendar.ImportedSame, nil
	}
	return result, w.along(ctx, cal.ID, err)
}

// plainUID are the UIDs that make a name which needs no escape in a URL.
var plainUID = regexp.MustCompile(`^[A-Za-z0-9_@-][A-Za-z0-9._@-]{0,199}$`)

// nameOf makes an object's name of its UID, as clients do.
func nameOf(uid calendar.UID) calendar.ObjectName {
	if plainUID.MatchString(string(uid)) {
		return calendar.ObjectName(uid + ".ics")
	}
	return hashedName(uid)
}

func hashedName(uid calendar.UID) calendar.ObjectName {
	sum := sha256.Sum256([]byte(uid))
	return calendar.ObjectName(hex.EncodeToString(sum[:16]) + ".ics")
}
