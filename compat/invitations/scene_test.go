package invitations_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"
)

// scene is a few people and their meetings.
type scene struct {
	*server
	ann, bob, cid *person
	// eve and fay have no account here, and nor has oz, who organizes.
	eve, fay, oz string
	meetings     []*meeting
	// letters are mails that left the server and have not arrived, replies those of guests elsewhere, told those of oz.
	letters       []mail
	replies, told []*post
	mailed        map[string]int
	trace         []string
	found         []difference
}

// post is a mail under way.
type post struct {
	mail
	meeting *meeting
	guest   *guest
	// knew is what the guest was shown when they answered.
	knew view
	key  string
	part string
}

func newScene(s *server) *scene {
	s.sent() // what others left in the outbox
	c := &scene{server: s, ann: s.admit("ann"), bob: s.admit("bob"), cid: s.admit("cid"), mailed: map[string]int{}}
	c.eve, c.fay = fmt.Sprintf("eve%d@example.net", s.people), fmt.Sprintf("fay%d@example.net", s.people)
	c.oz = fmt.Sprintf("oz%d@example.com", s.people)
	return c
}

func (s *scene) note(format string, rest ...any) {
	s.trace = append(s.trace, fmt.Sprintf(format, rest...))
}

// others are all whom ann or oz may invite.
func (s *scene) others(m *meeting) []string {
	list := []string{s.bob.address(), s.cid.address(), s.eve, s.fay}
	if m != nil && m.elsewhere != nil {
		list[2], list[3] = s.ann.address(), s.eve
	}
	return list
}

// local is the user with an address.
func (s *scene) local(address string) *person {
	for _, p := range []*person{s.ann, s.bob, s.cid} {
		if p.address() == address {
			return p
		}
	}
	return nil
}

// write makes an event with guests, as a program does.
func (s *scene) write(r *rand.Rand, organizer string, guests []string) *document {
	zone := pick(r, []string{";TZID=Europe/Berlin", ";TZID=America/New_York", "Z", ";VALUE=DATE"})
	day := s.Now().AddDate(0, 0, 20+r.IntN(60))
	start := time.Date(day.Year(), day.Month(), min(day.Day(), 28), 9+r.IntN(4), 0, 0, 0, time.UTC)
	lasts := time.Hour
	if zone == ";VALUE=DATE" {
		start, lasts = start.Truncate(24*time.Hour), 24*time.Hour
	}
	line := func(name string, at time.Time) string {
		switch zone {
		case "Z":
			return name + ":" + at.Format(stampForm)
		case ";VALUE=DATE":
			return name + zone + ":" + at.Format(dayForm)
		}
		return name + zone + ":" + at.Format(wallForm)
	}
	e := &component{lines: []string{
		"UID:" + s.NewID(), "DTSTAMP:" + s.Now().Format(stampForm), "SUMMARY:First", line("DTSTART", start),
		line("DTEND", start.Add(lasts)), "SEQUENCE:0", "ORGANIZER:mailto:" + organizer,
	}}
	if lasts == time.Hour && r.IntN(4) == 0 {
		e.set("DURATION:PT1H")
		e.del("DTEND")
	}
	for _, who := range guests {
		e.lines = append(e.lines, invitation(who))
	}
	if r.IntN(6) > 0 {
		e.lines = append(e.lines, "RRULE:"+s.someRule(r, start).stated(zone == ";VALUE=DATE"))
	}
	return &document{head: []string{"VERSION:2.0", "PRODID:-//walk//EN"}, events: []*component{e}}
}

func (s *scene) someRule(r *rand.Rand, start time.Time) rule {
	made := rule{
		freq: pick(r, []string{"DAILY", "WEEKLY", "WEEKLY", "MONTHLY"}), interval: 1 + r.IntN(2), count: 3 + r.IntN(5),
		first: "MO",
	}
	if made.freq == "WEEKLY" && r.IntN(2) == 0 {
		made.days = []string{weekdays[start.Weekday()], weekdays[(int(start.Weekday())+1+r.IntN(6))%7]}
	}
	switch {
	case made.freq == "WEEKLY" && r.IntN(5) == 0:
		made.count = 0
	case r.IntN(3) == 0:
		made.count, made.until = 0, start.AddDate(0, 0, 25).Format(stampForm)
		if made.freq == "MONTHLY" {
			made.until = start.AddDate(0, 4, 0).Format(stampForm)
		}
	}
	return made
}

// meet notes a meeting, as its organizer has it.
func (s *scene) meet(text *document, from *organizer) *meeting {
	start, _ := text.events[0].first("DTSTART")
	m := &meeting{
		uid: text.uid(), until: start.moment().Add(horizon), guests: map[string]*guest{}, sequences: map[string]int{},
		elsewhere: from,
	}
	m.text, m.now = text, view{}
	s.meetings = append(s.meetings, m)
	s.invite(m, text)
	if from == nil {
		m.become(text)
		m.fresh = nil
		s.saw(m)
	}
	return m
}

// invite has the model know all whom a text names.
func (s *scene) invite(m *meeting, text *document) {
	for _, address := range (&editing{document: text}).guests() {
		if m.guests[address] != nil {
			continue
		}
		g := newGuest(address)
		g.person = s.local(address)
		if g.person == nil || m.elsewhere != nil {
			g.machine = newMachine(address, m.uid)
		}
		m.guests[address] = g
	}
}

// running are meetings that were not deleted: ours, or those that are organized elsewhere.
func (s *scene) running(elsewhere bool) []*meeting {
	return slices.DeleteFunc(slices.Clone(s.meetings), func(m *meeting) bool {
		return m.cancelled || (m.elsewhere != nil) != elsewhere
	})
}

func (s *scene) ours(r *rand.Rand) *meeting { return pick(r, s.running(false)) }

// invited is a user who sees dates of a meeting, with their copy.
func (s *scene) invited(r *rand.Rand) (*meeting, *guest, stored) {
	m := pick(r, append(s.running(false), s.running(true)...))
	if m == nil {
		return nil, nil, stored{}
	}
	g := m.guests[pick(r, m.people())]
	if g.person == nil || len(g.shown(m.known(g))) == 0 {
		return nil, nil, stored{}
	}
	own, there := g.person.event(m.uid)
	if !there {
		s.differs("copy", "%s has no copy", g.address)
		return nil, nil, stored{}
	}
	return m, g, own
}

// wants notes where what was to be taken is refused.
func (s *scene) wants(check string, ok bool, format string, rest ...any) bool {
	if !ok {
		s.differs(check, format, rest...)
	}
	return ok
}
