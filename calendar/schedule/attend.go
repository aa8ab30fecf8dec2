package schedule

import (
	"context"
	"maps"
	"slices"

	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/ical"
)

// Guest holds the facts known of an attendee.
type Guest struct {
	Self
	// Away tells that the organizer is not of this server, so that the attendee's program may be the one that gets to
	// know of changes, and stores them.
	Away bool
}

// Attend returns the outcome of an attendee's change. Before or next is nil where there was, or is, nothing.
func (r Rules) Attend(ctx context.Context, before, next *content.Object, g Guest) (Outcome, error) {
	old, err := r.read(ctx, before)
	if err != nil {
		return Outcome{}, err
	}
	if next == nil {
		return Outcome{Messages: r.declineAll(old, g.Self)}, nil
	}
	if err := oneOrganizer(next); err != nil {
		return Outcome{}, err
	}
	now, err := r.readCopy(ctx, next)
	if err != nil {
		return Outcome{}, err
	}
	free := before == nil || !served(organizer(now.Object)) || !served(organizer(before)) || g.Away && highest(now) > highest(old)
	if !free {
		if now, err = r.carry(ctx, old, now); err != nil {
			return Outcome{}, err
		}
		if err := r.allowed(old, now, g.Self); err != nil {
			return Outcome{}, err
		}
		r.keepOthers(old, now, g.Self)
		if now, err = r.putBack(ctx, old, now, g.Self); err != nil {
			return Outcome{}, err
		}
	}
	answerTasks(old, now, g.Self)
	return Outcome{Object: now.Object, Messages: r.answers(old, now, g.Self)}, nil
}

// guarded is what of an event is its organizer's (RFC 6638 §3.2.2.1).
var guarded = [...]string{"SUMMARY", "LOCATION", "DESCRIPTION", "STATUS", "GEO", "URL"}

// allowed sees that an attendee changes only what is theirs: the answer, alarms, whether it takes their time, what
// they note, and the instances that they leave out.
func (r Rules) allowed(old, now *reading, is Self) error {
	if was, is := OrganizerOf(old.Object), OrganizerOf(now.Object); was != is {
		return refuse(AttendeeMayChange, "the organizer of this event is %s, who can change that", was)
	}
	if (old.master() == nil) != (now.master() == nil) {
		return refuse(AttendeeMayChange, "you are invited to other instances of this series than these; ask %s", OrganizerOf(old.Object))
	}
	if err := r.alike(old, now, old.master(), now.master(), is); err != nil {
		return err
	}
	left := now.excluded()
	keys, ids := touched(old, now)
	for _, key := range keys {
		if _, out := left[key]; out {
			continue // they decline it
		}
		a, b := old.at(key, ids[key]), now.at(key, ids[key])
		if a == nil && b == nil || a != nil && b == nil && now.master() == nil {
			continue
		}
		if err := r.alike(old, now, a, b, is); err != nil {
			return err
		}
	}
	return nil
}

// alike sees that two versions of an instance differ only in what is the attendee's.
func (r Rules) alike(old, now *reading, a, b *ical.Component, is Self) error {
	org := OrganizerOf(old.Object)
	if (a == nil) != (b == nil) {
		return refuse(AttendeeMayChange, "%s organizes this event, and says which instances it has", org)
	}
	if a == nil {
		return nil
	}
	if old.timing(a) != now.timing(b) {
		return refuse(AttendeeMayChange, "%s organizes this event, and says when it is: you can accept or decline it, or propose another time", org)
	}
	for _, name := range guarded {
		if name == "STATUS" && progress(a) && progress(b) {
			continue // how far they are with a task is theirs to say
		}
		if words(a, []string{name}) != words(b, []string{name}) {
			return refuse(AttendeeMayChange, "%s organizes this event, and its %s is not yours to change", org, name)
		}
	}
	return r.sameGuests(old, now, a, b, is)
}

// answerTasks has the status that somebody gives a task be their answer, where their program writes no answer.
func answerTasks(old, now *reading, is Self) {
	for _, c := range now.Components() {
		status, mine, was := content.WordOf(c, "STATUS"), attendee(c, is), old.counterpart(now, c)
		if c.Name() != content.Todo || mine == nil || was == nil || status != Completed && status != InProcess || content.WordOf(was, "STATUS") == status {
			continue
		}
		if partstat(mine) == said(old, was, is) {
			setParam(mine, paramPartstat, status)
		}
	}
}

// progress tells whether a component is a task that somebody is at work on, or done with. That it is called off is the
// organizer's to say.
func progress(c *ical.Component) bool {
	return c.Name() == content.Todo && content.WordOf(c, "STATUS") != "CANCELLED"
}

// sameGuests sees that nobody was added or left out, but for the delegate whom the attendee sends in their place.
func (r Rules) sameGuests(old, now *reading, a, b *ical.Component, is Self) error {
	if old.inherits(a) && now.inherits(b) {
		return nil // the series' are compared
	}
	was, there := old.attendeesIn(a), now.attendeesIn(b)
	sent := len(delegates(there, is))
	had, has := old.roster(a), now.roster(b)
	for _, p := range there {
		if said := param(p, paramPartstat); is(addressOf(p)) && said != "" && !answers[said] {
			return refuse(AttendeeMayChange, "%q is no answer to an invitation", said)
		}
		added := had.at[addressOf(p)] == nil
		if from, _ := p.Param(paramFrom); added && !is(AddressOf(from)) {
			return refuse(AttendeeMayChange, "%s organizes this event, and invites to it; you can delegate it to somebody", OrganizerOf(old.Object))
		}
		if added && sent > 1 {
			return refuse(AttendeeMayChange, "%s organizes this event, and you can send one delegate in your place", OrganizerOf(old.Object))
		}
		if added && delegations(a, is) == mostDelegates {
			return refuse(AttendeeMayChange, "%s organizes this event, and nobody more can come for you: %v", OrganizerOf(old.Object), ErrChain)
		}
	}
	for _, p := range was {
		if has.at[addressOf(p)] == nil {
			return refuse(AttendeeMayChange, "%s organizes this event, and says who takes part", OrganizerOf(old.Object))
		}
	}
	return nil
}

// keepOthers puts back the answers of others: the sender of the object need not know the latest.
func (r Rules) keepOthers(old, now *reading, is Self) {
	for _, c := range now.Components() {
		was := old.counterpart(now, c)
		answers := old.roster(was)
		for _, p := range c.All("ATTENDEE") {
			if stored := answers.at[addressOf(p)]; stored != nil && !is(addressOf(p)) && stored.String() != p.String() {
				carryParams(p, stored, paramPartstat, paramRSVP, paramStatus, "DELEGATED-TO", paramFrom)
			}
		}
		if org, stored := c.Property("ORGANIZER"), organizer(old.Object); org != nil && stored != nil {
			carryParams(org, stored, paramStatus)
		}
		if n := sequence(was); sequence(c) < n {
			setSequence(c, n)
		}
	}
}

// putBack puts back the instances apart that a guest's program has dropped, where the organizer tells of them what the
// series does not say, such as how one of them is joined: to leave an instance out one says so. An answer to the series
// is one to them where it was before.
func (r Rules) putBack(ctx context.Context, old, now *reading, is Self) (*reading, error) {
	added, out := false, now.excluded()
	for _, key := range slices.Sorted(maps.Keys(old.apart)) {
		if _, gone := out[key]; gone || now.apart[key] != nil || now.master() == nil {
			continue
		}
		c := old.apart[key].Clone()
		if mine, was, said := attendee(c, is), attendee(old.master(), is), attendee(now.master(), is); mine != nil && said != nil && partstat(mine) == partstat(was) {
			setParam(mine, paramPartstat, partstat(said))
		}
		now.Calendar.AddComponent(c)
		added = true
	}
	if !added {
		return now, nil
	}
	lendZones(now.Calendar, old.Calendar)
	return r.again(ctx, now)
}

// answers are what the organizer is told of a change.
func (r Rules) answers(old, now *reading, is Self) []Message {
	org := organizer(now.Object)
	if org == nil || !served(org) {
		return nil
	}
	forced := r.Known && old.Object == nil
	for _, c := range now.Components() {
		if p := c.Property("ORGANIZER"); p != nil {
			forced = forced || param(p, paramForce) == string(Reply)
			p.RemoveParam(paramForce)
		}
	}
	all := r.answered(old, now, is, forced)
	if len(all) == 0 {
		return nil
	}
	return []Message{r.reply(now, is, all)}
}

// answered are the components with another answer than before. Where it is that of the series, all are given, so
// that what is said of an instance stays said.
func (r Rules) answered(old, now *reading, is Self, forced bool) []*ical.Component {
	var all []*ical.Component
	everything := forced
	if c := now.master(); c != nil && now.attends(c, is) {
		was := NeedsAction
		if p := attendee(old.master(), is); p != nil {
			was = partstat(p)
		}
		everything = everything || partstat(attendee(c, is)) != was || further(old.master(), c)
		if everything {
			all = append(all, given(old.master(), c, is))
		}
	}
	left, were := now.excluded(), old.excluded()
	keys, ids := touched(old, now)
	for _, key := range keys {
		_, out := left[key]
		_, before := were[key]
		was, c := old.at(key, ids[key]), now.at(key, ids[key])
		out = out || now.master() == nil && c == nil // a guest without the series leaves an instance out by not having it
		switch {
		case out && !before && old.attends(was, is) && said(old, was, is) != Declined:
			all = append(all, old.saying(was, is, Declined))
		case c == nil || !now.attends(c, is):
		case everything && now.apart[key] != nil, (said(now, c, is) != said(old, was, is) || further(was, c)) && !out:
			all = append(all, given(was, c, is))
		}
	}
	return all
}

// further tells whether somebody has come further with a task than in what they had of it: without that, the percentage is
// the organizer's.
func further(was, c *ical.Component) bool { return was != nil && percent(c) != percent(was) }

// given is a component as it goes into an answer: how far the task is, only where that is the guest's own word.
func given(was, c *ical.Component, is Self) *ical.Component {
	c = c.Clone()
	if mine := attendee(c, is); mine != nil && (partstat(mine) == InProcess || partstat(mine) == Completed) || further(was, c) {
		return c
	}
	c.Remove("PERCENT-COMPLETE")
	return c
}

// said is somebody's answer to an instance; nothing where there was none.
func said(x *reading, c *ical.Component, is Self) string {
	if p := x.mine(c, is); p != nil {
		return partstat(p)
	}
	return NeedsAction
}

// mine is somebody's line in a component, or in the series where that speaks for it.
func (x *reading) mine(c *ical.Component, is Self) *ical.Property {
	if !x.inherits(c) {
		return attendee(c, is)
	}
	if !x.looked {
		x.looked, x.seriesLine = true, attendee(x.Master, is)
	}
	return x.seriesLine
}

// saying is a component with another answer of somebody's.
func (x *reading) saying(c *ical.Component, is Self, answer string) *ical.Component {
	inherits := x.inherits(c)
	c = c.Clone()
	if p := x.mine(c, is); inherits && p != nil {
		c.Add(p.Clone())
	}
	if p := attendee(c, is); p != nil {
		p.SetParam(paramPartstat, answer)
	}
	return c
}

// declineAll tells the organizer that somebody who threw the event away does not come.
func (r Rules) declineAll(old *reading, is Self) []Message {
	org := organizer(old.Object)
	if org == nil || !served(org) {
		return nil
	}
	var all []*ical.Component
	for _, c := range old.Components() {
		if old.attends(c, is) && partstat(attendee(c, is)) != Declined {
			all = append(all, old.saying(c, is, Declined))
		}
	}
	if len(all) == 0 {
		return nil
	}
	m := r.reply(old, is, all)
	m.Answered = Declined
	return []Message{m}
}

// answering are the properties of a component that an answer names: what it is about, as programs show it.
var answering = map[string]bool{
	"UID": true, "DTSTAMP": true, "SEQUENCE": true, "RECURRENCE-ID": true, "ORGANIZER": true, "ATTENDEE": true, "SUMMARY": true,
	"DTSTART": true, "DTEND": true, "DURATION": true, "DUE": true, "RRULE": true, "COMMENT": true, "LOCATION": true,
	"PERCENT-COMPLETE": true, "COMPLETED": true, // of a task (RFC 5546 §3.4.3)
}

// reply is an answer, of components that are given away.
func (r Rules) reply(x *reading, is Self, all []*ical.Component) Message {
	m := Message{Method: Reply, To: OrganizerOf(x.Object)}
	var from *ical.Property
	for _, c := range all {
		if c.Property("ATTENDEE") == nil && x.master() != nil {
			if p := attendee(x.Master, is); p != nil {
				c.Add(p.Clone())
			}
		}
		c.RemoveFunc(func(p *ical.Property) bool {
			if p.Name() == "ATTENDEE" && from == nil && is(addressOf(p)) {
				from = p
			}
			return !answering[p.Name()] || p.Name() == "ATTENDEE" && !is(addressOf(p)) && !delegatedBy(p, is)
		})
		m.Sequence = max(m.Sequence, sequence(c))
	}
	if from != nil {
		m.From, m.Answered = addressOf(from), partstat(from)
	}
	if len(all) == 1 {
		m.Recurrence = recurrence(all[0])
	}
	m.Document = r.compose(x, Reply, all)
	return m
}

// delegates are the lines that name somebody's delegates.
func delegates(all []*ical.Property, is Self) []*ical.Property {
	return slices.DeleteFunc(slices.Clone(all), func(p *ical.Property) bool { return is(addressOf(p)) || !delegatedBy(p, is) })
}

// delegatedBy tells whether a line names a delegate of somebody.
func delegatedBy(p *ical.Property, is Self) bool {
	from, there := p.Param(paramFrom)
	return there && is(AddressOf(from))
}
