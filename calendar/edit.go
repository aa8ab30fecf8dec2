package calendar

import (
	"context"
	"errors"

	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/edit"
	"caldav-mcp-server/ical"
)

// Edit is a change of an event or a task: all of it, or the instances of a series that its
// target names. Without a precondition it is made to whatever the object is by then.
type Edit struct {
	edit.Change
	When Precondition
}

// Cancellation takes an event or a task away, or the instances of a series that its target names.
type Cancellation struct {
	edit.Target
	When Precondition
}

// Edited is what came of an edit.
type Edited struct {
	// Saved is the object as it is now; its Object is a tombstone when nothing is left of it.
	Saved Saved
	// Split is the object that begins where a series was split; nil when none was.
	Split *Saved
	// Instance names the instance that a change was aimed at, as it is named now: see [edit.Result].
	Instance ical.Time
}

// EditObject changes an event or a task. A split series is written as one unit.
func (s *Service) EditObject(ctx context.Context, c Caller, cal Calendar, uid UID, e Edit) (Edited, error) {
	if err := c.May(WriteObjects, cal); err != nil {
		return Edited{}, err
	}
	r := revision{s, c, cal, func(ctx context.Context, o *content.Object) (edit.Result, error) {
		return s.editor(cal).Change(ctx, o, e.Change)
	}}
	return r.run(ctx, uid, e.When)
}

// CancelObject removes an event or a task, or some instances of it. To the caller's credential
// all of these are deletions.
func (s *Service) CancelObject(ctx context.Context, c Caller, cal Calendar, uid UID, e Cancellation) (Edited, error) {
	for _, action := range [...]Action{WriteObjects, DeleteObjects} {
		if err := c.May(action, cal); err != nil {
			return Edited{}, err
		}
	}
	r := revision{s, c, cal, func(ctx context.Context, o *content.Object) (edit.Result, error) {
		return s.editor(cal).Cancel(ctx, o, e.Target)
	}}
	return r.run(ctx, uid, e.When)
}

// ObjectByUID returns one object of a calendar by its UID, with its data.
func (s *Service) ObjectByUID(ctx context.Context, c Caller, cal Calendar, uid UID) (Object, error) {
	if err := c.May(ReadObjects, cal); err != nil {
		return Object{}, err
	}
	o, err := s.store.ObjectByUID(ctx, cal.ID, uid)
	if err != nil && ReasonOf(err) == NotFound {
		return Object{}, errNoUID(uid)
	}
	return o, err
}

// revision is an edit on its way into the store.
type revision struct {
	*Service
	caller Caller
	cal    Calendar
	do     func(context.Context, *content.Object) (edit.Result, error)
}

// editAttempts bounds how often an edit begins anew since somebody else was faster.
const editAttempts = 4

// run reads, edits and stores. The edit, which may take a while, holds no lock: what was
// changed in between is read again.
func (r revision) run(ctx context.Context, uid UID, when Precondition) (Edited, error) {
	var failed error
	for range editAttempts {
		now, err := r.ObjectByUID(ctx, r.caller, r.cal, uid)
		if err != nil {
			return Edited{}, err
		}
		if err := when.Check(now.ETag); err != nil {
			return Edited{}, err
		}
		edited, err := r.attempt(ctx, now)
		if err == nil || ReasonOf(err) != Stale {
			return edited, err
		}
		failed = err
	}
	return Edited{}, failed
}

// attempt edits an object and stores it, if it is still the same.
func (r revision) attempt(ctx context.Context, now Object) (Edited, error) {
	o, err := content.Read(now.Data, ical.Limits{})
	if err != nil {
		return Edited{}, Errorf(Unsupported, "", "the object cannot be edited: %v", err)
	}
	result, err := r.do(ctx, o)
	if err != nil {
		return Edited{}, editError(err)
	}
	unchanged := Precondition{Match: []ETag{now.ETag}}
	if result.Document == nil {
		now.Deleted = true
		return Edited{Saved: Saved{Object: now}}, r.Delete(ctx, r.caller, r.cal, now.Name, unchanged)
	}
	drafts := []Draft{{Name: now.Name, Data: result.Document.Bytes(), When: unchanged}}
	if result.Split != nil {
		drafts = append(drafts, Draft{Name: nameFor(result.SplitUID), Data: result.Split.Bytes(), When: Precondition{NoneMatchAny: true}})
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
func (s *Service) editor(cal Calendar) edit.Editor {
	return edit.Editor{Zones: s.zones, Floating: s.floating(cal, nil), Now: s.now(), NewUID: s.newUID}
}

// editReasons renders the refusals of edits.
var editReasons = map[edit.Code]Reason{
	edit.NoInstance: NotFound, edit.NotSeries: Invalid, edit.NoScope: Invalid, edit.BadField: Invalid, edit.BadTime: Invalid,
	edit.RuleBound: Unsupported, edit.Unsupported: Unsupported, edit.TooExpensive: TooLarge,
}

func editError(err error) error {
	refused, ok := errors.AsType[*edit.Error](err)
	if !ok {
		return err
	}
	e := Errorf(editReasons[refused.Code], "", "%s", refused.Message)
	e.Hint, e.Cause = refused.Hint, refused
	if refused.Code == edit.TooExpensive {
		e.Rule = RuleMaxInstances
	}
	return e
}
