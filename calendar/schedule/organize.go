package schedule

import (
	"context"
	"maps"
	"slices"
	"sync"

	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/ical"
)

// Outcome is the result of a change.
type Outcome struct {
	// Object is the event to store; nil if it is deleted. The delivery status of its messages is recorded in it later.
	Object   *content.Object
	Messages []Message
	// News is set if the attendee's client stored a newer version from an organizer on another server.
	News bool
}

// Organize returns the outcome of an organizer's change. before is nil if the event is new, next if it was deleted.
func (r Rules) Organize(ctx context.Context, before, next *content.Object, is Self) (Outcome, error) {
	old, err := r.read(ctx, before)
	if err != nil {
		return Outcome{}, err
	}
	if next == nil {
		all, err := r.callOff(ctx, old, is)
		return Outcome{Messages: all}, err
	}
	if err := sameOrganizer(before, next, is); err != nil {
		return Outcome{}, err
	}
	made, err := copyOf(next)
	if err != nil {
		return Outcome{}, err
	}
	single(made)
	keepOrganizer(made, before)
	now, err := r.read(ctx, made)
	if err != nil {
		return Outcome{}, err
	}
	if now, err = r.carry(ctx, old, now, is); err != nil {
		return Outcome{}, err
	}
	prior := old
	if before == nil && r.Origin != nil {
		if prior, err = r.read(ctx, r.Origin); err != nil {
			return Outcome{}, err
		}
	}
	now, asks, err := r.ask(ctx, prior, now, is)
	if err != nil {
		return Outcome{}, err
	}
	asks.forced = r.settle(old, prior, now, is, asks)
	out := Outcome{Object: now.Object}
	out.Messages, err = r.differences(old, now, r.recipients(Attendees(before), Attendees(now.Object), is), asks)
	return out, err
}

// recipients returns the former and present attendees except the sender. Each is listed once, by a present address if
// possible.
func (r Rules) recipients(before, now []Address, is Self) []Address {
	named := map[Person]Address{}
	for _, a := range slices.Backward(now) {
		named[r.who(a)] = a
	}
	var all []Address
	known := map[Person]bool{}
	for _, a := range slices.Concat(before, now) {
		who := r.who(a)
		if is(a) || known[who] {
			continue
		}
		known[who] = true
		if b, there := named[who]; there {
			a = b
		}
		all = append(all, a)
	}
	return all
}

// keepOrganizer keeps the address that the attendees know, because a client may write another address of the same
// organizer. The caller has checked that it is theirs.
func keepOrganizer(next, before *content.Object) {
	stored := organizer(before)
	if stored == nil || addressOf(stored) == OrganizerOf(next) {
		return
	}
	for _, c := range next.Components() {
		if c.Property("ORGANIZER") != nil {
			c.Set(stored.Clone())
		}
	}
}

// KeepParties restores the organizer and attendees that a client lost when it completed a task, as Apple's Reminders
// does. A user who removes all attendees from a task does not complete it in the same edit.
func KeepParties(next, before *content.Object, is Self) {
	org := organizer(before)
	if org == nil || next == nil || next.Kind != content.Todo || len(Parties(next)) > 0 {
		return
	}
	c, was := next.Master, before.Master
	if c == nil || was == nil || !completed(c, was) {
		return
	}
	c.Add(org.Clone())
	c.Add(clones(was.All("ATTENDEE"))...)
	if mine := attendee(c, is); mine != nil {
		setParam(mine, paramPartstat, Completed)
	}
}

// callOff returns the cancellations for all attendees of a deleted event.
func (r Rules) callOff(ctx context.Context, old *reading, is Self) ([]Message, error) {
	nothing, err := r.read(ctx, nil)
	if err != nil {
		return nil, err
	}
	return r.differences(old, nothing, r.recipients(Attendees(old.Object), nil, is), asking{})
}

// sameOrganizer checks that all components have one organizer, and that a meeting keeps its organizer.
func sameOrganizer(before, next *content.Object, is Self) error {
	if err := oneOrganizer(next); err != nil {
		return err
	}
	was, now := OrganizerOf(before), OrganizerOf(next)
	if was == "" || now == "" || was == now || is(was) && is(now) {
		return nil
	}
	return refuse(OrganizerMayChange,
		"%s organizes this event, which cannot become the event of %s: call it off and make another one", was, now)
}

func oneOrganizer(o *content.Object) error {
	org := OrganizerOf(o)
	for _, c := range o.Components() {
		if p := c.Property("ORGANIZER"); p != nil && addressOf(p) != org {
			return refuse(SameOrganizer, "line %d: all parts of an event have one organizer", p.Line())
		}
	}
	return nil
}

// single removes duplicate attendee lines: some clients add one with every save.
func single(o *content.Object) {
	for _, c := range o.Components() {
		known := map[Address]bool{}
		c.RemoveFunc(func(p *ical.Property) bool {
			if p.Name() != "ATTENDEE" {
				return false
			}
			a := addressOf(p)
			again := known[a]
			known[a] = true
			return again
		})
	}
}

// carry restores overrides that only hold answers. The client did not know them yet, or reset the instance to the
// series. The answers refer to the same time, so they stay valid.
func (r Rules) carry(ctx context.Context, old, now *reading, is Self) (*reading, error) {
	if old.master() == nil || now.master() == nil {
		return now, nil
	}
	added := false
	for _, key := range slices.Sorted(maps.Keys(old.apart)) {
		c := old.apart[key]
		if now.singles(key) {
			continue
		}
		made := now.at(key, old.ids[key])
		if made == nil || old.timing(c) != now.timing(made) || !r.answeredApart(old, c, now.roster(now.master()), is) {
			continue
		}
		if err := r.Meter.Make(size(c)+size(now.Master), 1); err != nil {
			return nil, err
		}
		now.dress(made)
		answers := old.roster(c)
		for _, p := range made.All("ATTENDEE") {
			if stored := answers.at[addressOf(p)]; stored != nil {
				setParam(p, paramPartstat, partstat(stored))
			}
		}
		now.Calendar.AddComponent(made)
		added = true
	}
	if !added {
		return now, nil
	}
	return r.again(ctx, now)
}

// answeredApart reports whether an attendee's answer to an override differs from their answer to the series.
func (r Rules) answeredApart(x *reading, c *ical.Component, attendees *roster, is Self) bool {
	series := x.roster(x.master())
	return slices.ContainsFunc(x.attendeesIn(c), func(p *ical.Property) bool {
		a := addressOf(p)
		whole := series.line(a, r.who(a))
		return !is(a) && whole != nil && attendees.line(a, r.who(a)) != nil && partstat(whole) != partstat(p)
	})
}

// settle sets the values that the server controls: the attendees' answers and SEQUENCE. Answers come from the prior
// version, which is the old one or the series that a new event was split from. It returns the attendees who always get
// a message.
func (r Rules) settle(old, prior, now *reading, is Self, asks asking) map[Person]bool {
	forced, known := map[Person]bool{}, len(Attendees(old.Object)) > 0
	leaves := sync.OnceValue(func() bool { return r.leaves(old.attendeesIn(old.master()), now.roster(now.master())) })
	for _, c := range now.Components() {
		was := prior.counterpart(now, c)
		stored, again := prior.roster(was), prior.asksAgain(now, was, c, asks)
		for _, p := range c.All("ATTENDEE") {
			to := addressOf(p)
			if param(p, paramForce) == string(Request) {
				forced[r.who(to)] = true
			}
			p.RemoveParam(paramForce)
			line := stored.line(to, r.who(to))
			if is(to) || !served(p) || r.Known && (old.Object == nil || again || line == nil) {
				continue // restored instances and attendees have their answers
			}
			settleAnswer(p, line, again)
			if (again || line == nil) && r.Agreed != "" && r.who(to) == r.who(r.Agreed) {
				setParam(p, paramPartstat, Accepted)
				setParam(p, paramRSVP, "")
			}
		}
		if old.Object == nil && r.Known {
			setSequence(c, sequence(c)+2) // its cancellation took one
		} else if old.Object == nil && sequence(c) <= r.CalledOff && r.CalledOff > 0 {
			setSequence(c, r.CalledOff+1) // else attendees would take the new event for older than the cancellation
		}
		if known {
			r.count(old, now, old.counterpart(now, c), c, asks.shift, leaves)
		}
	}
	return forced
}

// asksAgain reports whether a component needs a new answer from attendees who have answered: its times have changed, or
// the instance is new.
func (x *reading) asksAgain(now *reading, was, c *ical.Component, asks asking) bool {
	switch {
	case x.Object == nil:
		return false
	case c == now.master():
		return asks.series
	}
	return was == nil || x.timing(was) != now.timing(c)
}

// counterpart returns the former version of a component: the same instance, possibly generated by the series.
func (x *reading) counterpart(now *reading, c *ical.Component) *ical.Component {
	p := c.Property("RECURRENCE-ID")
	if x.Object == nil || p == nil {
		return x.master()
	}
	id, err := p.Time()
	if err != nil {
		return nil
	}
	key, err := now.key(id)
	if err != nil {
		return nil
	}
	return x.at(key, id)
}

// settleAnswer sets an attendee's answer from the stored version. A newly invited attendee, or one who is asked for a
// new time, has no answer.
func settleAnswer(p, stored *ical.Property, retimed bool) {
	switch {
	case stored == nil, retimed:
		if partstat(p) != NeedsAction {
			p.SetParam(paramPartstat, NeedsAction)
		}
		if retimed {
			setParam(p, paramRSVP, "TRUE")
		}
		setParam(p, paramStatus, "")
		setParam(p, paramReplied, "")
		setParam(p, paramPercent, "")
		setParam(p, paramComment, "")
		if stored != nil {
			carryParams(p, stored, paramStatus)
		}
	default:
		if partstat(p) != partstat(stored) {
			carryParams(p, stored, paramPartstat)
		}
		carryParams(p, stored, paramStatus, paramReplied, paramPercent, paramComment, "DELEGATED-TO", paramFrom)
	}
}

// carryParams copies parameters from another line.
func carryParams(p, from *ical.Property, names ...string) {
	for _, name := range names {
		value, _ := from.Param(name)
		setParam(p, name, value)
	}
}

// count sets SEQUENCE. It grows with each change that may alter an answer (RFC 5546 §2.1.4), and never falls. It also
// grows if an attendee is removed, so that a later invitation is newer than the CANCEL; leaves reports a removal from
// the series. A series that drops an override gets a higher SEQUENCE than the override had. Otherwise clients that
// compare them would keep the override.
func (r Rules) count(old, now *reading, was, c *ical.Component, s shift, leaves func() bool) {
	before := sequence(was)
	if was == nil {
		before = sequence(old.master())
	}
	significant := was == nil || words(was, []string{"STATUS"}) != words(c, []string{"STATUS"})
	if c == now.master() {
		dropped := old.dropped(now)
		significant = significant || !s.same() || !sameKeys(old.excluded(), now.excluded()) || dropped >= 0
		before = max(before, dropped)
	} else {
		significant = significant || old.timing(was) != now.timing(c)
	}
	if !significant && old.inherits(was) && now.inherits(c) {
		significant = leaves()
	} else if !significant {
		significant = r.leaves(old.attendeesIn(was), now.roster(c))
	}
	switch n := sequence(c); {
	case significant && n <= before:
		setSequence(c, before+1)
	case n < before:
		setSequence(c, before)
	}
}

// dropped returns the highest SEQUENCE of the overrides that the new version lacks, or -1 if it has all of them.
func (x *reading) dropped(now *reading) int {
	n := -1
	for key, c := range x.apart {
		if now.apart[key] == nil {
			n = max(n, sequence(c))
		}
	}
	return n
}

// leaves reports whether an attendee no longer takes part in a component.
func (r Rules) leaves(was []*ical.Property, now *roster) bool {
	for _, p := range was {
		a := addressOf(p)
		if now := now.line(a, r.who(a)); served(p) && (now == nil || !served(now)) {
			return true
		}
	}
	return false
}

func sameKeys(a, b map[int64]ical.Time) bool {
	if len(a) != len(b) {
		return false
	}
	for key := range a {
		if _, there := b[key]; !there {
			return false
		}
	}
	return true
}

// Ends returns the SEQUENCE of an event's cancellation.
func Ends(o *content.Object) int { return highest(&reading{Object: o}) + 1 }

// highest returns the highest SEQUENCE of an object.
func highest(x *reading) int {
	n := 0
	if x.Object == nil {
		return n
	}
	for _, c := range x.Components() {
		n = max(n, sequence(c))
	}
	return n
}
