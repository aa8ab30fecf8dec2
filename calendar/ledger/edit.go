package ledger

import (
	"context"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/edit"
	"caldav-mcp-server/calendar/lookup"
	"caldav-mcp-server/calendar/meter"
	"caldav-mcp-server/ical"
)

// Edit is a change of an event or a task: all of it, or the instances of a series that its
// target names. Without a precondition it is made to whatever the object is by then.
type Edit struct {
	edit.Change
	When calendar.Precondition
	// Meter counts what it costs.
	Meter *meter.Meter
}

// Cancellation takes an event or a task away, or the instances of a series that its target names.
type Cancellation struct {
	edit.Target
	When calendar.Precondition
	// Meter counts what it costs.
	Meter *meter.Meter
}

// Edited is what came of an edit.
type Edited struct {
	// Saved is the object as it is now; its Object is a tombstone when nothing is left of it.
	Saved calendar.Saved
	// Split is the object that begins where a series was split; nil when none was.
	Split *calendar.Saved
	// Instance names the instance that a change was aimed at, as it is named now: see [edit.Result].
	Instance ical.Time
}

// EditObject changes an event or a task. A split series is written as one unit.
func (s *Ledger) EditObject(ctx context.Context, c calendar.Caller, cal calendar.Calendar, uid calendar.UID, e Edit) (Edited, error) {
	if err := c.May(calendar.WriteObjects, cal); err != nil {
		return Edited{}, err
	}
	r := revision{s, e.Meter, c, cal, func(ctx context.Context, o *content.Object) (edit.Result, error) {
		return s.editor(cal).Change(ctx, o, e.Change)
	}}
	return r.run(ctx, uid, e.When)
}

// CancelObject removes an event or a task, or some instances of it. To the caller's credential
// all of these are deletions.
func (s *Ledger) CancelObject(ctx context.Context, c calendar.Caller, cal calendar.Calendar, uid calendar.UID, e Cancellation) (Edited, error) {
	for _, action := range [...]calendar.Action{calendar.WriteObjects, calendar.DeleteObjects} {
		if err := c.May(action, cal); err != nil {
			return Edited{}, err
		}
	}
	r := revision{s, e.Meter, c, cal, func(ctx context.Context, o *content.Object) (edit.Result, error) {
		return s.editor(cal).Cancel(ctx, o, e.Target)
	}}
	return r.run(ctx, uid, e.When)
}

// revision is an edit on its way into the store.
type revision struct {
	*Ledger
	meter  *meter.Meter
	caller calendar.Caller
	cal    calendar.Calendar
	do     func(context.Context, *content.Object) (edit.Result, error)
}

// editAttempts bounds how often an edit begins anew since somebody else was faster.
const editAttempts = 4

// run reads, edits and stores. The edit, which may take a while, holds no lock: what was
// changed in between is read again.
func (r revision) run(ctx context.Context, uid calendar.UID, when calendar.Precondition) (Edited, error) {
	var failed error
	for range editAttempts {
		held := r.meter.Held()
		now, err := r.ObjectByUID(ctx, r.meter, r.caller, r.cal, uid)
		if err != nil {
			return Edited{}, err
		}
		if err := when.Check(now.ETag); err != nil {
			return Edited{}, err
		}
		edited, err := r.attempt(ctx, now)
		r.meter.Free(r.meter.Held() - held)
		if err == nil || calendar.ReasonOf(err) != calendar.Stale {
			return edited, err
		}
		failed = err
	}
	return Edited{}, failed
}

// attempt edits an object and stores it, if it is still the same.
func (r revision) attempt(ctx context.Context, now calendar.Object) (Edited, error) {
	if err := lookup.Weigh(r.meter, now); err != nil {
		return Edited{}, err
	}
	o, err := content.Read(now.Data, ical.Limits{})
	if err != nil {
		return Edited{}, calendar.Errorf(calendar.Unsupported, "", "the object cannot be edited: %v", err)
	}
	result, err := r.do(ctx, o)
	if err != nil {
		return Edited{}, lookup.Refusal(err)
	}
	unchanged := calendar.Precondition{Match: []calendar.ETag{now.ETag}}
	if result.Document == nil {
		now.Deleted = true
		return Edited{Saved: calendar.Saved{Object: now}}, r.Delete(ctx, r.caller, r.cal, now.Name, unchanged)
	}
	drafts := []calendar.Draft{{Name: now.Name, Data: result.Document.Bytes(), When: unchanged}}
	if result.Split != nil {
		drafts = append(drafts, calendar.Draft{Name: nameFor(result.SplitUID), Data: result.Split.Bytes(), When: calendar.Precondition{NoneMatchAny: true}})
	}
	saved, err := r.saveAll(ctx, r.caller, r.cal, drafts)
	if err != nil {
		return Edited{}, err
	}
	edited := Edited{Saved: saved[0], Instance: result.Instance}
	if len(saved) > 1 {
		edited.Split = &saved[1]
	}
	return edited, nil
}

// editor is one for a calendar, whose zone its floating times take.
func (s *Ledger) editor(cal calendar.Calendar) edit.Editor {
	return edit.Editor{Zones: s.zones, Floating: cal.Floating(s.zones), Now: s.now(), NewUID: s.newUID}
}
