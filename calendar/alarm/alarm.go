// Package alarm computes when the reminders of an object are due (RFC 5545 §3.6.6, RFC 9074).
package alarm

import (
	"bytes"
	"cmp"
	"context"
	"iter"
	"slices"
	"strings"
	"time"

	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/recur"
	"caldav-mcp-server/ical"
)

// Ring is a moment when a reminder is due.
type Ring struct {
	At time.Time
	// Instance is the instance that the reminder is about. Its times are zero for a task without dates.
	recur.Instance
	// Mail is set if the reminder asks for a mail (ACTION:EMAIL).
	Mail bool
	// Snoozed is set if a program put the reminder off until At (X-MOZ-SNOOZE-TIME).
	Snoozed bool
}

// Query says whose reminders to compute.
type Query struct {
	// Default is the reminder of timed events without any, before the start; nil for none.
	Default *time.Duration
	// Mine reports whether an attendee's address is the user's. Events that the user declined do not ring.
	Mine func(address string) bool
	// Clock reads the object's times.
	Clock content.Clock
}

const (
	// horizon limits how far ahead a series is searched for its next ring. Later it must be searched again.
	horizon = 400 * 24 * time.Hour
	// again is when to search a series again if nothing was found within the horizon.
	again = horizon - 30*24*time.Hour
	// repeatsMost limits the repetitions of a reminder (REPEAT), alarmsMost the reminders of an object.
	repeatsMost, alarmsMost = 10, 200
)

// budget limits the cost of an object to some milliseconds: the objects of one user must not delay others.
var budget = recur.Budget{Steps: 50_000, Instances: 2000}

// Within returns the rings after one moment and up to another, by time. An object that cannot be expanded has none.
func Within(ctx context.Context, o *content.Object, q Query, after, until time.Time) []Ring {
	var found []Ring
	p := plan(o, q)
	for r := range p.rings(ctx, after, until) {
		if r.At.After(after) && !r.At.After(until) {
			found = append(found, r)
		}
	}
	slices.SortStableFunc(found, func(a, b Ring) int { return a.At.Compare(b.At) })
	return found
}

// Next returns the time of the first ring after a moment; zero if there is none. For a series whose next ring is far
// away it may return an earlier time, when nothing rings.
func Next(ctx context.Context, o *content.Object, q Query, after time.Time) time.Time {
	p := plan(o, q)
	var until, best time.Time
	endless := p.set != nil && p.set.Recurring()
	if endless {
		until = after.Add(horizon)
	}
	for r, relative := range p.rings(ctx, after, until) {
		if relative && !best.IsZero() && r.Start.Time.Add(-p.lead).After(best) {
			break // instances come by their start: the later ones ring later
		}
		if r.At.After(after) && (best.IsZero() || r.At.Before(best)) {
			best = r.At
		}
	}
	if best.IsZero() && endless && p.alarms() {
		for _, err := range p.set.Between(ctx, until, time.Time{}, recur.Budget{Steps: 10_000, Instances: 1}) {
			if err == nil {
				return after.Add(again)
			}
		}
	}
	return best
}

// Silent reports whether the text of an object shows, without parsing, that nothing of it can ring.
func Silent(data []byte, q Query) bool {
	return q.Default == nil && !bytes.Contains(data, []byte("VALARM")) && !bytes.Contains(data, []byte(snooze))
}

// The properties of Thunderbird: the last acknowledged reminder, and the time until which one is put off. For an
// instance of a series the latter's name continues with the instance's time in microseconds.
const (
	lastAck = "X-MOZ-LASTACK"
	snooze  = "X-MOZ-SNOOZE-TIME"
)

// trigger is a reminder of a component.
type trigger struct {
	// at is an absolute time; zero for a relative reminder.
	at      time.Time
	offset  ical.Duration
	fromEnd bool
	// every is the pause between repetitions, times their number.
	every time.Duration
	times int
	mail  bool
	// snoozed is set for a snooze of Thunderbird, of the instance with this id, or of any if it is zero.
	snoozed    bool
	snoozedFor int64
	// usual is set for the user's default reminder.
	usual bool
	// acknowledged is the end of the time that is dismissed.
	acknowledged time.Time
}

// planned is an object with its reminders.
type planned struct {
	object *content.Object
	set    *recur.Set
	query  Query
	of     map[*ical.Component][]trigger
	// lead and lag are the longest times from a ring to the start, and from the start or the end to a ring.
	lead, lag time.Duration
}

// slack covers days of 23 and 25 hours.
const slack = 2 * time.Hour

func plan(o *content.Object, q Query) planned {
	p := planned{object: o, query: q, of: map[*ical.Component][]trigger{}}
	if o.Kind != content.Event && o.Kind != content.Todo {
		return p
	}
	set, err := o.Set(o.Series(), q.Clock)
	if err != nil {
		return p
	}
	p.set = set
	own := slices.ContainsFunc(o.Components(), func(c *ical.Component) bool {
		return len(c.AllComponents("VALARM")) > 0
	})
	room := alarmsMost
	for _, c := range o.Components() {
		all := p.triggers(c)
		if !own && q.Default != nil && o.Kind == content.Event {
			all = append(all, trigger{
				offset: ical.DurationOf(-*q.Default), usual: true, acknowledged: p.instant(c, lastAck),
			})
		}
		all = all[:min(len(all), room)]
		room -= len(all)
		p.of[c] = all
		for _, t := range all {
			if t.at.IsZero() {
				days, seconds := time.Duration(t.offset.NominalDays()), time.Duration(t.offset.ExactSeconds())
				d := days*24*time.Hour + seconds*time.Second
				p.lead = max(p.lead, -d+slack)
				p.lag = max(p.lag, d+slack+t.every*time.Duration(t.times))
			}
		}
	}
	return p
}

func (p planned) alarms() bool {
	for _, all := range p.of {
		if len(all) > 0 {
			return true
		}
	}
	return false
}

// triggers reads the reminders of a component.
func (p planned) triggers(c *ical.Component) []trigger {
	var all []trigger
	seen := p.instant(c, lastAck)
	for _, alarm := range c.AllComponents("VALARM") {
		if t, ok := p.trigger(alarm); ok {
			if seen.After(t.acknowledged) {
				t.acknowledged = seen
			}
			all = append(all, t)
		}
	}
	for property := range c.Properties() {
		rest, is := strings.CutPrefix(property.Name(), snooze)
		if !is {
			continue
		}
		if t, err := property.Time(); err == nil && t.Form == ical.FormUTC {
			at := time.Unix(t.Civil.Seconds(), 0)
			all = append(all, trigger{at: at, snoozed: true, snoozedFor: microseconds(rest), acknowledged: seen})
		}
	}
	return all
}

// microseconds reads the end of the name of a snoozed instance's property.
func microseconds(text string) int64 {
	var n int64
	for _, digit := range strings.TrimPrefix(text, "-") {
		if digit < '0' || digit > '9' || n > 1<<53 {
			return 0
		}
		n = 10*n + int64(digit-'0')
	}
	return n / 1_000_000
}

func (p planned) trigger(alarm *ical.Component) (trigger, bool) {
	property := alarm.Property("TRIGGER")
	action := content.WordOf(alarm, "ACTION")
	if property == nil || action == "NONE" || alarm.Property("PROXIMITY") != nil ||
		alarm.Property("X-APPLE-PROXIMITY") != nil {
		return trigger{}, false
	}
	t := trigger{mail: action == "EMAIL", acknowledged: p.instant(alarm, "ACKNOWLEDGED")}
	if times, err := number(alarm, "REPEAT"); err == nil && times > 0 {
		if d := alarm.Property("DURATION"); d != nil {
			if lasting, err := d.Duration(); err == nil {
				t.every = content.Later(time.Unix(0, 0).UTC(), lasting).Sub(time.Unix(0, 0))
			}
		}
		if t.every > 0 {
			t.times = min(times, repeatsMost)
		}
	}
	if at, err := property.Time(); err == nil && at.Form == ical.FormUTC {
		t.at = time.Unix(at.Civil.Seconds(), 0)
		return t, true
	}
	related, _ := property.Param("RELATED")
	t.fromEnd = strings.EqualFold(related, "END")
	var err error
	t.offset, err = property.Duration()
	return t, err == nil
}

func number(c *ical.Component, name string) (int, error) {
	property := c.Property(name)
	if property == nil {
		return 0, nil
	}
	return property.Int()
}

// instant returns the time of a property in UTC; zero if there is none.
func (p planned) instant(c *ical.Component, name string) time.Time {
	at, ok, err := p.query.Clock.Time(c, name)
	if err != nil || !ok {
		return time.Time{}
	}
	return time.Unix(at, 0)
}

// rings yields the rings at fixed times, then those relative to the instances that can ring between two moments, by the
// instances' starts. Zero for until means no bound. It may yield others, too.
func (p planned) rings(ctx context.Context, after, until time.Time) iter.Seq2[Ring, bool] {
	return func(yield func(_ Ring, relative bool) bool) {
		if p.set == nil || !p.alarms() {
			return
		}
		if !p.fixed(ctx, func(r Ring) bool { return yield(r, false) }) || !p.set.Dated() {
			return
		}
		if p.lead == 0 && p.lag == 0 {
			return // all reminders are at fixed times
		}
		from := after.Add(-p.lag - time.Second)
		if !until.IsZero() {
			until = until.Add(p.lead + time.Second)
		}
		for i, err := range p.set.Between(ctx, from, until, budget) {
			if err != nil {
				return
			}
			if p.quiet(i.Component) {
				continue
			}
			for _, t := range p.of[i.Component] {
				if t.at.IsZero() && !t.ring(i, func(r Ring) bool { return yield(r, true) }) {
					return
				}
			}
		}
	}
}

// ring yields the rings of a relative reminder for an instance.
func (t trigger) ring(i recur.Instance, yield func(Ring) bool) bool {
	if t.usual && i.Start.AllDay {
		return true
	}
	base := i.Start.Time
	if t.fromEnd {
		base = i.End.Time
	}
	return t.repeated(content.Later(base, t.offset), i, yield)
}

// repeated yields a ring and its repetitions, without dismissed ones.
func (t trigger) repeated(at time.Time, i recur.Instance, yield func(Ring) bool) bool {
	for n := range t.times + 1 {
		r := Ring{At: at.Add(time.Duration(n) * t.every), Instance: i, Mail: t.mail, Snoozed: t.snoozed}
		if r.At.After(t.acknowledged) && !yield(r) {
			return false
		}
	}
	return true
}

// fixed yields the rings at fixed times.
func (p planned) fixed(ctx context.Context, yield func(Ring) bool) bool {
	for _, c := range p.object.Components() {
		for _, t := range p.of[c] {
			if t.at.IsZero() {
				continue
			}
			i := p.about(ctx, c, t)
			if !p.quiet(i.Component) && !t.repeated(t.at, i, yield) {
				return false
			}
		}
	}
	return true
}

// about returns the instance that a reminder at a fixed time is about: the one that it names, or the first that is not
// over then.
func (p planned) about(ctx context.Context, c *ical.Component, t trigger) recur.Instance {
	if c != p.object.Master {
		clock := p.query.Clock
		only, err := recur.FromComponents(nil, []*ical.Component{c}, clock.Zones, clock.Floating.Location())
		if err != nil {
			return recur.Instance{Component: c}
		}
		return first(ctx, only, recur.Instance{Component: c})
	}
	if !p.set.Dated() {
		return recur.Instance{Component: c}
	}
	from := t.at
	if t.snoozedFor != 0 {
		from = time.Unix(t.snoozedFor, 0)
	}
	for i, err := range p.set.Between(ctx, from, time.Time{}, budget) {
		if err != nil {
			break
		}
		return i
	}
	return first(ctx, p.set, recur.Instance{Component: c})
}

// first returns the first instance of a set.
func first(ctx context.Context, set *recur.Set, none recur.Instance) recur.Instance {
	for i, err := range set.Between(ctx, time.Time{}, time.Time{}, budget) {
		if err == nil {
			return i
		}
		break
	}
	return none
}

// quiet reports whether nothing rings for a component: it is cancelled, done, or the user declined it.
func (p planned) quiet(c *ical.Component) bool {
	status := content.WordOf(c, "STATUS")
	if status == "CANCELLED" || c.Name() == content.Todo && (status == "COMPLETED" || c.Property("COMPLETED") != nil) {
		return true
	}
	if p.query.Mine == nil {
		return false
	}
	return slices.ContainsFunc(c.All("ATTENDEE"), func(a *ical.Property) bool {
		answer, _ := a.Param("PARTSTAT")
		answer = strings.ToUpper(cmp.Or(answer, "NEEDS-ACTION"))
		return (answer == "DECLINED" || answer == "DELEGATED") && p.query.Mine(a.Value())
	})
}

// Unseen returns the instance of an object with this original start, unless it is quiet, or one of its reminders was
// dismissed after a time.
func Unseen(ctx context.Context, o *content.Object, q Query, id, since time.Time) (recur.Instance, bool) {
	p := plan(o, q)
	i, ok := p.named(ctx, id)
	if !ok || p.quiet(i.Component) || p.instant(i.Component, lastAck).After(since) {
		return i, false
	}
	for _, t := range p.of[i.Component] {
		if t.acknowledged.After(since) {
			return i, false
		}
	}
	return i, true
}

// named returns the instance with this original start.
func (p planned) named(ctx context.Context, id time.Time) (recur.Instance, bool) {
	if p.set == nil || !p.set.Dated() {
		return recur.Instance{}, false
	}
	for i, err := range p.set.Named(ctx, id, id.Add(time.Second), budget) {
		if err != nil {
			break
		}
		if i.RecurrenceID.Time.Equal(id) {
			return i, true
		}
	}
	return recur.Instance{}, false
}

// Dismiss marks the reminders of an instance that have rung as acknowledged (RFC 9074 §6.1), in the text of the object.
// It reports whether there are any.
func Dismiss(ctx context.Context, o *content.Object, q Query, id, now time.Time) bool {
	p := plan(o, q)
	i, ok := p.named(ctx, id)
	if !ok {
		return false
	}
	changed := false
	for _, alarm := range i.Component.AllComponents("VALARM") {
		t, ok := p.trigger(alarm)
		if !ok {
			continue
		}
		rung := false
		one := func(r Ring) bool { rung = rung || !r.At.After(now); return !rung }
		if t.at.IsZero() {
			t.ring(i, one)
		} else {
			t.repeated(t.at, i, one)
		}
		if rung {
			alarm.Set(ical.NewTime("ACKNOWLEDGED", ical.Instant(now)))
			changed = true
		}
	}
	return changed
}
