package edit

import (
	"context"
	"slices"
	"time"

	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/recur"
	"caldav-mcp-server/calendar/zone"
	"caldav-mcp-server/ical"
)

// Editor changes calendar objects.
type Editor struct {
	Zones *zone.DB
	// Floating is the zone for whole days and floating times; nil means UTC.
	Floating *zone.Zone
	Now      time.Time
	// NewUID returns the UID for the second object when a series is split.
	NewUID func() string
	// Budget bounds the expansion of a series; zero means recur's default.
	Budget recur.Budget
}

// Scope is the part of a series that an edit changes.
type Scope string

// The scopes.
const (
	This      Scope = "this"
	Following Scope = "following"
	All       Scope = "all"
)

// Target is the part of an object that an edit changes. An object without recurrence needs none.
type Target struct {
	// Instance is the recurrence id of one instance, in any form; zero means the whole object.
	Instance ical.Time
	Scope    Scope
}

// Change is an edit: new fields and new times for the target.
type Change struct {
	Target
	Fields Fields
	Times  Times
}

// Result is the result of an edit.
type Result struct {
	// Document is the changed object; nil if nothing is left of it.
	Document *ical.Document
	// Split is the new object that begins where a series was split; nil if there was no split.
	Split    *ical.Document
	SplitUID string
	// Instance is the new recurrence id of the targeted instance, in Split if there is one. It is zero if the edit
	// targeted none. A new rule may not generate it.
	Instance ical.Time
}

// session is one edit of one object.
type session struct {
	Editor
	reader
	ctx    context.Context
	object *content.Object
}

func (e Editor) session(ctx context.Context, o *content.Object) *session {
	if e.Floating == nil {
		e.Floating = zone.UTC()
	}
	return &session{
		Editor: e, ctx: ctx, object: o,
		reader: reader{zones: e.Zones.FromDocument(o.Calendar), floating: e.Floating},
	}
}

func (e *session) budget() recur.Budget {
	if e.Budget == (recur.Budget{}) {
		return recur.DefaultBudget()
	}
	return e.Budget
}

// Change performs an edit. It modifies the object's own tree, which is unusable after an error. A refusal is a
// [*Error].
func (e Editor) Change(ctx context.Context, o *content.Object, c Change) (Result, error) {
	s := e.session(ctx, o)
	c.Fields = c.Fields.complete(o.Kind, e.Now)
	var err error
	if c.Times, err = s.canonical(c.Times); err != nil {
		return Result{}, err
	}
	scope, at, err := s.aim(c.Target)
	if err != nil {
		return Result{}, err
	}
	switch scope {
	case This:
		return s.changeThis(at, c)
	case Following:
		return s.changeFollowing(at, c)
	default:
		return s.changeAll(at, c)
	}
}

// Cancel removes the target without a trace. To show an event as cancelled, set its status to [Cancelled] instead.
func (e Editor) Cancel(ctx context.Context, o *content.Object, t Target) (Result, error) {
	s := e.session(ctx, o)
	scope, at, err := s.aim(t)
	if err != nil {
		return Result{}, err
	}
	switch scope {
	case This:
		return s.cancelThis(at)
	case Following:
		return s.cancelFollowing(at)
	default:
		return Result{}, nil
	}
}

// aimed is an instance with its series; nil means the whole object.
type aimed struct {
	*series
	instance
}

// repeats reports whether the object has several instances, or holds some of a series.
func repeats(o *content.Object) bool {
	return o.Master == nil || len(o.Overrides) > 0 || o.Master.Property("RRULE") != nil ||
		o.Master.Property("RDATE") != nil
}

// aim resolves a target. The first instance and all following ones are the whole series.
func (e *session) aim(t Target) (Scope, *aimed, error) {
	if !repeats(e.object) {
		return All, nil, e.once(t)
	}
	switch {
	case t.Instance.IsZero() && (t.Scope == This || t.Scope == Following):
		return "", nil, fault(NoInstance, "the request does not say which instance of the series it is about").
			hint("give its recurrence id")
	case t.Instance.IsZero():
		return All, nil, nil
	case t.Scope == "":
		return "", nil, fault(NoScope, "the event is a series").
			hint(`say whether to change "this" instance, this and the "following" ones, or "all"`)
	case t.Scope != This && t.Scope != Following && t.Scope != All:
		return "", nil, fault(NoScope, "%.50q is no scope", string(t.Scope)).
			hint(`it can be "this", "following" or "all"`)
	}
	at, err := e.find(t)
	if err != nil || t.Scope != Following {
		return t.Scope, at, err
	}
	earlier, err := at.earlier(at.unix)
	if err != nil || earlier {
		return Following, at, err
	}
	return All, at, nil
}

// once checks the recurrence id for an object without recurrence: it must name the single instance.
func (e *session) once(t Target) error {
	if t.Instance.IsZero() {
		return nil
	}
	s, err := e.series(e.object)
	if err != nil {
		return err
	}
	if _, err := s.find(t.Instance); err != nil {
		return fault(NotSeries, "the event is not a series, and not at %s", t.Instance).
			hint("leave out the recurrence id")
	}
	return nil
}

func (e *session) find(t Target) (*aimed, error) {
	s, err := e.series(e.object)
	if err != nil {
		return nil, err
	}
	found, err := s.find(t.Instance)
	at := &aimed{s, found}
	if err == nil && t.Scope != All {
		err = at.ranged(t.Scope)
	}
	return at, err
}

// changeAll changes the master, and the overrides in those properties that they share with it. A named instance always
// changes, because the user was looking at it.
func (e *session) changeAll(at *aimed, c Change) (Result, error) {
	var books []revision
	for _, component := range e.object.Components() {
		books = append(books, remember(component))
	}
	before := e.zonesNamed()
	if err := e.alter(at, c); err != nil {
		return Result{}, err
	}
	for _, r := range books {
		r.stamp(e.Now)
	}
	result := Result{Document: e.object.Document}
	if at != nil {
		result.Instance = at.id
	}
	return result, e.define(before)
}

// alter is changeAll without stamping the components.
func (e *session) alter(at *aimed, c Change) error {
	if err := e.retime(at, c); err != nil {
		return err
	}
	for _, p := range c.Fields.patches(e.seen(at)) {
		if err := e.spread(at, p); err != nil {
			return err
		}
	}
	if c.Fields.Rule.Left() && !c.Fields.dated() {
		return nil
	}
	if e.object.Master == nil {
		return fault(Unsupported, "the object holds single instances of a series only").hint("change the series itself")
	}
	if !c.Fields.Rule.Left() {
		if err := e.setRule(e.object.Master, c.Fields.Rule); err != nil {
			return err
		}
	}
	if err := e.setDates(e.object, c.Fields); err != nil {
		return err
	}
	return e.dropOrphans()
}

// spread applies a patch to the main component and to the overrides that share the old value.
func (e *session) spread(at *aimed, p patch) error {
	for _, c := range append([]*ical.Component{e.object.Main()}, e.sharing(at, p)...) {
		if err := p.apply(c); err != nil {
			return err
		}
	}
	return nil
}

// sharing lists the overrides that a patch of the series also changes: the ones with the series' former value, and for
// attendees the ones that list their own.
func (e *session) sharing(at *aimed, p patch) []*ical.Component {
	main := e.object.Main()
	before := p.view(main)
	return slices.DeleteFunc(slices.Clone(e.object.Overrides), func(c *ical.Component) bool {
		switch {
		case c == main:
			return true
		case p.relative:
			return e.inherits(c)
		default:
			return p.view(c) != before && e.object.Master != nil && !at.describes(c)
		}
	})
}

// seen returns the component that the caller has read, to compare with a new list of attendees: the named instance, or
// the series.
func (e *session) seen(at *aimed) *ical.Component {
	if at == nil || e.inherits(at.component) {
		return e.object.Main()
	}
	return at.component
}

// describes reports whether an override describes the instance: its own override, or a RANGE=THISANDFUTURE one.
func (a *aimed) describes(c *ical.Component) bool { return a != nil && a.component == c }

// retime moves the whole object.
func (e *session) retime(at *aimed, c Change) error {
	if c.Times.left() {
		return nil
	}
	master := e.object.Master
	if master == nil {
		return fault(Unsupported, "the object holds single instances of a series only").
			hint("change each of them alone")
	}
	was, err := timeOf(master, "DTSTART")
	if err != nil {
		return err
	}
	if !repeats(e.object) || was.IsZero() || c.Times.Start.Cleared() || c.Times.End.Cleared() {
		if err := e.apply(master, c.Times); err != nil {
			return err
		}
		return e.follow(master, was)
	}
	now := was
	if at != nil {
		now = at.from
	}
	if now.IsDate() != was.IsDate() {
		return fault(BadTime, "this instance and its series do not both take whole days").
			hint("change the series without naming the instance")
	}
	p, err := e.place(now, c.Times)
	if err != nil {
		return err
	}
	move, err := e.shifted(was, now, p.start)
	if err != nil {
		return err
	}
	move.newRule = !c.Fields.Rule.Left()
	if at == nil {
		if err := e.unnamed(was, move, p); err != nil {
			return err
		}
		return move.all(e.object, p)
	}
	return e.moveWith(at, move, p)
}

// moveWith moves a series so that the named instance gets the requested time.
func (e *session) moveWith(at *aimed, move shift, p placement) error {
	if p.lasting != nil {
		same, err := e.lastsStill(at.instance, p)
		if err != nil {
			return err
		}
		if same {
			p.lasting = nil
		}
	}
	if at.own {
		move.named = at.component
	}
	if err := move.all(e.object, p); err != nil {
		return err
	}
	var err error
	at.id, err = move.time(at.id)
	return err
}

// lastsStill reports whether an instance would keep its duration at its new place without an explicit end. Then the
// given end changes no other instance, even if it is the end of an instance that lasts longer than the others.
func (e *session) lastsStill(i instance, p placement) (bool, error) {
	now, err := e.between(i.from, i.to)
	if err != nil || i.component.Property(endName(i.component)) != nil {
		return err == nil && *p.lasting == now, err
	}
	usual, err := e.lasts(i.component, i.from)
	if err != nil || usual != now {
		return err == nil && *p.lasting == now, err // its series gives it a period of its own
	}
	there, err := e.lasts(i.component, p.start)
	return err == nil && *p.lasting == there, err
}

// dropOrphans drops the overrides of instances that a new rule no longer has; clients would still show them.
func (e *session) dropOrphans() error {
	o := e.object
	if len(o.Overrides) == 0 {
		return nil
	}
	bare := o.Master.Clone()
	bare.Remove("EXDATE")
	alone := &content.Object{Document: o.Document, Calendar: o.Calendar, Kind: o.Kind, UID: o.UID, Master: bare}
	s, err := e.series(alone)
	if err != nil {
		return err
	}
	return s.dropOverrides(o, func(unix int64) (bool, error) {
		found, err := s.within(unix, unix+1)
		return len(found) == 0, err
	})
}
