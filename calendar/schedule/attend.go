package schedule

import (
	"context"
	"maps"
	"slices"

	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/ical"
)

// Guest holds the facts about the attendee who makes a change.
type Guest struct {
	Self
	// Away is set if the organizer is on another server, so that the attendee's client may be the first to receive and
	// store a newer version.
	Away bool
	// Exact is set if the change was made to the stored text, so that every difference is intended. Clients that
	// rewrite the text get the organizer's part put back instead.
	Exact bool
	// Told returns the organizer's latest version, or nil if it is unknown.
	Told func() *content.Object
}

// Attend returns the outcome of an attendee's change. before is nil if the event is new, next if it was deleted.
func (r Rules) Attend(ctx context.Context, before, next *content.Object, g Guest) (Outcome, error) {
	by := attendance{r, g}
	old, err := r.read(ctx, before)
	if err != nil {
		return Outcome{}, err
	}
	if next == nil {
		return Outcome{Messages: by.declineAll(old)}, nil
	}
	now, err := r.readCopy(ctx, next)
	if err != nil {
		return Outcome{}, err
	}
	now.lendOrganizer(old)
	if err := oneOrganizer(now.Object); err != nil {
		return Outcome{}, err
	}
	told, err := by.toldTo(ctx, old, now)
	if err != nil {
		return Outcome{}, err
	}
	news := g.Away && !g.Exact && (before == nil || r.isNews(ctx, old, now))
	if before != nil && served(organizer(now.Object)) && served(organizer(before)) && !news {
		if now, err = by.guestChange(ctx, old, now, told); err != nil {
			return Outcome{}, err
		}
	}
	answerTasks(old, now, g.Self)
	return Outcome{Object: now.Object, News: news, Messages: by.answers(old, now, told)}, nil
}

// attendance is a change by an attendee.
type attendance struct {
	Rules
	Guest
}

// toldTo reads the organizer's version if either text has exceptions: it shows which of them the organizer made.
func (r attendance) toldTo(ctx context.Context, old, now *reading) (*reading, error) {
	if r.Told == nil || len(old.excluded()) == 0 && len(now.excluded()) == 0 {
		return r.read(ctx, nil)
	}
	told, err := r.read(ctx, r.Told())
	if err != nil || told.Object == nil || r.Away {
		return told, err
	}
	for _, c := range told.Components() {
		undress(c, Request) // the organizer's private properties are not for attendees
	}
	return told, nil
}

// lendOrganizer puts back an ORGANIZER that the client dropped.
func (x *reading) lendOrganizer(old *reading) {
	org := organizer(old.Object)
	if org == nil || organizer(x.Object) != nil {
		return
	}
	for _, c := range x.Components() {
		if c == x.master() || x.master() == nil || c.Property("ATTENDEE") != nil {
			c.Add(org.Clone())
		}
	}
}

// isNews reports whether a text is a newer version by the organizer, which the attendee's client received by mail: it
// has a higher SEQUENCE, and the organizer's part differs. A client that only increments SEQUENCE changes nothing
// there.
func (r Rules) isNews(ctx context.Context, old, now *reading) bool {
	return highest(now) > highest(old) && (r.sameTimes(ctx, old, now, &reading{}, nil) != nil ||
		sameWords(old, now, nil) != nil)
}

// guestChange takes the organizer's part from the stored copy, and the attendee's own part from the new text. It
// refuses other instances and other times.
func (r attendance) guestChange(ctx context.Context, old, now, told *reading) (*reading, error) {
	if was, is := OrganizerOf(old.Object), OrganizerOf(now.Object); was != is {
		return nil, refuse(AttendeeMayChange, "the organizer of this event is %s, who can change that", was)
	}
	var err error
	if r.Exact {
		now, err = r.declineLost(ctx, old, now)
	} else {
		now, err = r.lendPeriods(ctx, old, now)
	}
	if err != nil {
		return nil, err
	}
	if now, err = r.takeBack(ctx, old, now, told); err != nil {
		return nil, err
	}
	if err := r.sameTimes(ctx, old, now, told, r.Self); err != nil {
		return nil, err
	}
	if r.Exact {
		if err := sameWords(old, now, r.Self); err != nil {
			return nil, err
		}
	}
	for _, c := range now.Components() {
		if err := mayAnswer(old, now, c, r.Self); err != nil {
			return nil, err
		}
	}
	if now, err = r.withoutExcluded(ctx, now); err != nil {
		return nil, err
	}
	changed := false
	for _, c := range now.Components() {
		from, was := old, old.counterpart(now, c)
		if was == nil {
			from, was = told, told.counterpart(now, c)
		}
		changed = now.restore(from, was, c, r.Self) || changed
	}
	if changed {
		lendZones(now.Calendar, old.Calendar)
	}
	if now, err = r.putBack(ctx, old, now); err != nil {
		return nil, err
	}
	old.followSeries(now, r.Self)
	return r.again(ctx, now)
}

// lostMost bounds the instances that an attendee declines by ending a series.
const lostMost = 366

// declineLost handles an edit that ends an attendee's copy of a series: it excludes the later instances instead. The
// series is the organizer's, and a missing instance is declined.
func (r attendance) declineLost(ctx context.Context, old, now *reading) (*reading, error) {
	if old.master() == nil || now.master() == nil || old.instances == nil {
		return now, nil
	}
	s, err := r.pattern(ctx, old, now)
	if err != nil || s.all || len(s.fresh) > 0 {
		return now, err
	}
	for key, id := range old.ids {
		if now.at(key, id) == nil && !now.singles(key) {
			s.lost = append(s.lost, key)
		}
	}
	if !s.gone && len(s.lost) == 0 {
		return now, nil
	}
	if len(s.lost) > lostMost {
		return nil,
			refuse(AttendeeMayChange,
				"%s organizes this series, which goes on for more than %d dates: decline all of it, or single dates",
				OrganizerOf(old.Object), lostMost)
	}
	master := now.master()
	for _, name := range [...]string{"RRULE", "RDATE", "EXRULE"} {
		master.Remove(name)
		master.Add(clones(old.master().All(name))...)
	}
	for _, key := range slices.Sorted(maps.Keys(old.excluded())) {
		if !now.singles(key) {
			master.Add(ical.NewTime("EXDATE", old.excluded()[key]))
		}
	}
	slices.Sort(s.lost)
	for _, key := range s.lost {
		master.Add(ical.NewTime("EXDATE", old.instances.ID(key)))
	}
	lendZones(now.Calendar, old.Calendar)
	return r.again(ctx, now)
}

// sameTimes refuses instances and times that the organizer's version does not have. An attendee may exclude instances
// and restore them.
func (r Rules) sameTimes(ctx context.Context, old, now, told *reading, is Self) error {
	org := OrganizerOf(old.Object)
	if (old.master() == nil) != (now.master() == nil) {
		return refuse(AttendeeMayChange, "you are invited to other instances of this series than these; ask %s", org)
	}
	s, err := r.pattern(ctx, old, now)
	if err != nil {
		return err
	}
	if s.series {
		return refuse(AttendeeMayChange,
			"%s organizes this event, and says when it is: you can accept or decline it, or propose another time", org)
	}
	left := now.excluded()
	keys, ids := touched(old, now)
	for _, key := range keys {
		if _, out := left[key]; out || now.apart[key] == nil && old.apart[key] != nil {
			continue // declined, or put back
		}
		a, b := old.at(key, ids[key]), now.at(key, ids[key])
		if a == nil && told.attends(told.at(key, ids[key]), is) {
			a = told.at(key, ids[key])
		}
		switch {
		case b == nil:
		case a == nil:
			return refuse(AttendeeMayChange, "%s organizes this event, and says which instances it has", org)
		case old.timing(a) != now.timing(b):
			return refuse(AttendeeMayChange,
				"%s organizes this event, and says when it is: you can accept or decline it, or propose another time",
				org)
		}
	}
	return nil
}

// guarded are the properties, apart from the times, that only the organizer may change (RFC 6638 §3.2.2.1).
var guarded = [...]string{"SUMMARY", "LOCATION", "DESCRIPTION", "STATUS", "GEO", "URL"}

// sameWords refuses changes of guarded properties and of attendees.
func sameWords(old, now *reading, is Self) error {
	for _, c := range now.Components() {
		was := old.counterpart(now, c)
		if was == nil {
			continue
		}
		for _, name := range guarded {
			if !ownStatus(name, was, c) && words(was, []string{name}) != words(c, []string{name}) {
				return refuse(AttendeeMayChange, "%s organizes this event, and its %s is not yours to change",
					OrganizerOf(old.Object), name)
			}
		}
		if is == nil || old.inherits(was) && now.inherits(c) {
			continue
		}
		if err := sameGuests(old, now, was, c, is); err != nil {
			return err
		}
	}
	return nil
}

// sameGuests refuses to add or remove attendees, except the attendee's own delegate.
func sameGuests(old, now *reading, was, c *ical.Component, is Self) error {
	had, has := old.roster(was), now.roster(c)
	for _, p := range now.attendeesIn(c) {
		if had.at[addressOf(p)] == nil && !delegatedBy(p, is) {
			return refuse(AttendeeMayChange, "%s organizes this event and invites to it; you can name a delegate",
				OrganizerOf(old.Object))
		}
	}
	for _, p := range old.attendeesIn(was) {
		if has.at[addressOf(p)] == nil {
			return refuse(AttendeeMayChange, "%s organizes this event, and says who takes part",
				OrganizerOf(old.Object))
		}
	}
	return nil
}

// ownStatus reports whether a property is the status of an open task, which each attendee sets for themselves.
func ownStatus(name string, was, c *ical.Component) bool {
	return name == "STATUS" && progress(was) && progress(c)
}

// mayAnswer refuses answers that iTIP does not define, and a second delegate.
func mayAnswer(old, now *reading, c *ical.Component, is Self) error {
	org, was := OrganizerOf(old.Object), old.counterpart(now, c)
	had, there := old.roster(was), now.attendeesIn(c)
	for _, p := range there {
		if said := param(p, paramPartstat); is(addressOf(p)) && said != "" && !answers[said] {
			return refuse(AttendeeMayChange, "%q is no answer to an invitation", said)
		}
		if had.at[addressOf(p)] != nil || !delegatedBy(p, is) || is(addressOf(p)) {
			continue
		}
		if len(delegates(there, is)) > 1 {
			return refuse(AttendeeMayChange, "%s organizes this event, and you can send one delegate in your place",
				org)
		}
		if delegations(was, is) == mostDelegates {
			return refuse(AttendeeMayChange, "%s organizes this event, and you cannot name another delegate: %v", org,
				ErrChain)
		}
	}
	return nil
}

// withoutExcluded drops overrides of instances that the same text excludes: they are declined.
func (r Rules) withoutExcluded(ctx context.Context, now *reading) (*reading, error) {
	dropped := false
	for key := range now.excluded() {
		if c := now.apart[key]; c != nil && now.master() != nil {
			now.Calendar.RemoveComponent(c)
			dropped = true
		}
	}
	if !dropped {
		return now, nil
	}
	return r.again(ctx, now)
}

// answerTasks takes an attendee's new STATUS of a task as their answer, if their client writes no PARTSTAT.
func answerTasks(old, now *reading, is Self) {
	for _, c := range now.Components() {
		status, mine, was := content.WordOf(c, "STATUS"), attendee(c, is), old.counterpart(now, c)
		if c.Name() != content.Todo || mine == nil || was == nil {
			continue
		}
		if status == "" && completed(c, was) {
			status = Completed
		}
		if status != Completed && status != InProcess || content.WordOf(was, "STATUS") == status {
			continue
		}
		if partstat(mine) == said(old, was, is) {
			setParam(mine, paramPartstat, status)
		}
	}
}

// completed reports whether the client set a new completion time on a task.
func completed(c, was *ical.Component) bool {
	p := c.Property("COMPLETED")
	return p != nil && p.Value() != content.TextOf(was, "COMPLETED")
}

// progress reports whether a component is a task that is not cancelled. Only the organizer may cancel it.
func progress(c *ical.Component) bool {
	return c.Name() == content.Todo && content.WordOf(c, "STATUS") != "CANCELLED"
}

// putBack restores the overrides that an attendee's client dropped: an attendee deletes an instance by excluding it.
func (r attendance) putBack(ctx context.Context, old, now *reading) (*reading, error) {
	added, out := false, now.excluded()
	for _, key := range slices.Sorted(maps.Keys(old.apart)) {
		if _, gone := out[key]; gone || now.apart[key] != nil || now.master() == nil {
			continue
		}
		now.Calendar.AddComponent(old.apart[key].Clone())
		added = true
	}
	if !added {
		return now, nil
	}
	lendZones(now.Calendar, old.Calendar)
	return r.again(ctx, now)
}

// takeBack applies the organizer's overrides to instances that an attendee had excluded and now restores: the series
// has another time or title. They get the attendee's answer to the series.
func (r attendance) takeBack(ctx context.Context, old, now, told *reading) (*reading, error) {
	added, out := false, now.excluded()
	for _, key := range slices.Sorted(maps.Keys(old.excluded())) {
		c := told.apart[key]
		_, still := out[key]
		if still || now.master() == nil || now.apart[key] != nil || !told.attends(c, r.Self) ||
			c.Property(propCancelled) != nil {
			continue
		}
		c = c.Clone()
		told.dress(c)
		transplant(c, now.master())
		if mine := attendee(c, r.Self); mine != nil {
			mine.SetParam(paramPartstat, said(now, now.master(), r.Self))
		}
		now.Calendar.AddComponent(c)
		added = true
	}
	if !added {
		return now, nil
	}
	lendZones(now.Calendar, told.Calendar)
	return r.again(ctx, now)
}

// answers returns the messages to the organizer about a change.
func (r attendance) answers(old, now, told *reading) []Message {
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
	all := answered(old, now, told, r.Self, forced)
	if len(all) == 0 {
		return nil
	}
	for _, c := range all {
		r.addComment(c)
	}
	return []Message{r.reply(now, r.Self, all)}
}

// answered returns the components with a changed answer. A new answer to the series repeats the answers to instances,
// also the declined (excluded) ones (RFC 6638 §3.2.2.3). Otherwise the organizer would apply the new answer to them.
func answered(old, now, told *reading, is Self, forced bool) []*ical.Component {
	var all []*ical.Component
	everything := forced
	if c := now.master(); c != nil && now.attends(c, is) {
		was := NeedsAction
		if p := attendee(old.master(), is); p != nil {
			was = partstat(p)
		}
		everything = everything || partstat(attendee(c, is)) != was || further(old.master(), c) ||
			commented(old.master(), c, was)
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
		out = out || now.master() == nil && c == nil // an attendee of single instances deletes one by dropping it
		answer := said(old, was, is)
		if before {
			answer = Declined
		}
		switch {
		case out && !before && old.attends(was, is) && answer != Declined:
			all = append(all, old.saying(was, is, Declined))
		case out && before && everything && told.attends(told.at(key, ids[key]), is):
			all = append(all, told.saying(told.at(key, ids[key]), is, Declined))
		case c == nil || !now.attends(c, is):
		case everything && now.apart[key] != nil,
			(said(now, c, is) != answer || further(was, c) || commented(was, c, answer)) && !out:
			all = append(all, given(was, c, is))
		}
	}
	return all
}

// further reports whether an attendee has progressed with a task. Without progress, the percentage is the organizer's.
func further(was, c *ical.Component) bool { return was != nil && percent(c) != percent(was) }

// commented reports whether an attendee who keeps an answer has another comment on it.
func commented(was, c *ical.Component, answer string) bool {
	return was != nil && answer != NeedsAction && comment(c) != comment(was)
}

// given returns a component as sent in an answer. It contains the progress of a task only if the attendee set it.
func given(was, c *ical.Component, is Self) *ical.Component {
	c = c.Clone()
	if mine := attendee(c, is); mine != nil && (partstat(mine) == InProcess || partstat(mine) == Completed) ||
		further(was, c) {
		return c
	}
	c.Remove("PERCENT-COMPLETE")
	return c
}

// said returns an attendee's answer to an instance, or NEEDS-ACTION if there is none.
func said(x *reading, c *ical.Component, is Self) string {
	if p := x.mine(c, is); p != nil {
		return partstat(p)
	}
	return NeedsAction
}

// mine returns an attendee's line in a component, or in the series if the component inherits its attendees.
func (x *reading) mine(c *ical.Component, is Self) *ical.Property {
	if !x.inherits(c) {
		return attendee(c, is)
	}
	if !x.looked {
		x.looked, x.seriesLine = true, attendee(x.Master, is)
	}
	return x.seriesLine
}

// saying returns a component with another answer of an attendee.
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

// declineAll returns the message to the organizer after an attendee deleted the event.
func (r attendance) declineAll(old *reading) []Message {
	org := organizer(old.Object)
	if org == nil || !served(org) {
		return nil
	}
	var all []*ical.Component
	for _, c := range old.Components() {
		if old.attends(c, r.Self) && partstat(attendee(c, r.Self)) != Declined {
			said := old.saying(c, r.Self, Declined)
			r.addComment(said)
			all = append(all, said)
		}
	}
	if len(all) == 0 {
		return nil
	}
	m := r.reply(old, r.Self, all)
	m.Answered = Declined
	return []Message{m}
}

// answering lists the properties that an answer contains: enough for clients to show its subject.
var answering = map[string]bool{
	"UID": true, "DTSTAMP": true, "SEQUENCE": true, "RECURRENCE-ID": true, "ORGANIZER": true, "ATTENDEE": true,
	"SUMMARY": true,
	"DTSTART": true, "DTEND": true, "DURATION": true, "DUE": true, "RRULE": true, "COMMENT": true, "LOCATION": true,
	"PERCENT-COMPLETE": true, "COMPLETED": true, // of a task (RFC 5546 §3.4.3)
}

// reply returns an answer. It takes ownership of the components.
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

// delegates returns the lines of an attendee's delegates.
func delegates(all []*ical.Property, is Self) []*ical.Property {
	return slices.DeleteFunc(slices.Clone(all), func(p *ical.Property) bool {
		return is(addressOf(p)) ||
			!delegatedBy(p, is)
	})
}

// delegatedBy reports whether a line belongs to a delegate of the attendee.
func delegatedBy(p *ical.Property, is Self) bool {
	from, there := p.Param(paramFrom)
	return there && is(AddressOf(from))
}
