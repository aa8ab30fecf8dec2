package ledger

import (
	"context"
	"errors"
	"slices"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/change"
	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/edit"
	"caldav-mcp-server/calendar/lookup"
	"caldav-mcp-server/calendar/meter"
	"caldav-mcp-server/calendar/schedule"
	"caldav-mcp-server/ical"
)

// Edit is a change of an event or a task, or of those instances of a series that its target names. Without a
// precondition it applies to the latest version.
type Edit struct {
	edit.Change
	When calendar.Precondition
	// Telling selects the people to notify, if the event has attendees.
	Telling calendar.Telling
	// Meter counts the cost.
	Meter *meter.Meter
}

// Cancellation deletes an event or a task, or those instances of a series that its target names.
type Cancellation struct {
	edit.Target
	When calendar.Precondition
	// Telling selects the people to notify, if the event has attendees.
	Telling calendar.Telling
	// Comment is for the people who are notified.
	Comment string
	// Meter counts the cost.
	Meter *meter.Meter
}

// Edited is the result of an edit.
type Edited struct {
	// Saved is the new state of the object; its Object is a tombstone if nothing is left of it.
	Saved calendar.Saved
	// Split is the new object that begins where a series was split; nil if there was no split.
	Split *calendar.Saved
	// Instance is the new recurrence id of the targeted instance, see [edit.Result].
	Instance ical.Time
	// Told lists the people who were notified.
	Told []calendar.Told
}

// EditObject changes an event or a task. Both halves of a split series are written as one unit.
func (s *Ledger) EditObject(
	ctx context.Context, c calendar.Caller, cal calendar.Calendar, uid calendar.UID, e Edit,
) (Edited, error) {
	if err := c.May(calendar.WriteObjects, cal); err != nil {
		return Edited{}, err
	}
	r := revision{Ledger: s, meter: e.Meter, caller: c, cal: cal, tell: e.Telling, do: s.changing(cal, e.Change)}
	return r.run(ctx, uid, e.When)
}

// revise computes the result of an edit of an object.
type revise func(context.Context, *content.Object) (edit.Result, error)

// changing returns the function that applies a change. An event that gets its first attendees gets an organizer.
func (s *Ledger) changing(cal calendar.Calendar, change edit.Change) revise {
	return func(ctx context.Context, o *content.Object) (edit.Result, error) {
		had := attended(o) // evaluated first, because the change may modify o
		result, err := s.editor(cal).Change(ctx, o, change)
		if err == nil && !had {
			err = s.host(ctx, cal, result.Document, result.Split)
		}
		return result, err
	}
}

// CancelObject deletes an event or a task, or some instances of it. All of these need the permission to delete.
func (s *Ledger) CancelObject(
	ctx context.Context, c calendar.Caller, cal calendar.Calendar, uid calendar.UID, e Cancellation,
) (Edited, error) {
	if err := mayCancel(c, cal); err != nil {
		return Edited{}, err
	}
	r := revision{
		Ledger: s, meter: e.Meter, caller: c, cal: cal, tell: e.Telling, comment: e.Comment,
		do: s.cancelling(cal, e.Target),
	}
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

// revision is an edit that is being applied.
type revision struct {
	*Ledger
	meter  *meter.Meter
	caller calendar.Caller
	cal    calendar.Calendar
	tell   calendar.Telling
	// comment is for the people who are notified of a cancellation.
	comment string
	do      revise
	// along is a further step in the same transaction, or nil.
	along func(context.Context, *work) error
	// changes makes an edit without effect the error [change.ErrSame], because along did not run.
	changes bool
	// agreed is the attendee who chose the new times; "" if there is none.
	agreed schedule.Address
}

// editAttempts bounds the retries after another user was faster.
const editAttempts = 4

// run reads, edits and stores an object. The edit may take a while and holds no lock. If the object changes in between,
// it is read and edited again.
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
		told, err := r.delete(ctx, r.caller, r.cal, calendar.Draft{
			Name: now.Name, When: unchanged, Telling: r.tell, Comment: r.comment,
		})
		return Edited{Saved: calendar.Saved{Object: now}, Told: told}, err
	}
	drafts := []calendar.Draft{{
		Name: now.Name, Data: result.Document.Bytes(), When: unchanged, Telling: r.tell,
		Comment: r.comment, Edited: true, Agreed: string(r.agreed),
	}}
	if result.Split != nil {
		drafts = append(drafts, calendar.Draft{
			Name: nameFor(result.SplitUID), Data: result.Split.Bytes(), When: calendar.Precondition{NoneMatchAny: true},
			Telling: r.tell, Edited: true, From: now.UID,
		})
	}
	saved, err := r.saveAll(ctx, r.caller, r.cal, drafts, r.along)
	if errors.Is(err, change.ErrSame) && !r.changes {
		err = nil
	}
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

// editor returns an editor for a calendar, with the calendar's zone for floating times.
func (s *Ledger) editor(cal calendar.Calendar) edit.Editor {
	return edit.Editor{Zones: s.zones, Floating: cal.Floating(s.zones), Now: s.now(), NewUID: s.newUID}
}
