package schedule

import (
	"bytes"
	"cmp"
	"context"
	"iter"
	"slices"

	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/edit"
	"caldav-mcp-server/ical"
)

// Delivery is an organizer's message that is being applied to an attendee's copy.
type Delivery struct {
	// Stored is the attendee's copy; nil if there is none. Message is the organizer's text.
	Stored, Message *content.Object
	// Told is the latest version from an organizer on another server. It is kept even after the attendee deleted the
	// copy. If it is nil, Stored takes its place.
	Told *content.Object
	Self Self
	// Own is the attendee's copy of the undivided series if a new event is its second half; nil otherwise.
	Own *content.Object
	// Earlier yields the former versions of the copy, the newest first, if a change is undone; nil otherwise.
	Earlier iter.Seq2[Earlier, error]
	// Outside is set for a message by mail: messages may arrive out of order, and a message about single instances
	// leaves the others unchanged.
	Outside bool
	// Room is set if the attendee is a room. Only the room itself decides its answer, and the answer covers only the
	// instances that it has checked.
	Room bool
}

// Earlier is a former version of an attendee's copy.
type Earlier struct {
	// Object is nil if there was no copy.
	Object *content.Object
	// Told is set if a message, not the attendee, replaced this version.
	Told bool
}

// Delivered is the result of a delivery.
type Delivered struct {
	Object *content.Object
	// Told is the new version from an organizer on another server. It is set even if the copy does not change.
	Told *content.Object
	// Consequential is set if more has changed than other attendees' answers.
	Consequential bool
	// heeds computes Consequential for an attendee whose own answer decides it; nil if the answer does not matter.
	heeds func(Self) bool
}

// For returns the result for another attendee whose copy has exactly the same text. See [Personal].
func (d Delivered) For(is Self) Delivered {
	if d.heeds != nil {
		d.Consequential = d.heeds(is)
	}
	return d
}

// Personal reports whether the result of a message depends on the copy's owner: the text contains exceptions or
// parameters that belong to them.
func Personal(stored *content.Object) bool {
	if stored == nil {
		return false
	}
	for _, c := range stored.Components() {
		if c.Property("EXDATE") != nil || slices.ContainsFunc(c.All("ATTENDEE"),
			func(p *ical.Property) bool { return param(p, paramAgent) != "" }) {
			return true
		}
	}
	return false
}

// receipt is the application of a message to an attendee's copy.
type receipt struct {
	Rules
	Delivery
}

// mayTell refuses a message that is not from the event's organizer, or is older than the organizer's known version.
func (r receipt) mayTell(ctx context.Context, told *reading) error {
	if r.Stored == nil {
		return r.mayReturn(ctx)
	}
	if !r.person(OrganizerOf(r.Stored))(OrganizerOf(r.Message)) {
		return ErrForeign
	}
	if !served(organizer(r.Stored)) {
		return ErrSame // another client handles the messages
	}
	if !r.Outside {
		return nil
	}
	for _, c := range r.Message.Components() {
		if was := told.counterpart(told, c); was != nil && age(c, was) < 0 {
			return ErrStale
		}
	}
	return nil
}

// mayReturn refuses a message without news about an event whose copy the attendee deleted: a mail that arrives twice
// must not undo the deletion.
func (r receipt) mayReturn(ctx context.Context) error {
	if r.Told == nil || !r.person(OrganizerOf(r.Told))(OrganizerOf(r.Message)) {
		return nil
	}
	told, err := r.read(ctx, r.Told)
	if err != nil {
		return err
	}
	for _, c := range r.Message.Components() {
		if was := told.counterpart(told, c); was == nil || age(c, was) > 0 {
			return nil
		}
	}
	return ErrStale
}

// age compares two versions of a component by SEQUENCE, then by DTSTAMP. It is positive if the first is newer (RFC 5546
// §2.1.5).
func age(c, was *ical.Component) int {
	return cmp.Or(cmp.Compare(sequence(c), sequence(was)),
		cmp.Compare(content.TextOf(c, "DTSTAMP"), content.TextOf(was, "DTSTAMP")))
}

// Invite applies an organizer's REQUEST to an attendee's copy.
func (r Rules) Invite(ctx context.Context, d Delivery) (Delivered, error) {
	in := receipt{r, d}
	old, told, err := in.known(ctx)
	if err != nil {
		return Delivered{}, err
	}
	if err := in.mayTell(ctx, told); err != nil {
		return Delivered{}, err
	}
	next := d.Message
	if d.Outside {
		if next, err = r.retell(ctx, told, d.Message); err != nil {
			return Delivered{}, err
		}
	}
	told, err = r.visible(ctx, told)
	if err != nil {
		return Delivered{}, err
	}
	now, asks, err := in.copyFor(ctx, old, told, next)
	if err != nil {
		return Delivered{}, err
	}
	for _, c := range now.Components() {
		keepOwn(old, now, c, d, asks)
	}
	if d.Stored != nil {
		if now, err = in.keepOut(ctx, old, now, told); err != nil {
			return Delivered{}, err
		}
		if now, err = in.keepPrivate(ctx, old, now); err != nil {
			return Delivered{}, err
		}
		if bytes.Equal(now.Document.Bytes(), d.Stored.Document.Bytes()) {
			return Delivered{Told: next}, ErrSame
		}
	}
	if d.Stored == nil || differs(old, now) {
		return Delivered{Object: now.Object, Told: next, Consequential: true}, nil
	}
	heeds := func(is Self) bool { return saysOther(old, now, is) }
	return Delivered{now.Object, next, heeds(d.Self), heeds}, nil
}

// known reads an attendee's copy and the organizer's version.
func (r receipt) known(ctx context.Context) (old, told *reading, err error) {
	if old, err = r.read(ctx, r.Stored); err != nil || !r.Outside || r.Told == nil || r.Stored == nil {
		return old, old, err
	}
	told, err = r.read(ctx, r.Told)
	return old, told, err
}

// copyFor derives the attendee's copy from the organizer's text, still without the attendee's own part. A few new
// instances of an already answered series become overrides that ask.
func (r receipt) copyFor(
	ctx context.Context, old, told *reading, next *content.Object,
) (now *reading, series bool, err error) {
	made, err := copyOf(next)
	if err != nil {
		return nil, false, err
	}
	made.Calendar.Remove("METHOD")
	if now, err = r.read(ctx, made); err != nil {
		return nil, false, err
	}
	if now, err = r.withoutCancelled(ctx, now); err != nil || told.Object == nil || !r.Outside && !r.Room {
		return now, false, err
	}
	s, err := r.shift(ctx, told, now)
	if err != nil {
		return nil, false, err
	}
	series, apart := plan(s, now)
	if r.Room {
		return now, series || len(apart) > 0, nil // it checks all instances again
	}
	if len(apart) == 0 || said(old, old.master(), r.Self) == NeedsAction {
		return now, series, nil
	}
	now, err = r.separate(ctx, now, apart)
	return now, series, err
}

// lendZones adds the time zone definitions that only from has.
func lendZones(to, from *ical.Component) {
	known := map[string]bool{}
	for _, z := range to.AllComponents("VTIMEZONE") {
		known[content.TextOf(z, "TZID")] = true
	}
	for _, z := range from.AllComponents("VTIMEZONE") {
		if !known[content.TextOf(z, "TZID")] {
			to.InsertComponent(z.Clone(), slices.Collect(to.Components())[0])
		}
	}
}

// admit removes an instance from the series' exceptions.
func (x *reading) admit(key int64) {
	if x.master() == nil {
		return
	}
	for _, p := range x.Master.All("EXDATE") {
		times, err := p.Times()
		if err != nil {
			continue
		}
		kept := slices.DeleteFunc(slices.Clone(times), func(t ical.Time) bool {
			at, err := x.key(t)
			return err == nil && at == key
		})
		switch {
		case len(kept) == 0:
			x.Master.RemoveProperty(p)
		case len(kept) < len(times):
			p.SetTimes(kept...)
		}
	}
}

// differs reports whether two versions of an attendee's copy differ in more than answers.
func differs(old, now *reading) bool {
	if (old.master() == nil) != (now.master() == nil) || old.essence(old.master()) != now.essence(now.master()) {
		return true
	}
	keys, ids := touched(old, now)
	other := func(key int64) bool { return old.essence(old.at(key, ids[key])) != now.essence(now.at(key, ids[key])) }
	return slices.ContainsFunc(keys, other) || !slices.Equal(Parties(old.Object), Parties(now.Object))
}

// saysOther reports whether a person's answer differs between two versions.
func saysOther(old, now *reading, is Self) bool {
	was, still := attendee(old.master(), is), attendee(now.master(), is)
	answer := func(x *reading, c *ical.Component, series *ical.Property) string {
		p := series
		if !x.inherits(c) {
			p = attendee(c, is)
		}
		if p == nil {
			return NeedsAction
		}
		return partstat(p)
	}
	if answer(old, old.master(), was) != answer(now, now.master(), still) {
		return true
	}
	keys, ids := touched(old, now)
	return slices.ContainsFunc(keys, func(key int64) bool {
		return answer(old, old.at(key, ids[key]), was) != answer(now, now.at(key, ids[key]), still)
	})
}

// CallOff applies a CANCEL to an attendee's copy. A cancelled event stays visible as cancelled; a cancelled instance
// disappears.
func (r Rules) CallOff(ctx context.Context, d Delivery) (Delivered, error) {
	if d.Stored == nil {
		return Delivered{}, ErrSame
	}
	x, err := r.readCopy(ctx, d.Stored)
	if err != nil {
		return Delivered{}, err
	}
	in := receipt{r, d}
	_, told, err := in.known(ctx)
	if err != nil {
		return Delivered{}, err
	}
	if err := in.mayTell(ctx, told); err != nil {
		return Delivered{}, err
	}
	done := Delivered{Consequential: true}
	if d.Outside {
		if done.Told, err = r.retract(ctx, told, d.Message); err != nil {
			return Delivered{}, err
		}
	}
	for _, c := range d.Message.Components() {
		if ranged(c) {
			x, err = r.endBefore(ctx, x, c)
		} else {
			err = x.drop(c)
		}
		if err != nil {
			return Delivered{}, err
		}
	}
	if bytes.Equal(x.Document.Bytes(), d.Stored.Document.Bytes()) {
		return done, ErrSame
	}
	done.Object, err = content.Of(x.Document)
	return done, err
}

// ranged reports whether a component also applies to all later instances (RANGE=THISANDFUTURE).
func ranged(c *ical.Component) bool {
	p := c.Property("RECURRENCE-ID")
	return p != nil && param(p, "RANGE") != ""
}

// endBefore cancels an instance and all later ones (RFC 5546 §3.2.5).
func (r Rules) endBefore(ctx context.Context, x *reading, c *ical.Component) (*reading, error) {
	id, err := c.Property("RECURRENCE-ID").Time()
	if err != nil {
		return nil, err
	}
	counts := map[*ical.Component]int{}
	for _, all := range x.Components() {
		counts[all] = sequence(all)
	}
	cut := edit.Target{Instance: id, Scope: edit.Following}
	done, err := edit.Editor{Zones: r.Zones, Now: r.Now}.Cancel(ctx, x.Object, cut)
	if err != nil || done.Document == nil {
		whole := c.Clone()
		whole.Remove("RECURRENCE-ID")
		if err == nil {
			err = x.drop(whole)
		}
		return x, err
	}
	for c, n := range counts {
		setSequence(c, n)
	}
	made, err := content.Of(done.Document)
	if err != nil {
		return nil, err
	}
	return r.read(ctx, made)
}

// drop cancels the instance, or the series, that a component of a CANCEL names.
func (x *reading) drop(c *ical.Component) error {
	p := c.Property("RECURRENCE-ID")
	if p == nil {
		for _, all := range x.Components() {
			setWord(all, "STATUS", "CANCELLED")
			takeComment(all, c)
			setSequence(all, max(sequence(all), sequence(c)))
		}
		return nil
	}
	id, err := p.Time()
	if err != nil {
		return err
	}
	key, err := x.key(id)
	if err != nil {
		return err
	}
	at := x.at(key, id)
	switch {
	case at == nil:
		return nil
	case x.master() != nil:
		if own := at.Property("RECURRENCE-ID"); own != nil {
			id, err = own.Time()
		}
		if err != nil {
			return err
		}
		x.Master.Add(ical.NewTime("EXDATE", id))
		x.Calendar.RemoveComponent(at)
	case len(x.apart) > 1:
		x.Calendar.RemoveComponent(at)
		delete(x.apart, key)
	default:
		setWord(at, "STATUS", "CANCELLED")
		takeComment(at, c)
		setSequence(at, max(sequence(at), sequence(c)))
	}
	return nil
}

// takeComment replaces the attendee's own comment with the organizer's comment on a cancellation.
func takeComment(at, c *ical.Component) {
	at.Remove("COMMENT")
	if p := c.Property("COMMENT"); p != nil {
		at.Add(p.Clone())
	}
}

func setWord(c *ical.Component, name, word string) {
	if content.WordOf(c, name) != word {
		c.Set(ical.NewText(name, word))
	}
}
