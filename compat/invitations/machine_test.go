package invitations_test

import (
	"maps"
	"strings"
	"time"
)

// machine is the program of a guest who follows RFC 5546: it keeps what the organizer's messages said of the series
// (under "") and of single dates.
type machine struct {
	me    string
	uid   string
	parts map[string]said
}

// said is what one message said of the series or of one date.
type said struct {
	event    *component
	sequence int
	stamp    time.Time
	off      bool
}

func newMachine(me, uid string) *machine { return &machine{me: me, uid: uid, parts: map[string]said{}} }

func (m *machine) copy() *machine {
	c := *m
	c.parts = maps.Clone(m.parts)
	return &c
}

func saidBy(e *component) said {
	stamp, _ := e.first("DTSTAMP")
	return said{event: e, sequence: e.sequence(), stamp: stamp.moment(), off: e.value("STATUS") == "CANCELLED"}
}

// older reports whether something is older than what is known (RFC 5546 §2.1.5).
func (s said) older(known said) bool {
	return s.sequence < known.sequence || s.sequence == known.sequence && s.stamp.Before(known.stamp)
}

// take follows a message, and says what it did with it.
func (m *machine) take(d *document) (did string) {
	var words []string
	series := d.master()
	if series != nil {
		if !m.takeSeries(d.method(), saidBy(series)) {
			return "stale"
		}
		words = append(words, "the series")
	}
	for _, e := range d.events {
		if !e.has("RECURRENCE-ID") {
			continue
		}
		s := saidBy(e)
		s.off = s.off || d.method() == "CANCEL"
		if m.takeDay(e.key(), s, series != nil) {
			words = append(words, e.key())
		}
	}
	if len(words) == 0 {
		return "stale"
	}
	return "taken: " + strings.Join(words, ", ")
}

// takeSeries replaces the series. Dates that are described apart stay, unless they are of the series no longer, or the
// series has a higher SEQUENCE: then it was written by someone who knew of them, and left them out.
func (m *machine) takeSeries(method string, s said) bool {
	known, any := m.parts[""]
	if any && s.older(known) {
		return false
	}
	s.off = s.off || method == "CANCEL"
	m.parts[""] = s
	dates := map[string]bool{}
	start, _ := s.event.first("DTSTART")
	for _, at := range s.event.dates(start.moment().Add(horizon)) {
		dates[keyOf(at)] = true
	}
	for key, day := range m.parts {
		if key != "" && (day.sequence < s.sequence || s.off || !dates[key]) {
			delete(m.parts, key)
		}
	}
	return true
}

// takeDay follows what a message says of one date. Where it comes with the series, it is as new as that.
func (m *machine) takeDay(key string, s said, along bool) bool {
	known, any := m.parts[key]
	if !any && !along {
		known, any = m.parts[""]
	}
	if any && s.older(known) {
		return false
	}
	m.parts[key] = s
	return true
}

// see is what the program shows.
func (m *machine) see(until time.Time) view {
	d := &document{}
	for _, key := range sorted(m.parts) {
		if key != "" || !m.parts[key].off {
			d.events = append(d.events, m.parts[key].event)
		}
	}
	v := d.see(until)
	for key, s := range m.parts {
		if i := v[key]; key != "" && s.off {
			i.off = true
			v[key] = i
		}
	}
	if series, ok := m.parts[""]; ok {
		for key := range excluded(series.event) {
			if day, apart := m.parts[key]; !apart || day.older(series) {
				delete(v, key)
			}
		}
	}
	return v.of(m.me)
}

// sequence is that of what is known of a date.
func (m *machine) sequence(key string) int {
	if s, ok := m.parts[key]; ok {
		return s.sequence
	}
	return m.parts[""].sequence
}

// reply is an answer by this program, to a date or, with no key, to all.
func (m *machine) reply(key, part string, now time.Time) *document {
	of, ok := m.parts[key]
	if !ok {
		of = m.parts[""]
	}
	organizer, _ := of.event.first("ORGANIZER")
	start, _ := of.event.first("DTSTART")
	e := &component{lines: []string{
		"UID:" + m.uid, "DTSTAMP:" + now.UTC().Format(stampForm), "ORGANIZER:" + organizer.value,
		"SEQUENCE:" + numbered(m.sequence(key)), "ATTENDEE;PARTSTAT=" + part + ":mailto:" + m.me,
	}}
	if key != "" {
		at, _ := time.Parse(stampForm, key)
		e.lines = append(e.lines, start.named("RECURRENCE-ID").at(at).String())
		start = start.at(m.see(at.Add(horizon))[key].start)
	}
	e.lines = append(e.lines, start.String())
	return &document{head: []string{"VERSION:2.0", "PRODID:-//elsewhere//EN", "METHOD:REPLY"}, events: []*component{e}}
}
