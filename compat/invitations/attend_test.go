package invitations_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"
)

// The steps of guests who are users of the server.

func inWords(a args) string {
	var words []string
	for _, name := range sorted(a) {
		if name != "calendar_id" && name != "event_uid" {
			words = append(words, fmt.Sprintf("%s=%v", name, a[name]))
		}
	}
	return strings.Join(words, " ")
}

func somePart(r *rand.Rand) string { return pick(r, []string{accepted, declined, maybe, accepted}) }

// copyOf is a guest's copy, to be edited.
func copyOf(r *rand.Rand, m *meeting, own stored) *editing {
	return &editing{Rand: r, document: own.clone(), until: m.until}
}

// recurs reports whether a copy has the series, and not only dates of it.
func recurs(own stored) bool { return own.master() != nil && own.master().has("RRULE") }

func (s *scene) answerDay(r *rand.Rand) string {
	m, g, own := s.invited(r)
	if m == nil {
		return ""
	}
	key, part := pick(r, g.shown(m.known(g)).keys()), somePart(r)
	if r.IntN(2) == 0 {
		return s.respond(m, g, key, part)
	}
	e := copyOf(r, m, own)
	o := e.override(key)
	if o == nil {
		o = e.day(key)
	}
	if o == nil {
		return ""
	}
	o.answer(g.address, part)
	if s.putByGuest(m, g, own, e.document) {
		s.answered(m, g, own, key, part)
	}
	return fmt.Sprintf("%s by CalDAV answers %s on %s", g.address, part, key)
}

// answered notes the answer to one date, which is that to all of a single event.
func (s *scene) answered(m *meeting, g *guest, own stored, key, part string) {
	again := g.answers[key] == part
	g.answers[key] = part
	if own.master() != nil && !recurs(own) {
		g.whole, key = part, ""
	}
	s.expectReply(m, g, key, part, again)
}

var verbs = map[string]string{accepted: "accept", declined: "decline", maybe: "tentative"}

// respond answers by MCP, one date or, with no key, all.
func (s *scene) respond(m *meeting, g *guest, key, part string) string {
	own, _ := g.person.event(m.uid)
	a := args{"calendar_id": g.person.calendar, "event_uid": m.uid, "answer": verbs[part]}
	if recurs(own) || own.master() == nil {
		a["scope"] = "all"
		if key != "" {
			a["scope"], a["recurrence_id"] = "this", m.id(key)
		}
	}
	refused := g.person.use("respond_to_event", a, nil)
	if s.wants("accepted", refused == "", "respond_to_event %v: %s", a, refused) {
		if key != "" {
			s.answered(m, g, own, key, part)
		} else {
			again := g.whole == part
			g.answerAll(part)
			s.expectReply(m, g, "", part, again)
		}
	}
	return g.address + " by MCP respond_to_event " + inWords(a)
}

func (s *scene) answerAll(r *rand.Rand) string {
	m, g, own := s.invited(r)
	if m == nil || !recurs(own) {
		return ""
	}
	part, way := somePart(r), r.IntN(3)
	if way == 0 {
		return s.respond(m, g, "", part)
	}
	e := copyOf(r, m, own)
	e.master().answer(g.address, part)
	if way == 2 {
		for _, c := range e.events {
			c.answer(g.address, part)
		}
	}
	if !s.putByGuest(m, g, own, e.document) {
		return "PUT"
	}
	again := g.whole == part
	if way == 1 {
		g.answerAll(part)
	} else {
		g.answerEach(part)
	}
	s.expectReply(m, g, "", part, again)
	return fmt.Sprintf("%s by CalDAV answers %s to all (%s)", g.address, part,
		[]string{"", "the master alone", "each component"}[way])
}

func (s *scene) putByGuest(_ *meeting, g *guest, own stored, d *document) bool {
	w := g.person.put(own.path, d)
	return s.wants("accepted", w.Code < 300, "PUT by %s: %d %s\n%s", g.address, w.Code, w.Body, d)
}

// expectReply wants a reply by mail where the organizer is elsewhere. The same answer again needs none.
func (s *scene) expectReply(m *meeting, g *guest, key, part string, again bool) {
	if m.elsewhere == nil {
		return
	}
	before := len(s.letters)
	s.posted()
	for _, p := range s.letters[before:] {
		e := p.events[0]
		about := ""
		if e.has("RECURRENCE-ID") {
			about = e.key()
		}
		if p.method() == "REPLY" && p.to == s.oz && e.value("UID") == m.uid && about == key &&
			e.invited()[g.address] == part {
			n, want := e.sequence(), g.machine.sequence(key)
			s.wants("reply", n == want, "%s answers SEQUENCE %d on %q, want %d", g.address, n, key, want)
			return
		}
	}
	s.wants("reply", again, "%s mailed none with %s for %q", g.address, part, key)
}

// expectDeclines wants an organizer elsewhere to know all dates that a guest took out.
func (s *scene) expectDeclines(m *meeting, g *guest) {
	if m.elsewhere == nil {
		return
	}
	s.posted()
	for key, out := range g.hidden {
		if out && g.told[key] != declined && g.whole != declined {
			s.differs("reply", "%s mailed no decline of %s", g.address, key)
		}
	}
}

// takeOutDay is a guest's deletion of one date.
func (s *scene) takeOutDay(r *rand.Rand) string {
	m, g, own := s.invited(r)
	if m == nil || !recurs(own) || len(g.shown(m.known(g))) < 2 {
		return ""
	}
	key := pick(r, g.shown(m.known(g)).keys())
	var ok bool
	did := g.address + " by CalDAV takes out " + key
	if r.IntN(2) == 0 {
		a := args{"calendar_id": g.person.calendar, "event_uid": m.uid, "scope": "this", "recurrence_id": m.id(key)}
		refused := g.person.use("delete_event", a, nil)
		ok = s.wants("accepted", refused == "", "delete_event %v: %s", a, refused)
		did = g.address + " by MCP delete_event " + inWords(a)
	} else {
		e := copyOf(r, m, own)
		e.exclude(key)
		ok = s.putByGuest(m, g, own, e.document)
	}
	if ok {
		again := g.answers[key] == declined
		g.answers[key], g.hidden[key] = declined, true
		s.expectReply(m, g, key, declined, again)
	}
	return did
}

// takeOutRest is a guest's deletion of a date and all behind it. Of a series without end these are too many to decline
// one by one.
func (s *scene) takeOutRest(r *rand.Rand) string {
	m, g, own := s.invited(r)
	if m == nil || !recurs(own) || len(g.shown(m.known(g))) < 2 {
		return ""
	}
	shown := g.shown(m.known(g)).keys()
	key := pick(r, shown[1:])
	a := args{"calendar_id": g.person.calendar, "event_uid": m.uid, "scope": "following", "recurrence_id": m.id(key)}
	refused := g.person.use("delete_event", a, nil)
	if readRule(own.master().value("RRULE")).endless() {
		s.wants("refused", strings.Contains(refused, "goes on for more than"), "delete_event %v: %q", a, refused)
	} else if s.wants("accepted", refused == "", "delete_event %v: %s", a, refused) {
		for _, later := range shown {
			if later >= key {
				g.answers[later], g.hidden[later] = declined, true
			}
		}
		s.expectDeclines(m, g)
	}
	return g.address + " by MCP delete_event " + inWords(a)
}

func (s *scene) leave(r *rand.Rand) string {
	m, g, own := s.invited(r)
	if m == nil || r.IntN(2) > 0 {
		return ""
	}
	w := g.person.ask(http.MethodDelete, own.path, "")
	if s.wants("accepted", w.Code < 300, "DELETE by %s: %d %s", g.address, w.Code, w.Body) {
		g.leave()
	}
	return g.address + " by CalDAV deletes the event"
}

// rewrite stores a copy in a program's own words. Nothing changes by it.
func (s *scene) rewrite(r *rand.Rand) string {
	m, g, own := s.invited(r)
	if m == nil {
		return ""
	}
	e := copyOf(r, m, own)
	did := "rewrites"
	for _, c := range e.events {
		switch r.IntN(5) {
		case 0:
			did += ", drops ORGANIZER"
			c.del("ORGANIZER")
		case 1:
			did += ", counts SEQUENCE"
			c.set("SEQUENCE:" + numbered(c.sequence()+3))
		case 2:
			if c.has("LOCATION") {
				did += ", adds a blank to LOCATION"
				c.set("LOCATION:" + c.value("LOCATION") + " ")
			}
		case 3:
			did += ", sets an alarm"
			c.nested = append(c.nested, "BEGIN:VALARM", "ACTION:DISPLAY", "DESCRIPTION:x", "TRIGGER:-PT5M",
				"END:VALARM")
		}
		if c.has("RRULE") && r.IntN(2) == 0 {
			c.set("RRULE:" + rewordedRule(r, c.value("RRULE")))
			did += ", says " + c.value("RRULE")
		}
	}
	if s.putByGuest(m, g, own, e.document) {
		s.unchanged(m, g, own)
	}
	return g.address + " by CalDAV " + did
}

// unchanged wants the organizer's words in a copy as they were.
func (s *scene) unchanged(m *meeting, g *guest, own stored) {
	now, there := g.person.event(m.uid)
	if !there {
		s.differs("copy", "%s has no copy", g.address)
		return
	}
	for i, c := range own.events {
		if i >= len(now.events) {
			s.differs("attendee's text", "%s has %d components, had %d", g.address, len(now.events), len(own.events))
			return
		}
		for _, name := range []string{"RRULE", "SEQUENCE", "ORGANIZER", "SUMMARY", "DTSTART"} {
			if was, is := c.value(name), now.events[i].value(name); was != is {
				s.differs("attendee's text", "%s has %s:%s, was %s", g.address, name, is, was)
			}
		}
	}
}

// overstep is a change that is not the guest's to make.
func (s *scene) overstep(r *rand.Rand) string {
	m, g, own := s.invited(r)
	if m == nil {
		return ""
	}
	e := copyOf(r, m, own)
	var did string
	switch r.IntN(3) {
	case 0:
		for _, c := range e.events {
			by := time.Hour
			if c.byDate() {
				by = 24 * time.Hour
			}
			moved(c, by)
		}
		did = "moves it"
	case 1:
		did = e.shiftDay()
	case 2:
		did = e.lengthen()
	}
	if did == "" {
		return ""
	}
	w := g.person.put(own.path, e.document)
	s.wants("refused", w.Code == http.StatusForbidden, "PUT by %s: %d, want 403", g.address, w.Code)
	return g.address + " by CalDAV " + did + ", which is refused"
}
