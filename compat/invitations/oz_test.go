package invitations_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// organizer is the program of somebody elsewhere who invites users of the server.
type organizer struct {
	address string
	text    *document
	// apart is set where each component counts SEQUENCE by itself; else all have the same.
	apart bool
	// learns is set where the program notes the replies, and sends them along.
	learns bool
	// used is the highest SEQUENCE that was sent.
	used int
}

func (o *organizer) next() int { o.used++; return o.used }

func (s *scene) ozCreates(r *rand.Rand) string {
	if len(s.running(true)) > 0 {
		return ""
	}
	d := s.write(r, s.oz, s.some(r, []string{s.bob.address(), s.cid.address(), s.ann.address(), s.eve}))
	o := &organizer{address: s.oz, text: d, apart: r.IntN(2) == 0, learns: r.IntN(2) == 0}
	m := s.meet(d, o)
	s.tell(m, "REQUEST", d, m.people())
	return "oz creates: " + short(d)
}

// learn notes a reply.
func (o *organizer) learn(d *document, until time.Time) {
	e := &editing{document: o.text, until: until}
	for _, answer := range d.events {
		c := o.text.master()
		if answer.has("RECURRENCE-ID") {
			if _, there := o.text.see(until)[answer.key()]; !there {
				continue
			}
			c = e.day(answer.key())
		}
		for who, part := range answer.invited() {
			if c != nil {
				c.answer(who, part)
			}
		}
	}
}

// tell puts a message to guests under way.
func (s *scene) tell(m *meeting, method string, d *document, to []string) {
	d = d.clone()
	d.head = append(d.head, "METHOD:"+method)
	for _, e := range d.events {
		e.set("DTSTAMP:" + s.Now().Format(stampForm))
	}
	for _, address := range to {
		g := m.guests[address]
		if g.person != nil {
			s.told = append(s.told, &post{mail: mail{m.elsewhere.address, address, d}, meeting: m, guest: g})
		}
	}
}

// highest is the largest SEQUENCE of a text.
func highest(d *document) (n int) {
	for _, e := range d.events {
		n = max(n, e.sequence())
	}
	return n
}

// words are the lines of a component that a message is about.
func words(c *component) string {
	if c == nil {
		return ""
	}
	c = c.clone()
	c.del("SEQUENCE")
	c.del("DTSTAMP")
	return strings.Join(slices.Sorted(slices.Values(c.lines)), "\n")
}

// ozEdits changes the meeting, and tells its guests in one of the ways in which programs do.
func (s *scene) ozEdits(r *rand.Rand) string {
	m := pick(r, s.running(true))
	if m == nil {
		return ""
	}
	o := m.elsewhere
	e := &editing{Rand: r, document: o.text.clone(), until: m.until, others: s.others(m)}
	kind := pick(r, sorted(edits))
	did := edits[kind](e)
	if did == "" || len(e.guests()) == 0 {
		return ""
	}
	was, now := o.text.see(m.until).live(), e.see(m.until).live()
	lost := o.count(e.document, was, now)
	s.invite(m, e.document)
	how := s.ozTells(r, m, e.document, was, now, lost)
	o.text = e.document
	return fmt.Sprintf("oz %s, and sends %s", did, how)
}

// count raises SEQUENCE where dates are new, moved or taken out (RFC 5546 §2.1.4), and where a description is dropped.
func (o *organizer) count(d *document, was, now view) (lost []string) {
	moved := false
	for _, key := range was.keys() {
		if _, there := now[key]; !there {
			lost = append(lost, key)
		}
	}
	for key, i := range now {
		before, known := was[key]
		moved = moved || !known || !before.sameTime(i)
	}
	for _, c := range o.text.events {
		moved = moved || c.has("RECURRENCE-ID") && d.override(c.key()) == nil
	}
	people, before := (&editing{document: d}).guests(), (&editing{document: o.text}).guests()
	if !moved && len(lost) == 0 && slices.Equal(people, before) {
		return lost
	}
	next := o.next()
	for _, c := range d.events {
		same := words(c) == words(o.text.master())
		if c.has("RECURRENCE-ID") {
			same = words(c) == words(o.text.override(c.key()))
		}
		if !o.apart || !same || !slices.Equal(people, before) {
			c.set("SEQUENCE:" + numbered(next))
		}
	}
	return lost
}

func (s *scene) ozTells(r *rand.Rand, m *meeting, d *document, was, now view, lost []string) string {
	o := m.elsewhere
	var changed []*component
	for _, c := range d.events {
		if c.has("RECURRENCE-ID") && words(c) != words(o.text.override(c.key())) {
			changed = append(changed, c)
		}
	}
	series := words(d.master()) == words(o.text.master())
	how := "all of it"
	for _, address := range m.people() {
		before, after := was.of(address), now.of(address)
		whole := d.master() != nil && d.master().invited()[address] != ""
		switch {
		case len(after) == 0 && len(before) > 0:
			s.tell(m, "CANCEL", o.callOff(d, ""), []string{address})
		case len(after) == 0:
		case !whole:
			s.tell(m, "REQUEST", d.only(func(c *component) bool { return c.invited()[address] != "" }), []string{
				address,
			})
		case series && len(changed) == 1 && r.IntN(3) > 0:
			how = "that date alone"
			if changed[0].invited()[address] == "" {
				s.tell(m, "CANCEL", o.callOff(d, changed[0].key()), []string{address})
				continue
			}
			s.tell(m, "REQUEST", &document{head: d.head, events: changed}, []string{address})
		case len(lost) == 1 && excluded(d.master())[lost[0]] && r.IntN(2) == 0:
			how = "a CANCEL of the date"
			s.tell(m, "CANCEL", o.callOff(d, lost[0]), []string{address})
		case highest(d) == highest(o.text) && r.IntN(2) == 0:
			how = "the series alone"
			s.tell(m, "REQUEST", d.only(func(c *component) bool { return !c.has("RECURRENCE-ID") }), []string{address})
		default:
			s.tell(m, "REQUEST", d, []string{address})
		}
	}
	return how
}

func (d *document) only(which func(*component) bool) *document {
	some := d.clone()
	some.events = slices.DeleteFunc(some.events, func(c *component) bool { return !which(c) })
	return some
}

// callOff is the end of all of an event, or of one date.
func (o *organizer) callOff(d *document, key string) *document {
	e := &editing{document: o.text.clone()}
	c := e.events[0].clone()
	if key != "" {
		c = e.day(key).clone()
	}
	c.set("SEQUENCE:" + numbered(o.next()))
	c.set("STATUS:CANCELLED")
	if key == "" {
		c.del("EXDATE")
	}
	return &document{head: d.head, zones: d.zones, events: []*component{c}}
}

func (s *scene) ozCancels(r *rand.Rand) string {
	m := pick(r, s.running(true))
	if m == nil || r.IntN(3) > 0 {
		return ""
	}
	s.tell(m, "CANCEL", m.elsewhere.callOff(m.elsewhere.text, ""), m.people())
	// What is still under way arrives before the meeting is left alone.
	for len(s.told) > 0 {
		s.takeIn(s.told[0])
		s.told = s.told[1:]
	}
	s.compare()
	m.cancelled = true
	return "oz calls it off"
}

// ozArrives hands in one of oz's messages, not always in their order, and sometimes twice.
func (s *scene) ozArrives(r *rand.Rand) string {
	if len(s.told) == 0 {
		return ""
	}
	i := 0
	if r.IntN(4) == 0 {
		i = r.IntN(len(s.told))
	}
	p := s.told[i]
	if r.IntN(5) > 0 {
		s.told = slices.Delete(s.told, i, i+1)
	}
	return s.takeIn(p)
}

func (s *scene) takeIn(p *post) string {
	m, g := p.meeting, p.guest
	err := s.receive(p.mail)
	if p.method() == "CANCEL" && len(g.machine.parts) == 0 {
		// it cancels an existing request (RFC 5546 §3.2.5): there is none
		return "CANCEL of oz overtakes the REQUEST to " + g.address
	}
	before := g.machine.see(m.until)
	did := g.machine.take(p.document)
	asks := g.change(before, g.machine.see(m.until))
	return fmt.Sprintf("%s of oz arrives at %s: %s; %s; asks for %v; the server: %v",
		p.method(), g.address, strings.Join(describe(p.document), "; "), did, asks, err)
}
