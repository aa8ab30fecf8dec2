package ledger

import (
	"context"
	"slices"

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
	// Telling says which people hear of it, where it is an event with guests.
	Telling calendar.Telling
	// Meter counts what it costs.
	Meter *meter.Meter
}

// Cancellation takes an event or a task away, or the instances of a series that its target names.
type Cancellation struct {
	edit.Target
	When calendar.Precondition
	// Telling says which people hear of it, where it is an event with guests.
	Telling calendar.Telling
	// Meter counts what it costs.
	Meter *meter.Meter
}

// Edited is the outcome of an edit.
type Edited struct {
	// Saved is the object as it is now; its Object is a tombstone when nothing is left of it.
	Saved calendar.Saved
	// Split is the object that begins where a series was split; nil when none was.
	Split *calendar.Saved
	// Instance names the instance that a change was aimed at, as it is named now: see [edit.Result].
	Instance ical.Time
	// Told are those who were written to.
	Told []calendar.Told
}

// EditObject changes an event or a task. A split series is written as one unit.
func (s *Ledger) EditObject(ctx context.Context, c calendar.Caller, cal calendar.Calendar, uid calendar.UID, e Edit) (Edited, error) {
	if err := c.May(calendar.WriteObjects, cal); err != nil {
		return Edited{}, err
	}
	r := revision{s, e.Meter, c, cal, e.Telling, s.changing(cal, e.Change), nil}
	return r.run(ctx, uid, e.When)
}

// revise is what an edit makes of an object.
type revise func(context.Context, *content.Object) (edit.Result, error)

// changing makes a change. An event that gets its first guests gets an organizer.
func (s *Ledger) changing(cal calendar.Calendar, change edit.Change) revise {
	return func(ctx context.Context, o *content.Object) (edit.Result, error) {
		had := attended(o) // which the change may write into
		result, err := s.editor(cal).Change(ctx, o, change)
		if err == nil && !had {
			err = s.host(ctx, cal, result.Document, result.Split)
		}
		return result, err
	}
}

// CancelObject removes an event or a task, or some instances of it. To the caller's credential
// all of these are deletions.
func (s *Ledger) CancelObject(ctx context.Context, c calendar.Caller, cal calendar.Calendar, uid calendar.UID, e Cancellation) (Edited, error) {
	if err := mayCancel(c, cal); err != nil {
		return Edited{}, err
	}
	r := revision{s, e.Meter, c, cal, e.Telling, s.cancelling(cal, e.Target), nil}
	return r.run(ctx, uid, e.When)
}

func mayCancel(c calendar.Caller, cal calendar.Calendar) error {
	for _, action := range [...]calendar.Action{calendar.WriteObjects, calendar.DeleteObjects} {
		if err := c.May(action, cal); err != nil {
			return err
		}
	}
	return nil
}

func (s *Ledger) cancelling(cal calendar.Calendar, t edit.Target) revise {
	return func(ctx context.Context, o *content.Object) (edit.Result, error) {
		return s.editor(cal).Cancel(ctx, o, t)
	}
}

// revision is an edit on its way into the store.
type revision struct {
	*Ledger
	meter  *meter.Meter
	caller calendar.Caller
	cal    calendar.Calendar
	tell   calendar.Telling
	do     revise
	// along is what else is done where the object is stored; nil for nothing.
	along func(context.Context, *work) error
}

// editAttempts bounds how often an edit begins anew since somebody else was faster.
const editAttempts = 4

// run reads, edits and stores. The edit, which may take a while, holds no lock: what was
// changed in between is read again.
func (r revision) run(ctx context.Context, uid calendar.UID, when calendar.Precondition) (Edited, error) {
	var failed error
	for range editAttempts {
		held := r.meter.Held()
		now, err := r.SeenByUID(ctx, r.meter, r.caller, r.cal, uid)
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
		told, err := r.delete(ctx, r.caller, r.cal, calendar.Draft{Name: now.Name, When: unchanged, Telling: r.tell})
		return Edited{Saved: calendar.Saved{Object: now}, Told: told}, err
	}
	drafts := []calendar.Draft{{Name: now.Name, Data: result.Document.Bytes(), When: unchanged, Telling: r.tell, Edited: true}}
	if result.Split != nil {
		drafts = append(drafts, calendar.Draft{Name: nameFor(result.SplitUID), Data: result.Split.Bytes(), When: calendar.Precondition{NoneMatchAny: true}, Telling: r.tell, Edited: true, From: now.UID})
	}
	saved, err := r.saveAll(ctx, r.caller, r.cal, drafts, r.along)
	if err != nil {
		return Edited{}, err
	}
	edited := Edited{Saved: saved[0], Instance: result.Instance, Told: saved[0].Told}
	if len(saved) > 1 {
		edited.Split = &saved[1]
		edited.Told = slices.Concat(edited.Told, saved[1].Told)
	}
	return edited, nil
}

// editor is one for a calendar, whose zone its floating times take.
func (s *Ledger) editor(cal calendar.Calendar) edit.Editor {
	return edit.Editor{Zones: s.zones, Floating: cal.Floating(s.zones), Now: s.now(), NewUID: s.newUID}
}
