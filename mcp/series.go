package mcp

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/edit"
	"caldav-mcp-server/calendar/ledger"
	"caldav-mcp-server/calendar/query"
	"caldav-mcp-server/ical"
	"caldav-mcp-server/mcp/wire"
)

// subject is the target of a call: an event, a task, or instances of a series.
type subject struct {
	cal calendar.Calendar
	// when is the call's precondition.
	when calendar.Precondition
	// found is the named instance, or the object as a whole.
	found query.Instance
	// id is the recurrence id of the instance, or zero if none was named.
	id    ical.Time
	scope edit.Scope
	zone  zoned
}

// noun is the name of a kind of object.
type noun struct {
	kind calendar.Kind
	name string
	// list is the tool that lists such objects.
	list string
	// one is the name with its article. instead names the tools that do take this kind.
	one, instead string
}

var (
	anEvent = noun{
		calendar.Event, "event", "query_events", "an event",
		"use the tools for events: get_event, patch_event, move_event or delete_event, with this uid as event_uid",
	}
	aTask = noun{
		calendar.Todo, "task", "list_tasks", "a task",
		"use the tools for tasks: get_task, update_task, move_task or delete_task, with this uid as task_uid",
	}
)

// errOther refuses an object of another kind, and names the tools for it.
func errOther(n noun, o calendar.Object, cal calendar.Calendar) error {
	for _, other := range [...]noun{anEvent, aTask} {
		if other.kind == o.Kind {
			return calendar.Errorf(calendar.NotFound, "", "%s in %s is %s, not %s: %s", wire.Quote(string(o.UID)),
				wire.Quote(cal.Name), other.one, n.one, wire.Quote(o.Summary)).
				Advising(other.instead)
		}
	}
	return calendar.Errorf(calendar.NotFound, "",
		"%s in %s is a journal entry, not %s; no tool supports journal entries", wire.Quote(string(o.UID)),
		wire.Quote(cal.Name), n.one)
}

// subject finds the target of a call, and its time zone.
func (b toolbox) subject(ctx context.Context, c *call, n noun, r reference) (subject, error) {
	cal, err := b.calendarNamed(ctx, c, r.Calendar)
	if err != nil {
		return subject{}, err
	}
	s := subject{cal: cal, scope: r.scope, when: r.when()}
	if s.zone, err = b.zoneToWrite(c, r.inZone, cal); err != nil {
		return subject{}, err
	}
	o, err := b.object(ctx, c, cal, n, r.UID)
	if err != nil && calendar.ReasonOf(err) == calendar.NotFound {
		if as, ok := r.orID(cal.ID); ok {
			r = as
			o, err = b.object(ctx, c, cal, n, r.UID)
		}
	}
	if err != nil {
		return subject{}, err
	}
	if s.id, err = recurrenceID(r.RecurrenceID); err != nil {
		return subject{}, err
	}
	s.found, err = b.service.InstanceOf(ctx, c.meter, cal, o, s.id)
	c.about(standing(c.caller, cal, s.found.Component).Untrusted)
	s.zone.series = s.reaches()
	s.zone.seen = map[string]time.Time{"start": s.found.Start.Time, "end": s.found.End.Time, "due": s.found.End.Time}
	return s, err
}

// aim is subject for tools that change data. For a series, the call must give a scope.
func (b toolbox) aim(ctx context.Context, c *call, n noun, r reference) (subject, error) {
	s, err := b.subject(ctx, c, n, r)
	if err != nil || !s.found.Object.Recurring || s.scope == edit.All || s.scope != "" && !s.id.IsZero() {
		return s, err
	}
	if s.scope != "" {
		return subject{}, errArgument(`"scope" is %s, but "recurrence_id" is missing: name the instance`,
			wire.Quote(string(s.scope)))
	}
	e := errArgument("the %s %s is a series, and the call does not say how much of it is meant", n.name,
		wire.Quote(s.found.Object.Summary))
	e.Hint = `give the "recurrence_id" of the instance that is meant, as listed, with "scope": "this",` +
		` "following" or "all"`
	if !s.id.IsZero() {
		e.Hint = `give "scope": "this" for this instance alone, "following" for it and those after it, or "all"`
	}
	return subject{}, e
}

// withSubject is doing for a tool with an event or a task as its target, which find looks up: see toolbox.subject and
// toolbox.aim.
func withSubject[A any, P interface {
	*A
	takes() []field
	refers() reference
}](n noun, find func(context.Context, *call, noun, reference) (subject, error), do func(context.Context, *call, subject,
	P) (answer, error),
) func() job {
	return doing(func(ctx context.Context, c *call, in P) (answer, error) {
		s, err := find(ctx, c, n, in.refers())
		if err != nil {
			return answer{}, err
		}
		return do(ctx, c, s, in)
	})
}

// object finds an object of a kind.
func (b toolbox) object(
	ctx context.Context, c *call, cal calendar.Calendar, n noun, uid calendar.UID,
) (calendar.Object, error) {
	o, err := b.objectByUID(ctx, c, cal, uid)
	if err == nil && o.Kind == n.kind {
		return o, nil
	}
	if err != nil && calendar.ReasonOf(err) == calendar.NotFound && (marks.MatchString(string(uid)) ||
		strings.Contains(string(uid), `\u`)) {
		return b.objectShown(ctx, c, cal, n, uid)
	}
	switch {
	case err == nil:
		c.about(writerIn(c, cal, o))
		return o, errOther(n, o, cal)
	case calendar.ReasonOf(err) != calendar.NotFound:
		return o, err
	}
	return o, calendar.Errorf(calendar.NotFound, "", "no %s %s in %s", n.name, wire.Quote(string(uid)),
		wire.Quote(cal.Name)).
		Advising("take the uid from " + n.list + ", and check the calendar")
}

// writerIn names the author of an object's texts, unless that is the user.
func writerIn(c *call, cal calendar.Calendar, o calendar.Object) shown {
	read, err := content.Read(o.Data, ical.Limits{})
	if err != nil {
		return cmp.Or(authorOf(c.caller, cal), unknownAuthor)
	}
	return standing(c.caller, cal, read.Main()).Untrusted
}

// objectByUID reads an object. In a batch, it returns the object as earlier changes of the batch leave it.
func (b toolbox) objectByUID(
	ctx context.Context, c *call, cal calendar.Calendar, uid calendar.UID,
) (calendar.Object, error) {
	if c.batch == nil {
		return b.service.ObjectByUID(ctx, c.meter, c.caller, cal, uid)
	}
	o, planned := c.batch.Planned(cal.ID, uid)
	switch {
	case planned && o.Deleted:
		return o, calendar.ErrNoUID(uid)
	case planned:
		return o, nil
	}
	return b.service.ObjectByUID(ctx, c.meter, c.caller, cal, uid)
}

// objectShown finds an object by its uid as results show it: truncated, and with hidden characters escaped. Some hosts
// keep only that form.
func (b toolbox) objectShown(
	ctx context.Context, c *call, cal calendar.Calendar, n noun, as calendar.UID,
) (calendar.Object, error) {
	var found []calendar.UID
	for o, err := range b.service.Objects(ctx, c.meter, c.caller, cal,
		calendar.ObjectQuery{Kinds: calendar.Kinds{n.kind}}) {
		if err != nil {
			return o, err
		}
		if uid := string(o.UID); as == calendar.UID(wire.Visible(uid)) ||
			as == calendar.UID(wire.Visible(short(uid, longestListedUID))) {
			found = append(found, o.UID)
		}
	}
	if len(found) != 1 {
		return calendar.Object{}, calendar.Errorf(calendar.NotFound, "", "%d %ss in %s have a uid that is shown as %s",
			len(found), n.name, wire.Quote(cal.Name), wire.Quote(string(as)))
	}
	return b.service.ObjectByUID(ctx, c.meter, c.caller, cal, found[0])
}

// target is the target of an edit.
func (s subject) target() edit.Target { return edit.Target{Instance: s.id, Scope: s.scope} }

// reaches reports whether a change affects more than one instance of a series.
func (s subject) reaches() bool { return s.found.Object.Recurring && s.scope != edit.This }

// one reports whether the target is one instance of a series.
func (s subject) one() bool { return s.found.Object.Recurring && s.scope == edit.This }

// guests lists the attendees of the instance. Unless only that instance changes, it adds the attendees of the series
// and of its other overrides.
func (s subject) guests() []edit.Attendee {
	all := edit.AttendeesOf(s.found.Component)
	if s.scope == edit.This {
		return all
	}
	object, err := content.Read(s.found.Object.Data, ical.Limits{})
	if err != nil {
		return all
	}
	for _, c := range object.Components() {
		for _, a := range edit.AttendeesOf(c) {
			if !slices.ContainsFunc(all, func(b edit.Attendee) bool {
				return strings.EqualFold(a.Address,
					b.Address)
			}) {
				all = append(all, a)
			}
		}
	}
	return all
}

// after reads the target after a change: the named instance under its new recurrence id, or else the object. After a
// split, this is the new series. A refused change goes through outdated.
func (b toolbox) after(
	ctx context.Context, c *call, s subject, e ledger.Edited, refused error,
) (query.Instance, error) {
	if refused != nil {
		return query.Instance{}, b.outdated(ctx, c, s, refused)
	}
	o := e.Saved.Object
	if e.Split != nil {
		o = e.Split.Object
	}
	o = b.answered(ctx, c, s.cal, o, e.Told)
	now, err := b.service.InstanceOf(ctx, c.meter, s.cal, o, e.Instance)
	if reason := calendar.ReasonOf(err); err != nil && !e.Instance.IsZero() && (reason == calendar.NotFound ||
		reason == calendar.Invalid) {
		// The new rule lacks this instance, or the split-off part is a single event: the moved instance itself.
		return b.service.InstanceOf(ctx, c.meter, s.cal, o, ical.Time{})
	}
	return now, err
}

// outdated adds the current state to a refusal of a stale change, so that one retry is enough.
func (b toolbox) outdated(ctx context.Context, c *call, s subject, err error) error {
	if err == nil || calendar.ReasonOf(err) != calendar.Stale {
		return err
	}
	o, gone := b.service.ObjectByUID(ctx, c.meter, c.caller, s.cal, s.found.Object.UID)
	if gone != nil {
		return err
	}
	now, unknown := b.service.InstanceOf(ctx, c.meter, s.cal, o, s.id)
	if unknown != nil {
		return err
	}
	v, at := readViewOf(now), s.zone.times(now)
	e := calendar.Errorf(calendar.Stale, "", "it has changed since: now it is %s, from %s to %s, etag %s",
		wire.Quote(string(v.Summary)), dayText(at.StartWeekday, at.StartLocal), dayText(at.EndWeekday, at.EndLocal),
		v.ETag)
	e.Hint, e.Cause = "see whether your change still makes sense, then repeat it with this etag as if_match", err
	return e
}
