package schedule

import (
	"context"
	"slices"

	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/ical"
)

// Outcome is the outcome of a change.
type Outcome struct {
	// Object is the event as it is to be stored; nil where it is gone. The outcome of a message is noted in it.
	Object   *content.Object
	Messages []Message
}

// Organize returns the outcome of an organizer's change. Before or next is nil where there was, or is,
// nothing.
func (r Rules) Organize(ctx context.Context, before, next *content.Object, is Self) (Outcome, error) {
	old, err := r.read(ctx, before)
	if err != nil {
		return Outcome{}, err
	}
	if next == nil {
		return Outcome{Messages: r.callOff(old, is)}, nil
	}
	if err := r.sameOrganizer(before, next, is); err != nil {
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
	if now, err = r.carry(ctx, old, now); err != nil {
		return Outcome{}, err
	}
	forced := r.settle(old, now, is)
	out := Outcome{Object: now.Object}
	for _, to := range r.recipients(Attendees(before), Attendees(now.Object), is) {
		out.Messages = append(out.Messages, r.differences(old, now, to, forced(r.person(to)))...)
	}
	return out, nil
}

// recipients are the people who were or are named, but for the sender: each by one address, which is one of those that
// are named now, if there is any.
func (r Rules) recipients(before, now []Address, is Self) []Address {
	var all []Address
	for _, a := range union(before, now) {
		person := r.person(a)
		if is(a) || slices.ContainsFunc(all, person) {
			continue
		}
		if i := slices.IndexFunc(now, person); i >= 0 {
			a = now[i]
		}
		all = append(all, a)
	}
	return all
}

// keepOrganizer leaves the organizer the address under which the guests know them: a program may write another one of
// theirs. That they may take it is seen to before.
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

func union(a, b []Address) []Address {
	all := slices.Clone(a)
	for _, one := range b {
		if !slices.Contains(all, one) {
			all = append(all, one)
		}
	}
	return all
}

// callOff tells everybody that there is nothing any more.
func (r Rules) callOff(old *reading, is Self) []Message {
	var all []Message
	for _, to := range r.recipients(Attendees(old.Object), nil, is) {
		if !old.view(r.person(to)).empty() {
			all = append(all, r.cancel(old, to, 0))
		}
	}
	return all
}

// sameOrganizer sees that all components are of one organizer, and that a meeting keeps its organizer.
func (r Rules) sameOrganizer(before, next *content.Object, is Self) error {
	if err := oneOrganizer(next); err != nil {
		return err
	}
	was, now := OrganizerOf(before), OrganizerOf(next)
	if was == "" || now == "" || was == now || is(was) && is(now) {
		return nil
	}
	return refuse(OrganizerMayChange, "%s organizes this event, which cannot become the event of %s: call it off and make another one", was, now)
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

// single leaves one line for each attendee: some programs add one more with every save.
func single(o *content.Object) {
	for _, c := range o.Components() {
		known := map[Address]bool{}
		for _, p := range c.All("ATTENDEE") {
			if a := addressOf(p); known[a] {
				c.RemoveProperty(p)
			} else {
				known[a] = true
			}
		}
	}
}

// carry puts back the overrides that answers made and that the sender of the object did not know yet: they are the same
// meeting, with another answer.
func (r Rules) carry(ctx context.Context, old, now *reading) (*reading, error) {
	if old.master() == nil || now.master() == nil {
		return now, nil
	}
	var series *reading
	added, out := false, now.excluded()
	for key, c := range old.apart {
		if _, gone := out[key]; gone || now.apart[key] != nil {
			continue
		}
		if series == nil {
			var err error
			if series, err = r.series(ctx, old); err != nil {
				return nil, err
			}
		}
		made := now.at(key, old.ids[key])
		if as := series.at(key, old.ids[key]); made == nil || as == nil || old.essence(c) != series.essence(as) {
			continue
		}
		for _, p := range made.All("ATTENDEE") {
			if stored := attendee(c, only(addressOf(p))); stored != nil {
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

// series is an object without its overrides.
func (r Rules) series(ctx context.Context, x *reading) (*reading, error) {
	alone, err := copyOf(x.Object)
	if err != nil {
		return nil, err
	}
	for _, c := range alone.Overrides {
		alone.Calendar.RemoveComponent(c)
	}
	alone.Overrides = nil
	return r.read(ctx, alone)
}

// settle puts into the object the values that the server keeps: the guests' answers, and the counters. It tells to
// whom a message goes in any case.
func (r Rules) settle(old, now *reading, is Self) func(Self) bool {
	var forced []Address
	for _, c := range now.Components() {
		was := old.counterpart(now, c)
		retimed := was != nil && old.timing(was) != now.timing(c)
		for _, p := range c.All("ATTENDEE") {
			to := addressOf(p)
			if param(p, paramForce) == string(Request) {
				forced = append(forced, to)
			}
			p.RemoveParam(paramForce)
			if !is(to) && served(p) {
				if old.Object != nil || !r.Known {
					settleAnswer(p, r.line(was, to), retimed)
				}
			}
		}
		if old.Object == nil && r.Known {
			setSequence(c, sequence(c)+2) // that it was called off has counted one
		}
		if old.Object != nil && len(Attendees(old.Object)) > 0 {
			r.count(old, now, was, c)
		}
	}
	return func(person Self) bool { return slices.ContainsFunc(forced, person) }
}

// counterpart is what a component was before: the same instance, also where its series spoke for it.
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

// settleAnswer says what an attendee has answered, which the server keeps. A guest who is asked for the first time,
// or for other times, has answered nothing.
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
		if stored != nil {
			carryParams(p, stored, paramStatus)
		}
	default:
		if partstat(p) != partstat(stored) {
			carryParams(p, stored, paramPartstat)
		}
		carryParams(p, stored, paramStatus, paramReplied, "DELEGATED-TO", paramFrom)
	}
}

// carryParams gives a line the parameters that another one has.
func carryParams(p, from *ical.Property, names ...string) {
	for _, name := range names {
		value, _ := from.Param(name)
		setParam(p, name, value)
	}
}

// count keeps SEQUENCE: it grows with what makes an answer worth asking for again (RFC 5546 §2.1.4), and never goes back. It grows
// when a guest is taken off, too: they are told so with the next number, and may be invited again.
func (r Rules) count(old, now *reading, was, c *ical.Component) {
	before := sequence(was)
	if was == nil {
		before = sequence(old.master())
	}
	significant := was == nil || old.timing(was) != now.timing(c) || words(was, []string{"STATUS"}) != words(c, []string{"STATUS"})
	if !significant && c == now.master() {
		significant = !sameKeys(old.excluded(), now.excluded())
	}
	significant = significant || r.leaves(was, c)
	switch n := sequence(c); {
	case significant && n <= before:
		setSequence(c, before+1)
	case n < before:
		setSequence(c, before)
	}
}

// leaves tells whether somebody takes part in a component no longer.
func (r Rules) leaves(was, c *ical.Component) bool {
	for _, p := range was.All("ATTENDEE") {
		if now := r.line(c, addressOf(p)); served(p) && (now == nil || !served(now)) {
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

// differences are the messages for one attendee.
func (r Rules) differences(old, now *reading, to Address, forced bool) []Message {
	was, is := old.view(r.person(to)), now.view(r.person(to))
	switch {
	case was.empty() && is.empty():
		return nil
	case was.empty():
		m := r.request(now, to)
		m.First = !r.Known
		return []Message{m}
	case is.empty():
		return []Message{r.cancel(old, to, highest(now))}
	}
	var all []Message
	whole := was.master != nil && is.master == nil
	if whole {
		all = append(all, r.cancel(old, to, 0))
	}
	lost, changed, retimed := r.instances(old, now, to)
	if forced || whole || changed {
		m := r.request(now, to)
		m.Retimed = retimed
		all = append(all, m)
	}
	if whole {
		return all
	}
	if len(all) == 0 && was.guests() != is.guests() {
		m := r.request(now, to)
		m.Refresh = true
		all = append(all, m)
	}
	_, ids := touched(old, now)
	for _, key := range lost {
		all = append(all, r.cancelOne(old, to, key, ids[key], sequence(now.at(key, ids[key]))))
	}
	return all
}

// highest is the highest SEQUENCE of an object.
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

// instances compares what somebody takes part in: which instances they lost, and whether anything else is to be told.
func (r Rules) instances(old, now *reading, to Address) (lost []int64, changed, retimed bool) {
	is := r.person(to)
	before, after := old.master(), now.master()
	switch was, still := old.attends(before, is), now.attends(after, is); {
	case was != still:
		changed = still
	case was:
		changed = old.essence(before) != now.essence(after)
		retimed = old.timing(before) != now.timing(after)
	}
	keys, ids := touched(old, now)
	for _, key := range keys {
		a, b := old.at(key, ids[key]), now.at(key, ids[key])
		had, has := old.attends(a, is), now.attends(b, is)
		switch {
		case had && !has:
			// An instance that a new rule does not have need not be called off: the rule says so.
			if _, out := now.excluded()[key]; out || b != nil || after == nil || !retimed {
				lost = append(lost, key)
			}
		case has && !had:
			changed = true
		case has && old.timing(a) != now.timing(b):
			changed, retimed = true, true
		case has && old.essence(a) != now.essence(b):
			changed = true
		}
	}
	return lost, changed, retimed
}
