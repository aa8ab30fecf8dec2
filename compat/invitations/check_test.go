package invitations_test

import (
	"fmt"
	"slices"
	"strings"
)

// difference is something that somebody knows otherwise than the model wants.
type difference struct {
	check string // what is compared, one of the reasons
	text  string
}

// reasons say of each comparison why it has to hold.
var reasons = map[string]string{
	"organizer's dates": "what the organizer wrote is theirs (RFC 6638 §3.2.1)",
	"organizer's guests": "who is invited to the whole series is invited to each of its dates, also to those " +
		"described apart",
	"organizer's answer": "an answer holds until its date moves, and is known to the organizer (RFC 6638 §3.2.8, " +
		"§3.2.5)",
	"sequence rises": "dates that are new, moved or back raise SEQUENCE (RFC 5546 §2.1.4)",
	"sequence falls": "SEQUENCE grows monotonically (RFC 5545 §3.8.7.4)",
	"copy": "an attendee is shown the dates to which they are invited, as the organizer has them (RFC " +
		"6638 §3.2.1, RFC 5546 §3.2.2)",
	"copy's answer": "an answer holds until its date moves (RFC 6638 §3.2.8), and one who deleted a date has " +
		"declined it (§3.2.2.3)",
	"answer to all":   "an answer to the series holds while none of its dates is new or moves (RFC 6638 §3.2.8)",
	"others' answers": "an attendee is shown what the organizer knows of the others (RFC 6638 §3.2.5)",
	"mail":            "after the mails an attendee elsewhere has the organizer's dates (RFC 5546 §3.2.2, §3.2.5)",
	"reply": "an answer is mailed to the organizer, for its date, with the SEQUENCE it answers (RFC " +
		"5546 §3.2.3)",
	"accepted": "the change is this person's to make (RFC 6638 §3.2.1, §3.2.2.1)",
	"refused":  "the change is the organizer's to make (RFC 6638 §3.2.2.1)",
	"attendee's text": "the organizer's properties in a copy are the organizer's (RFC 6638 §3.2.2.1, RFC 5545 " +
		"§3.8.7.4)",
	"one request": "the second half of a split is one invitation to each attendee",
}

func (s *scene) differs(check, format string, rest ...any) {
	if reasons[check] == "" {
		panic(check)
	}
	s.found = append(s.found, difference{check, fmt.Sprintf(format, rest...)})
}

// compare looks at everything that everybody has.
func (s *scene) compare() {
	for _, m := range s.meetings {
		if m.elsewhere == nil {
			s.compareOrganizer(m)
		}
		for _, address := range m.people() {
			if g := m.guests[address]; g.person != nil {
				s.compareCopy(m, g)
			}
		}
	}
}

// show is a date in words.
func (i instance) show() string {
	return fmt.Sprintf("%s–%s %q %q", keyOf(i.start), i.end.UTC().Format("1504"), i.title, i.place)
}

// same compares dates, and leaves the people aside.
func (s *scene) same(check, who string, want, got view) {
	var words []string
	for _, key := range want.keys() {
		switch i, there := got[key]; {
		case !there:
			words = append(words, "lacks "+key)
		case i.show() != want[key].show():
			words = append(words, key+" is "+i.show()+", want "+want[key].show())
		}
	}
	for _, key := range got.keys() {
		if _, wanted := want[key]; !wanted {
			words = append(words, "has "+key)
		}
	}
	if len(words) > 0 {
		s.differs(check, "%s %s", who, strings.Join(words, "; "))
	}
}

// shows reports whether two views show the same dates.
func (v view) shows(other view) bool {
	same := len(v.live()) == len(other.live())
	for key, i := range v.live() {
		same = same && i.show() == other.live()[key].show()
	}
	return same
}

// live leaves out the dates that are called off.
func (v view) live() view {
	live := view{}
	for key, i := range v {
		if !i.off {
			live[key] = i
		}
	}
	return live
}

func (s *scene) compareOrganizer(m *meeting) {
	own, there := s.ann.event(m.uid)
	if m.cancelled {
		if there {
			s.differs("organizer's dates", "the deleted event is there")
		}
		return
	}
	if !there {
		s.differs("organizer's dates", "the event is gone")
		return
	}
	got := own.see(m.until)
	s.same("organizer's dates", "the organizer", m.now.live(), got.live())
	for key, want := range m.now.live() {
		have := got[key]
		for _, address := range m.people() {
			g := m.guests[address]
			_, invited := want.who[address]
			part, known := have.who[address]
			switch {
			case invited != known:
				s.differs("organizer's guests", "%s on %s: invited %v, want %v", address, key, known, invited)
			case invited && part == g.eitherAnswer[key]:
				g.answers[key] = part
			case invited && part != g.answers[key]:
				s.differs("organizer's answer", "%s on %s: %s, want %s", address, key, part, g.answers[key])
			}
		}
	}
	s.compareSequences(m, got)
	for _, g := range m.guests {
		clear(g.eitherAnswer)
		if series := own.master(); g.person == nil && series != nil {
			s.adoptWhole(g, series)
		}
	}
	m.text = own.document
	m.now = got
}

// compareSequences wants higher ones for dates that the change made new or moved.
func (s *scene) compareSequences(m *meeting, got view) {
	for _, key := range m.fresh {
		before, known := m.sequences[key]
		if !known {
			before = m.sequences[""]
		}
		if i, there := got[key]; there && !i.off && i.sequence <= before {
			s.differs("sequence rises", "%s has %d, it had %d", key, i.sequence, before)
		}
	}
	m.fresh = nil
	for key, i := range got {
		m.sequences[key] = max(m.sequences[key], i.sequence)
	}
	if series := m.text.master(); series != nil {
		m.sequences[""] = max(m.sequences[""], series.sequence())
	}
}

// adoptWhole takes over what the answer to the series is where it may have been reset.
func (s *scene) adoptWhole(g *guest, series *component) {
	part, invited := series.invited()[g.address]
	switch {
	case !invited:
		g.whole = open
	case part == g.whole || g.eitherWhole && (part == open || series.value("RRULE") == ""):
		g.whole = part
	case g.eitherWhole && s.recoversWhole(g, part):
		g.whole = part
	default:
		s.differs("answer to all", "%s of %s, want %s", part, g.address, g.whole)
	}
	g.eitherWhole = false
}

// recoversWhole reports whether the answer to the series is one that some date has.
func (s *scene) recoversWhole(g *guest, part string) bool {
	for _, answer := range g.answers {
		if answer == part {
			return true
		}
	}
	return false
}

func (s *scene) compareCopy(m *meeting, g *guest) {
	own, there := g.person.event(m.uid)
	got, want := view{}, view{}
	if there {
		got = own.see(m.until).of(g.address)
	}
	if !m.cancelled {
		for key := range g.eitherHidden {
			if _, shown := got[key]; shown {
				g.hidden[key] = false
			} else if g.eitherHidden[key] {
				g.hidden[key] = true
			}
		}
		want = g.shown(m.known(g))
		// an undo did not bring the deleted copy back
		g.gone = g.gone || !there && len(g.eitherHidden) > 0 && len(want) == 0
	}
	clear(g.eitherHidden)
	s.same("copy", g.address, want, got)
	for key, i := range want {
		if have, shown := got[key]; shown {
			s.compareDay(m, g, key, i, have)
		}
	}
	s.compareSeries(m, g, own, there)
}

// known is what a guest has been told of the event: all of it on one server, and what messages said elsewhere.
func (m *meeting) known(g *guest) view {
	if m.elsewhere != nil {
		return g.machine.see(m.until)
	}
	return m.now
}

func (s *scene) compareDay(m *meeting, g *guest, key string, want, have instance) {
	if m.elsewhere != nil && have.who[g.address] == g.eitherAnswer[key] {
		g.answers[key] = g.eitherAnswer[key]
	}
	if part := have.who[g.address]; part != g.answers[key] {
		s.differs("copy's answer", "%s on %s: %s, want %s", g.address, key, part, g.answers[key])
	}
	if m.elsewhere != nil {
		return
	}
	for _, address := range m.people() {
		if address != g.address && want.who[address] != have.who[address] {
			s.differs("others' answers", "%s sees of %s on %s: %q, want %q", g.address, address, key, have.who[address],
				want.who[address])
		}
	}
}

func (s *scene) compareSeries(m *meeting, g *guest, own stored, there bool) {
	if !there || m.cancelled || g.gone {
		return
	}
	series := own.master()
	if series == nil {
		g.whole, g.eitherWhole = open, false
		return
	}
	s.adoptWhole(g, series)
	n := series.sequence()
	if n < g.sequence {
		s.differs("sequence falls", "%s has %d, and had %d", g.address, n, g.sequence)
	}
	g.sequence = n
}

// compareMail looks at what guests elsewhere have, when all mail has come.
func (s *scene) compareMail() {
	for _, m := range s.meetings {
		for _, address := range m.people() {
			g := m.guests[address]
			if g.person != nil || m.elsewhere != nil || g.machine == nil {
				continue
			}
			want := view{}
			if !m.cancelled {
				want = m.now.of(address)
			}
			s.same("mail", address, want, g.machine.see(m.until))
		}
	}
}

// posted takes mails of the server over to those whom they are for, and looks whether SEQUENCE falls.
func (s *scene) posted() {
	for _, letter := range s.sent() {
		s.note("  mail %s to %s: %s", letter.method(), letter.to, strings.Join(describe(letter.document), "; "))
		for _, e := range letter.events {
			at := letter.from + " to " + letter.to + " " + e.value("UID")
			if e.has("RECURRENCE-ID") {
				at += " " + e.key()
			}
			n := e.sequence()
			if n < s.mailed[at] {
				s.differs("sequence falls", "mail %s has %d, and had %d", at, n, s.mailed[at])
			}
			s.mailed[at] = n
		}
		s.letters = append(s.letters, letter)
		for _, m := range s.meetings {
			if m.elsewhere != nil && m.uid == letter.uid() && letter.method() == "REPLY" {
				m.heard(letter)
			}
		}
	}
}

// heard notes a reply that an organizer elsewhere gets.
func (m *meeting) heard(letter mail) {
	for _, e := range letter.events {
		key := ""
		if e.has("RECURRENCE-ID") {
			key = e.key()
		}
		if g := m.guests[letter.from]; g != nil {
			g.told[key] = e.invited()[letter.from]
		}
	}
	if m.elsewhere.learns {
		m.elsewhere.learn(letter.document, m.until)
	}
}

// describe is a message in a few words.
func describe(d *document) []string {
	var words []string
	for _, e := range d.events {
		text := "series"
		if e.has("RECURRENCE-ID") {
			text = e.key()
		}
		start, _ := e.first("DTSTART")
		who := e.invited()
		var parts []string
		for _, address := range sorted(who) {
			name, _, _ := strings.Cut(address, "@")
			parts = append(parts, name+" "+who[address])
		}
		text += fmt.Sprintf(" at %s SEQUENCE %s (%s)", start.value, e.value("SEQUENCE"), strings.Join(parts, ", "))
		words = append(words, text)
	}
	slices.Sort(words)
	return words
}

// short is an event in one line.
func short(d *document) string {
	e := d.events[0]
	var lines []string
	for _, line := range e.lines {
		switch split(line).name {
		case "DTSTART", "RRULE":
			lines = append(lines, line)
		}
	}
	return strings.Join(append(lines, sorted(e.invited())...), " ")
}
