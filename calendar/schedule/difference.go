package schedule

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"

	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/ical"
)

// The cost of a comparison in steps: to find an instance, and to check a found one again.
const (
	findSteps = 40
	lookSteps = 1
)

// contrast is the difference between two versions of an instance, or of a series, as attendees see it.
type contrast struct {
	key     int64
	id      ical.Time
	a, b    *ical.Component
	retimed bool
	changed bool
	// out is set if the new series excludes the instance.
	out bool
}

// comparison compares two versions of an event. Each instance is compared once, however many attendees there are.
type comparison struct {
	Rules
	old, now *reading
	series   contrast
	each     []contrast
	// texts numbers the different sets of attendees and their answers.
	texts map[string]int
	known map[*ical.Component]int
}

func (r Rules) compare(old, now *reading, s asking) (*comparison, error) {
	c := &comparison{Rules: r, old: old, now: now, texts: map[string]int{}, known: map[*ical.Component]int{}}
	c.series = contrast{a: old.master(), b: now.master(), retimed: s.series}
	if c.series.a != nil && c.series.b != nil {
		c.series.changed = s.shift.series || old.wording(c.series.a) != now.wording(c.series.b)
	}
	keys, ids := touched(old, now)
	if err := r.Meter.Work(int64(findSteps * len(keys))); err != nil {
		return nil, err
	}
	left := now.excluded()
	for _, key := range keys {
		one := contrast{key: key, id: ids[key], a: old.at(key, ids[key]), b: now.at(key, ids[key])}
		_, one.out = left[key]
		one.look(old, now)
		c.each = append(c.each, one)
	}
	return c, nil
}

func (c *contrast) look(old, now *reading) {
	if c.a == nil || c.b == nil {
		return
	}
	c.retimed = old.timing(c.a) != now.timing(c.b)
	c.changed = c.retimed || old.essence(c.a) != now.essence(c.b)
}

// circle is a group of attendees of the same components, before and after. They get the same message, which is computed
// once.
type circle struct {
	one    Person
	forced bool
	people int
	all    []template
}

// template is a message to each member of a circle.
type template struct {
	Message
	// answered returns a member's earlier answer.
	answered func(Address, Person) string
}

// differences returns the messages to people, in their order.
func (r Rules) differences(old, now *reading, people []Address, s asking) ([]Message, error) {
	c, err := r.compare(old, now, s)
	if err != nil {
		return nil, err
	}
	was, is := old.parts(), now.parts()
	circles, in := map[string]*circle{}, make([]*circle, len(people))
	var order []*circle
	for i, to := range people {
		who := r.who(to)
		name := c.name(was[who], is[who], s.forced[who])
		if circles[name] == nil {
			circles[name] = &circle{one: who, forced: s.forced[who]}
			order = append(order, circles[name])
		}
		in[i] = circles[name]
		in[i].people++
	}
	for _, o := range order {
		if err := c.tell(o, was, is); err != nil {
			return nil, err
		}
	}
	var all []Message
	for i, to := range people {
		for _, t := range in[i].all {
			t.To, t.Answered = to, t.answered(to, r.who(to))
			all = append(all, t.Message)
		}
	}
	return all, nil
}

// Refreshed returns messages that tell attendees the answers of the others. People who take part in nothing get none.
func (r Rules) Refreshed(ctx context.Context, event *content.Object, people []Address) ([]Message, error) {
	x, err := r.read(ctx, event)
	if err != nil {
		return nil, err
	}
	names := comparison{known: map[*ical.Component]int{}}
	is, circles := x.parts(), map[string]*Message{}
	var all []Message
	for _, to := range people {
		who := r.who(to)
		name := names.name(nil, is[who], false)
		if circles[name] == nil {
			v := x.view(who)
			if v.empty() {
				continue
			}
			m, err := r.request(x, v, 1)
			if err != nil {
				return nil, err
			}
			m.Refresh = true
			circles[name] = &m
		}
		m := *circles[name]
		m.To, m.Answered = to, x.oneAnswer(is[who], who)
		all = append(all, m)
	}
	return all, nil
}

// Brought returns the invitations of people whom an answer added to an event: the delegates of attendees (RFC 5546
// §3.2.2.3).
func (r Rules) Brought(ctx context.Context, before, after *content.Object) ([]Message, error) {
	old, err := r.read(ctx, before)
	if err != nil {
		return nil, err
	}
	known := map[Person]bool{r.who(OrganizerOf(after)): true}
	for _, a := range Attendees(before) {
		known[r.who(a)] = true
	}
	people := slices.DeleteFunc(Attendees(after), func(a Address) bool { return known[r.who(a)] })
	if len(people) == 0 {
		return nil, nil
	}
	now, err := r.read(ctx, after)
	if err != nil {
		return nil, err
	}
	return r.differences(old, now, people, asking{})
}

// name returns the key of a circle.
func (c *comparison) name(was, is []*ical.Component, forced bool) string {
	var b strings.Builder
	for _, list := range [...][]*ical.Component{was, is} {
		for _, part := range list {
			b.WriteString(strconv.Itoa(c.number(part)) + " ")
		}
		b.WriteByte('|')
	}
	if forced {
		b.WriteByte('!')
	}
	return b.String()
}

// number returns a unique number for a component.
func (c *comparison) number(part *ical.Component) int {
	if _, known := c.known[part]; !known {
		c.known[part] = len(c.known)
	}
	return c.known[part]
}

// tell computes the messages to a circle.
func (c *comparison) tell(o *circle, was, is map[Person][]*ical.Component) error {
	before, after := c.old.view(o.one), c.now.view(o.one)
	looks := len(before.apart) + len(after.apart) + len(before.without) + len(after.without) + len(c.each)
	if err := c.Meter.Work(int64(lookSteps * looks)); err != nil {
		return err
	}
	answeredOf := func(x *reading, parts map[Person][]*ical.Component) func(Address, Person) string {
		return func(_ Address, who Person) string { return x.oneAnswer(parts[who], who) }
	}
	request := func(set func(*Message)) error {
		m, err := c.request(c.now, after, o.people)
		set(&m)
		o.all = append(o.all, template{m, answeredOf(c.now, is)})
		return err
	}
	cancel := func(seq int) error {
		m, err := c.cancel(c.old, before, seq, o.people)
		o.all = append(o.all, template{m, answeredOf(c.old, was)})
		return err
	}
	switch {
	case before.empty() && after.empty():
		return nil
	case before.empty():
		return request(func(m *Message) { m.First = !c.Known })
	case after.empty():
		return cancel(c.ends(before))
	}
	return c.update(o, before, after, request, cancel)
}

// ends returns the SEQUENCE of a message that removes an attendee. It is the SEQUENCE that the series gets with the
// removal, so that a later invitation is not older. The deletion of an event increments it by one.
func (c *comparison) ends(before view) int {
	if before.master != nil && c.now.master() != nil {
		return max(sequence(c.now.master()), sequence(c.old.master())+1)
	}
	return max(highest(c.now), before.sequence()+1)
}

// update computes the messages to a circle that took part before and still does.
func (c *comparison) update(
	o *circle, before, after view, request func(func(*Message)) error, cancel func(int) error,
) error {
	whole := before.master != nil && after.master == nil
	if whole {
		if err := cancel(c.ends(before)); err != nil {
			return err
		}
	}
	lost, changed, retimed := c.instances(o.one)
	switch {
	case o.forced || whole || changed:
		same := map[string]bool{}
		if !o.forced && !whole && after.master == nil {
			same = c.same(o.one)
		}
		if err := request(func(m *Message) { m.Retimed, m.Same = retimed && !c.Known, same }); err != nil || whole {
			return err
		}
	case !slices.Equal(c.guests(c.old, before), c.guests(c.now, after)):
		if err := request(func(m *Message) { m.Refresh = true }); err != nil {
			return err
		}
	}
	if len(lost) == 0 {
		return nil
	}
	m, err := c.cancelSome(c.old, lost, o.people)
	o.all = append(o.all, template{m, func(to Address, who Person) string { return c.answerTo(lost, to, who) }})
	return err
}

// answerTo returns a person's answer to some instances, or "" if they differ.
func (c *comparison) answerTo(some []contrast, to Address, who Person) string {
	said := partstat(c.old.roster(some[0].a).line(to, who))
	for _, one := range some[1:] {
		if partstat(c.old.roster(one.a).line(to, who)) != said {
			return ""
		}
	}
	return said
}

// instances compares a person's instances: the ones they lost, and whether they need another message.
func (c *comparison) instances(who Person) (lost []contrast, changed, retimed bool) {
	switch was, still := c.old.joins(c.series.a, who), c.now.joins(c.series.b, who); {
	case was != still:
		changed = still
	case was:
		changed, retimed = c.series.changed, c.series.retimed
	}
	for _, one := range c.each {
		had, has := c.old.joins(one.a, who), c.now.joins(one.b, who)
		switch {
		case had && !has:
			// If a new rule drops an instance, an attendee of the series needs no cancellation: the rule says it.
			if one.out || one.b != nil || !c.now.joins(c.series.b, who) || !c.series.changed {
				lost = append(lost, one)
			}
		case has && !had:
			// An instance that returns, or is new in a series that they have answered, needs an answer.
			changed, retimed = true, retimed || one.a == nil && c.old.joins(c.series.a, who)
		case has && one.changed:
			changed, retimed = true, retimed || one.retimed
		}
	}
	return lost, changed, retimed
}

// same returns the RECURRENCE-IDs of the instances that have not changed for a person.
func (c *comparison) same(who Person) map[string]bool {
	all := map[string]bool{}
	for _, one := range c.each {
		if c.old.joins(one.a, who) && c.now.joins(one.b, who) && !one.changed && sequence(one.a) == sequence(one.b) {
			all[recurrence(one.b)] = true
		}
	}
	return all
}

// guests returns a number for each part of a view that identifies its attendees and their answers.
func (c *comparison) guests(x *reading, v view) []int {
	var all []int
	if v.master != nil {
		all = append(all, c.guestsOf(x, v.master))
	}
	for _, key := range slices.Sorted(maps.Keys(v.apart)) {
		all = append(all, c.guestsOf(x, v.apart[key]))
	}
	return all
}

// guestsOf returns a number that identifies a component's instance, attendees and their answers.
func (c *comparison) guestsOf(x *reading, part *ical.Component) int {
	if n := x.guests[part]; n > 0 {
		return n
	}
	var list []string
	for _, p := range part.All("ATTENDEE") {
		list = append(list, string(addressOf(p))+"="+partstat(p))
	}
	slices.Sort(list)
	text := recurrence(part) + "\n" + strings.Join(list, " ")
	if c.texts[text] == 0 {
		c.texts[text] = len(c.texts) + 1
	}
	x.guests[part] = c.texts[text]
	return x.guests[part]
}
