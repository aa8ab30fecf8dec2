package schedule

import (
	"bytes"
	"context"
	"slices"

	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/ical"
)

// Delivery is a message of an organizer on its way into what an attendee has of the event.
type Delivery struct {
	// Stored is that; nil where they have nothing of it. Message is what the organizer says.
	Stored, Message *content.Object
	Self            Self
	// Whole tells that the message says all that the attendee takes part in; else what it says of single instances
	// leaves the others as they are. Outside tells that it came by mail, where messages may overtake each other.
	Whole, Outside bool
	// Room tells that the attendee is a room: its answer is its own word alone, and holds only for what it has looked at.
	Room bool
}

// Delivered is the outcome.
type Delivered struct {
	Object *content.Object
	// Consequential tells that more has changed than what others have answered.
	Consequential bool
	// heeds tells whether only somebody's own answer decides about that; nil where it does not hang on it.
	heeds func(Self) bool
}

// For is the same for somebody else, whose copy said the same to the letter. See [Personal].
func (d Delivered) For(is Self) Delivered {
	if d.heeds != nil {
		d.Consequential = d.heeds(is)
	}
	return d
}

// Personal tells whether it hangs on whose copy it is what a message makes of it: there is something in it that only
// its holder's line says something about.
func Personal(stored *content.Object) bool {
	if stored == nil {
		return false
	}
	for _, c := range stored.Components() {
		if c.Property("EXDATE") != nil || slices.ContainsFunc(c.All("ATTENDEE"), func(p *ical.Property) bool { return param(p, paramAgent) != "" }) {
			return true
		}
	}
	return false
}

// mayTell sees that a message is from the event's organizer, and not older than the version that is known.
func (r Rules) mayTell(old *reading, d Delivery) error {
	if d.Stored == nil {
		return nil
	}
	if !r.person(OrganizerOf(d.Stored))(OrganizerOf(d.Message)) {
		return ErrForeign
	}
	if !served(organizer(d.Stored)) {
		return ErrSame // their program sees to it
	}
	if !d.Outside {
		return nil
	}
	for _, c := range d.Message.Components() {
		was := old.counterpart(old, c)
		if was == nil {
			continue
		}
		before, now := sequence(was), sequence(c)
		if now < before || now == before && content.TextOf(c, "DTSTAMP") < content.TextOf(was, "DTSTAMP") {
			return ErrStale
		}
	}
	return nil
}

// Invite puts what an organizer asks for into what an attendee has.
func (r Rules) Invite(ctx context.Context, d Delivery) (Delivered, error) {
	old, err := r.read(ctx, d.Stored)
	if err != nil {
		return Delivered{}, err
	}
	if err := r.mayTell(old, d); err != nil {
		return Delivered{}, err
	}
	made, err := r.merged(ctx, d)
	if err != nil {
		return Delivered{}, err
	}
	now, err := r.read(ctx, made)
	if err != nil {
		return Delivered{}, err
	}
	asked, err := r.read(ctx, d.Message)
	if err != nil {
		return Delivered{}, err
	}
	for _, c := range now.Components() {
		if asked.counterpartOf(now, c) {
			r.keepOwn(old, now, c, d)
		}
	}
	if d.Stored != nil {
		if now, err = r.keepOut(ctx, old, now, asked, d); err != nil {
			return Delivered{}, err
		}
		if now, err = r.keepPrivate(ctx, old, now, asked); err != nil {
			return Delivered{}, err
		}
		if bytes.Equal(now.Document.Bytes(), d.Stored.Document.Bytes()) {
			return Delivered{}, ErrSame
		}
	}
	if d.Stored == nil || r.differs(old, now) {
		return Delivered{Object: now.Object, Consequential: true}, nil
	}
	heeds := func(is Self) bool { return saysOther(old, now, is) }
	return Delivered{now.Object, heeds(d.Self), heeds}, nil
}

// counterpartOf tells whether a message has a component for the same as one of another reading.
func (x *reading) counterpartOf(now *reading, c *ical.Component) bool {
	p := c.Property("RECURRENCE-ID")
	if p == nil {
		return x.master() != nil
	}
	id, err := p.Time()
	if err != nil {
		return false
	}
	key, err := now.key(id)
	return err == nil && x.apart[key] != nil
}

// merged is the message as an object, or what is stored with what the message says of single instances.
func (r Rules) merged(ctx context.Context, d Delivery) (*content.Object, error) {
	if d.Stored == nil || d.Whole || d.Message.Master != nil {
		made, err := copyOf(d.Message)
		if err == nil {
			made.Calendar.Remove("METHOD")
		}
		return made, err
	}
	x, err := r.readCopy(ctx, d.Stored)
	if err != nil {
		return nil, err
	}
	for _, c := range d.Message.Overrides {
		id, err := c.Property("RECURRENCE-ID").Time()
		if err != nil {
			return nil, err
		}
		key, err := x.key(id)
		if err != nil {
			return nil, err
		}
		if was := x.apart[key]; was != nil {
			x.Calendar.RemoveComponent(was)
		}
		x.admit(key)
		x.Calendar.AddComponent(c.Clone())
	}
	lendZones(x.Calendar, d.Message.Calendar)
	return content.Of(x.Document)
}

// lendZones adds the definitions of zones that only the other has.
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

// admit takes an instance out of those that the series leaves out.
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

// differs tells whether two versions of what an attendee has differ in more than in what people have answered.
func (r Rules) differs(old, now *reading) bool {
	if (old.master() == nil) != (now.master() == nil) || old.essence(old.master()) != now.essence(now.master()) {
		return true
	}
	keys, ids := touched(old, now)
	other := func(key int64) bool { return old.essence(old.at(key, ids[key])) != now.essence(now.at(key, ids[key])) }
	return slices.ContainsFunc(keys, other) || !slices.Equal(Parties(old.Object), Parties(now.Object))
}

// saysOther tells whether two versions say that somebody has answered something else.
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

// CallOff puts what an organizer calls off into what an attendee has. All of it stays to be seen, as called off; an
// instance goes.
func (r Rules) CallOff(ctx context.Context, d Delivery) (Delivered, error) {
	if d.Stored == nil {
		return Delivered{}, ErrSame
	}
	x, err := r.readCopy(ctx, d.Stored)
	if err != nil {
		return Delivered{}, err
	}
	if err := r.mayTell(x, d); err != nil {
		return Delivered{}, err
	}
	for _, c := range d.Message.Components() {
		if err := x.drop(c); err != nil {
			return Delivered{}, err
		}
	}
	if bytes.Equal(x.Document.Bytes(), d.Stored.Document.Bytes()) {
		return Delivered{}, ErrSame
	}
	now, err := content.Of(x.Document)
	return Delivered{Object: now, Consequential: true}, err
}

// drop calls off what a component of a message names.
func (x *reading) drop(c *ical.Component) error {
	p := c.Property("RECURRENCE-ID")
	if p == nil {
		for _, all := range x.Components() {
			setWord(all, "STATUS", "CANCELLED")
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
		setSequence(at, max(sequence(at), sequence(c)))
	}
	return nil
}

func setWord(c *ical.Component, name, word string) {
	if content.WordOf(c, name) != word {
		c.Set(ical.NewText(name, word))
	}
}
