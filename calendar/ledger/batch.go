package ledger

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/change"
	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/edit"
	"caldav-mcp-server/calendar/lookup"
	"caldav-mcp-server/calendar/meter"
	"caldav-mcp-server/calendar/schedule"
	"caldav-mcp-server/ical"
)

// Batch collects changes of events and tasks that are made together: all of them, as one unit of the journal, or none.
// Nothing is written before the commit. Each change sees the results of the previous ones. See
// docs/decisions/0054-batches.md.
type Batch struct {
	*Ledger
	caller calendar.Caller
	meter  *meter.Meter
	tell   calendar.Telling
	plans  []*plan
	last   calendar.Change
}

// plan is the planned change of one object.
type plan struct {
	cal calendar.Calendar
	// before is the object as read, nil if it is new; now is the planned state, possibly deleted.
	before *calendar.Object
	now    calendar.Object
	from   calendar.UID
	// comment is for the people who are notified of a cancellation.
	comment string
	// done is the object as stored. It may differ, because it records the delivery of messages.
	done calendar.Object
}

// NewBatch returns an empty batch. Its objects stay in memory until the meter is closed.
func (s *Ledger) NewBatch(c calendar.Caller, m *meter.Meter, tell calendar.Telling) *Batch {
	return &Batch{Ledger: s, caller: c, meter: m, tell: tell}
}

// Last returns the latest change in the form of the journal, with the bytes before and after.
func (b *Batch) Last() calendar.Change { return b.last }

// State identifies the versions that the batch has read. It changes if another user changes one of them, and when the
// batch is committed. A new object has no version, so its calendar's version is used.
func (b *Batch) State() string {
	var was []string
	for _, p := range b.plans {
		if p.before != nil {
			was = append(was, string(p.before.ETag))
		} else {
			was = append(was, string(p.cal.ID)+"@"+strconv.FormatInt(int64(p.cal.Version), 10))
		}
	}
	return strings.Join(was, " ")
}

// Planned returns the planned state of an object, or false if the batch does not change it.
func (b *Batch) Planned(in calendar.CalendarID, uid calendar.UID) (calendar.Object, bool) {
	if p := b.plan(in, uid); p != nil {
		return p.now, true
	}
	return calendar.Object{}, false
}

// Place is an object in a calendar.
type Place struct {
	Calendar calendar.Calendar
	Object   calendar.Object
}

// All returns the planned state of all objects that the batch changes, in order; deleted ones are marked.
func (b *Batch) All() []Place {
	all := make([]Place, len(b.plans))
	for i, p := range b.plans {
		all[i] = Place{p.cal, p.now}
	}
	return all
}

// Before returns the stored state of an object that the batch changes, or nil if it is new.
func (b *Batch) Before(in calendar.CalendarID, uid calendar.UID) *calendar.Object {
	if p := b.plan(in, uid); p != nil {
		return p.before
	}
	return nil
}

// Base returns the stored object that a planned one comes from: an earlier version, or the series that it was split
// from. It is nil if the object is new.
func (b *Batch) Base(in calendar.CalendarID, uid calendar.UID) *calendar.Object {
	p := b.plan(in, uid)
	if p != nil && p.from != "" {
		p = b.plan(in, p.from)
	}
	if p == nil {
		return nil
	}
	return p.before
}

func (b *Batch) plan(in calendar.CalendarID, uid calendar.UID) *plan {
	i := slices.IndexFunc(b.plans, func(p *plan) bool { return p.cal.ID == in && p.now.UID == uid })
	if i < 0 {
		return nil
	}
	return b.plans[i]
}

// CreateTelling is [Ledger.CreateTelling] at commit time.
func (b *Batch) CreateTelling(
	ctx context.Context, c calendar.Caller, cal calendar.Calendar, d edit.Draft, _ calendar.Telling,
) (calendar.Saved, error) {
	if err := c.May(calendar.WriteObjects, cal); err != nil {
		return calendar.Saved{}, err
	}
	if d.UID == "" {
		d.UID = b.newUID()
	}
	doc, err := b.editor(cal).New(ctx, d)
	if err != nil {
		return calendar.Saved{}, lookup.Refusal(err)
	}
	if err := b.host(ctx, cal, doc); err != nil {
		return calendar.Saved{}, err
	}
	p := &plan{cal: cal, now: calendar.Object{Calendar: cal.ID, Name: nameFor(d.UID)}}
	if err := b.become(ctx, p, doc); err != nil {
		return calendar.Saved{}, err
	}
	b.plans = append(b.plans, p)
	b.note(p, calendar.Created, nil)
	return calendar.Saved{Object: p.now, Created: true}, nil
}

// EditObject is [Ledger.EditObject] at commit time.
func (b *Batch) EditObject(
	ctx context.Context, c calendar.Caller, cal calendar.Calendar, uid calendar.UID, e Edit,
) (Edited, error) {
	if err := c.May(calendar.WriteObjects, cal); err != nil {
		return Edited{}, err
	}
	return b.revise(ctx, cal, uid, e.When, b.changing(cal, e.Change))
}

// CancelObject is [Ledger.CancelObject] at commit time.
func (b *Batch) CancelObject(
	ctx context.Context, c calendar.Caller, cal calendar.Calendar, uid calendar.UID, e Cancellation,
) (Edited, error) {
	if err := mayCancel(c, cal); err != nil {
		return Edited{}, err
	}
	edited, err := b.revise(ctx, cal, uid, e.When, b.cancelling(cal, e.Target))
	if p := b.plan(cal.ID, uid); err == nil && e.Comment != "" {
		p.comment = e.Comment
	}
	return edited, err
}

// revise plans an edit of an object.
func (b *Batch) revise(
	ctx context.Context, cal calendar.Calendar, uid calendar.UID, when calendar.Precondition, do revise,
) (Edited, error) {
	p := b.plan(cal.ID, uid)
	if p == nil {
		now, err := b.SeenByUID(ctx, b.meter, b.caller, cal, uid)
		if err != nil {
			return Edited{}, err
		}
		p = &plan{cal: cal, before: &now, now: now}
		b.plans = append(b.plans, p)
	}
	if p.now.Deleted {
		return Edited{}, calendar.ErrNoUID(uid)
	}
	if err := when.Check(p.now.ETag); err != nil {
		return Edited{}, err
	}
	held := b.meter.Held()
	defer func() { b.meter.Free(b.meter.Held() - held - int64(len(p.now.Data))) }()
	if err := lookup.Weigh(b.meter, p.now); err != nil {
		return Edited{}, err
	}
	o, err := content.Read(p.now.Data, ical.Limits{})
	if err != nil {
		return Edited{}, calendar.Errorf(calendar.Unsupported, "", "the object cannot be edited: %v", err)
	}
	result, err := do(ctx, o)
	if err != nil {
		return Edited{}, lookup.Refusal(err)
	}
	return b.take(ctx, p, result)
}

// take adds the result of an edit to the plan.
func (b *Batch) take(ctx context.Context, p *plan, result edit.Result) (Edited, error) {
	before := p.now.Data
	if result.Document == nil {
		p.now.Deleted = true
		b.note(p, calendar.Deleted, before)
		return Edited{Saved: calendar.Saved{Object: p.now}}, nil
	}
	if err := b.become(ctx, p, result.Document); err != nil {
		return Edited{}, err
	}
	edited := Edited{Saved: calendar.Saved{Object: p.now}, Instance: result.Instance}
	if result.Split != nil {
		right := &plan{
			cal: p.cal, from: p.now.UID, now: calendar.Object{Calendar: p.cal.ID, Name: nameFor(result.SplitUID)},
		}
		if err := b.become(ctx, right, result.Split); err != nil {
			return Edited{}, err
		}
		b.plans = append(b.plans, right)
		edited.Split = &calendar.Saved{Object: right.now, Created: true}
		b.note(right, calendar.Modified, before)
		return edited, nil
	}
	b.note(p, calendar.Modified, before)
	return edited, nil
}

// become sets the planned text of an object.
func (b *Batch) become(ctx context.Context, p *plan, doc *ical.Document) error {
	data := ical.WithoutControls(doc.Bytes())
	if err := b.meter.Hold(int64(len(data))); err != nil {
		return err
	}
	derived, err := b.validator.Validate(ctx, p.cal, calendar.Draft{Name: p.now.Name, Data: data})
	if err != nil {
		return b.caller.Told(err)
	}
	p.now.Data, p.now.ETag, p.now.Size, p.now.Derived = data, calendar.ETagOf(data), int64(len(data)), derived
	return nil
}

func (b *Batch) note(p *plan, did calendar.ChangeKind, before []byte) {
	b.last = calendar.Change{
		Calendar: p.cal.ID, Object: p.now.Name, UID: p.now.UID, Did: did, At: b.now(), Kind: p.now.Kind,
		Summary: p.now.Summary,
		Before:  before, After: p.now.Data, In: p.cal,
	}
}

// Stored returns the ETag of an object after the commit, or "" if nothing is left of it.
func (b *Batch) Stored(in calendar.CalendarID, uid calendar.UID) calendar.ETag {
	p := b.plan(in, uid)
	switch {
	case p == nil || p.now.Deleted:
		return ""
	case p.done.ETag != "":
		return p.done.ETag
	}
	return p.now.ETag
}

// Foreseen are the consequences that a commit would have.
type Foreseen struct {
	// Told are the people who would get a message, Lost the answers that would be removed.
	Told []calendar.Told
	Lost []schedule.LostAnswer
}

// errForeseen rolls a change back.
var errForeseen = errors.New("only foreseen")

// Foresee runs the commit and rolls it back.
func (b *Batch) Foresee(ctx context.Context) (seen Foreseen, err error) {
	seen.Told, err = b.commit(ctx, func(context.Context, *work) error { return errForeseen })
	if err != nil && !errors.Is(err, errForeseen) {
		return seen, err
	}
	for _, p := range b.plans {
		lost, err := b.lost(p)
		if err != nil {
			return seen, err
		}
		seen.Lost = append(seen.Lost, lost...)
	}
	return seen, nil
}

// lost returns the answers that a rehearsed plan removes. The second part of a divided series had the answers of the
// whole. If the event is deleted, no one is asked again.
func (b *Batch) lost(p *plan) ([]schedule.LostAnswer, error) {
	before := p.before
	if of := b.plan(p.cal.ID, p.from); p.from != "" && of != nil {
		before = of.before
	}
	if before == nil || p.now.Deleted || len(p.done.Data) == 0 {
		return nil, nil
	}
	was, err := content.Read(before.Data, ical.Limits{})
	if err != nil {
		return nil, err
	}
	is, err := content.Read(p.done.Data, ical.Limits{})
	if err != nil {
		return nil, err
	}
	return schedule.Lost(was, is), nil
}

// Commit makes the changes. If another user has changed one of the objects since it was read, it makes none.
func (b *Batch) Commit(ctx context.Context) ([]calendar.Told, error) {
	if !slices.ContainsFunc(b.plans, func(p *plan) bool { return !p.idle() }) {
		return nil, nil
	}
	return b.commit(ctx, func(context.Context, *work) error { return nil })
}

// commit makes the changes and runs last in the same transaction.
func (b *Batch) commit(
	ctx context.Context, last func(context.Context, *work) error,
) (told []calendar.Told, err error) {
	plans := slices.DeleteFunc(slices.Clone(b.plans), (*plan).idle)
	err = b.change(ctx, b.caller, func(w *work) error {
		var ids []calendar.CalendarID
		for _, p := range plans {
			ids = append(ids, p.cal.ID)
		}
		slices.Sort(ids)
		for _, id := range slices.Compact(ids) {
			if _, err := w.LockFor(ctx, calendar.WriteObjects, id); err != nil {
				return err
			}
		}
		for _, p := range plans {
			if err := b.carryOut(ctx, w, p); err != nil && !errors.Is(err, change.ErrSame) {
				return err
			}
		}
		told = w.Told
		return last(ctx, w)
	})
	return told, err
}

// idle reports whether the plan changes nothing.
func (p *plan) idle() bool {
	if p.before == nil {
		return p.now.Deleted
	}
	return !p.now.Deleted && bytes.Equal(p.before.Data, p.now.Data)
}

func (b *Batch) carryOut(ctx context.Context, w *work, p *plan) error {
	when := calendar.Precondition{NoneMatchAny: true}
	if p.before != nil {
		when = calendar.Precondition{Match: []calendar.ETag{p.before.ETag}}
	}
	if !p.now.Deleted {
		saved := calendar.Saved{Object: p.now}
		err := w.along(ctx, p.cal.ID, w.save(ctx, &saved, calendar.Draft{
			Name: p.now.Name, Data: p.now.Data, When: when, Telling: b.tell, Comment: p.comment, From: p.from,
		}))
		p.done = saved.Object
		return err
	}
	in, err := w.LockFor(ctx, calendar.DeleteObjects, p.cal.ID)
	if err != nil {
		return err
	}
	old, err := w.FindObject(ctx, p.cal, p.now.Name, when)
	if err != nil {
		return err
	}
	return w.remove(ctx, in.Calendar, old, calendar.Draft{Telling: b.tell, Comment: p.comment})
}
