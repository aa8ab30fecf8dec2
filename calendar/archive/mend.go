package archive

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"caldav-mcp-server/ical"
)

// Mend reports a line of a file that was read differently than written. Some programs have written such lines for
// years, and their meaning is clear. A file is corrected because its author cannot be asked to write it again. A
// CalDAV client that sends such an object gets an error instead.
type Mend struct {
	// Line is the line in the file.
	Line int
	// How says how the line was read.
	How string
}

// edit replaces some lines of a piece. Line 0 is its first.
type edit struct {
	line, lines int
	text        string
}

// change adds an edit and its reason. A line is changed only once.
func (p *piece) change(e edit, how string) {
	at, taken := slices.BinarySearchFunc(p.edits, e.line, func(e edit, line int) int {
		return cmp.Compare(e.line, line)
	})
	if taken && e.lines > 0 && p.edits[at].lines > 0 {
		return
	}
	p.edits = slices.Insert(p.edits, at, e)
	if how != "" {
		p.mends = append(p.mends, Mend{p.line + e.line, how})
	}
}

// replace replaces a property's lines with a text.
func (p *piece) replace(property *ical.Property, text, how string) {
	if p.rows == nil {
		p.rows = bytes.SplitAfter(p.text, []byte("\n"))
	}
	first := property.Line() - 1
	end := first + 1
	for end < len(p.rows) && len(p.rows[end]) > 0 && (p.rows[end][0] == ' ' || p.rows[end][0] == '\t') {
		end++
	}
	p.change(edit{first, end - first, text}, how)
}

// menders correct single properties. Each returns the corrected property, or an empty text to remove it; how is ""
// if the property is correct.
var menders = []struct {
	names []string
	mend  func(c *ical.Component, p *ical.Property) (text, how string)
}{
	{[]string{"RRULE", "EXRULE", "RDATE", "EXDATE", "UID"}, mendEmpty},
	{[]string{"DURATION"}, mendNoDuration},
	{[]string{"RRULE"}, mendRule},
}

// mend corrects a component's faults that need no context.
func (p *piece) mend(c *ical.Component) {
	for _, m := range menders {
		for _, name := range m.names {
			for _, property := range c.All(name) {
				if instead, how := m.mend(c, property); how != "" {
					p.replace(property, instead, how)
				}
			}
		}
	}
}

func mendEmpty(_ *ical.Component, p *ical.Property) (instead, how string) {
	if strings.TrimSpace(p.Value()) != "" {
		return "", ""
	}
	return "", p.Name() + " has no value, and was left out"
}

// mendNoDuration removes the DURATION:PT0S that libical writes next to the end of events that it could not parse.
func mendNoDuration(c *ical.Component, p *ical.Property) (instead, how string) {
	d, err := p.Duration()
	if err != nil || d.NominalDays() != 0 || d.ExactSeconds() != 0 {
		return "", ""
	}
	for _, end := range [...]string{"DTEND", "DUE"} {
		if c.Property(end) != nil {
			return "", fmt.Sprintf("%s stands beside %s, and was left out", excerpt(p), end)
		}
	}
	return "", ""
}

// mendRule corrects COUNT=-1, which some programs write for "no end", and UNTL.
func mendRule(_ *ical.Component, p *ical.Property) (instead, how string) {
	if _, err := p.Recur(); err == nil {
		return "", ""
	}
	var parts []string
	for part := range strings.SplitSeq(p.Value(), ";") {
		name, value, _ := strings.Cut(part, "=")
		name, value = strings.ToUpper(strings.TrimSpace(name)), strings.TrimSpace(value)
		switch {
		case name == "COUNT" && strings.HasPrefix(value, "-"), name == "UNTL" && value == "":
		case name == "UNTL":
			parts = append(parts, "UNTIL="+value)
		case name == "UNTIL":
			parts = append(parts, "UNTIL="+untilOf(value))
		default:
			parts = append(parts, part)
		}
	}
	next := p.Clone()
	next.SetValue(strings.Join(parts, ";"))
	if _, err := next.Recur(); err != nil {
		return "", ""
	}
	return text(next), fmt.Sprintf("%s was read as %s", excerpt(p), excerpt(next))
}

// untilOf returns an UNTIL in the format of RFC 5545.
func untilOf(value string) string {
	if t, clear := looseTime(value); clear && t.offset == 0 {
		return t.String()
	}
	return value
}

// excerpt returns a property for a report, cut if long.
func excerpt(p *ical.Property) string { return fmt.Sprintf("%.200s", p) }

// Zone is a substitute for an unknown zone, and its origin in words.
type Zone struct{ Name, Of string }

// mendZones replaces zones that are defined nowhere. The substitute is the zone of the whole file, or else the
// fallback for the object's kind.
func (s *splitter) mendZones(g *group) {
	for i := range g.pieces {
		p := &g.pieces[i]
		if !slices.ContainsFunc(p.tzids, s.unknown) {
			continue
		}
		instead := s.instead(g.kind, p)
		c, err := p.parse()
		if instead.Name == "" || err != nil {
			continue
		}
		s.rezone(p, c, instead)
		p.tzids = append(p.tzids, instead.Name)
	}
}

// unknown reports whether neither the file nor the zone database defines the zone.
func (s *splitter) unknown(id string) bool {
	if _, defined := s.zones[id]; defined {
		return false
	}
	_, err := s.names.Lookup(id)
	return err != nil
}

func (s *splitter) instead(kind string, p *piece) Zone {
	if _, own, ok := strings.Cut(string(p.in.zone), ":"); ok {
		own = strings.TrimSpace(strings.NewReplacer("\r\n ", "", "\r\n\t", "").Replace(own))
		if own != "" && !s.unknown(own) {
			return Zone{own, "the X-WR-TIMEZONE of the file"}
		}
	}
	if s.fallback == nil {
		return Zone{}
	}
	return s.fallback(kind)
}

func (s *splitter) rezone(p *piece, c *ical.Component, instead Zone) {
	for property := range c.Properties() {
		id, given := property.Param("TZID")
		if !given || strings.HasPrefix(property.Name(), "X-") || !s.unknown(id) {
			continue
		}
		next := property.Clone()
		next.SetParam("TZID", instead.Name)
		p.replace(property, text(next),
			fmt.Sprintf("%s: the zone %.100q is not defined: it was read as %s, %s", property.Name(), id, instead.Name,
				instead.Of))
	}
	for sub := range c.Components() {
		s.rezone(p, sub, instead)
	}
}

// version identifies a component within a series, and its revision (RFC 5546 §2.1.5).
type version struct {
	// of is the RECURRENCE-ID; zero for the master.
	of       ical.Time
	sequence int
	// stamp is the DTSTAMP, modified the LAST-MODIFIED, in seconds.
	stamp, modified int64
	known           bool
}

func versionOf(c *ical.Component) version {
	v := version{known: true}
	if id := c.Property("RECURRENCE-ID"); id != nil {
		var err error
		v.of, err = id.Time()
		v.known = err == nil
	}
	if p := c.Property("SEQUENCE"); p != nil {
		v.sequence, _ = p.Int() // an invalid number counts as 0
	}
	v.stamp, v.modified = secondsOf(c, "DTSTAMP"), secondsOf(c, "LAST-MODIFIED")
	return v
}

// secondsOf returns a time property of a component; 0 if it is missing or invalid.
func secondsOf(c *ical.Component, name string) int64 {
	if p := c.Property(name); p != nil {
		if t, err := p.Time(); err == nil {
			return t.Civil.Seconds()
		}
	}
	return 0
}

func (v version) compare(w version) int {
	return cmp.Or(
		cmp.Compare(v.sequence, w.sequence), cmp.Compare(v.stamp, w.stamp), cmp.Compare(v.modified, w.modified),
	)
}

// newest keeps only the newest revision of each component, if one is clearly the newest, or if the last of equal ones
// counts.
func (g *group) newest(source func(int) int, lastCounts bool) (mends []Mend) {
	best, equals := make(map[ical.Time]piece), make(map[ical.Time]int)
	for _, p := range g.pieces {
		if !p.version.known {
			continue
		}
		of := p.version.of
		switch b, found := best[of]; {
		case !found || p.version.compare(b.version) > 0 || lastCounts && p.version.compare(b.version) == 0:
			best[of], equals[of] = p, 1
		case p.version.compare(b.version) == 0:
			equals[of]++
		}
	}
	g.pieces = slices.DeleteFunc(g.pieces, func(p piece) bool {
		b := best[p.version.of]
		if !p.version.known || equals[p.version.of] > 1 || b.line == p.line {
			return false
		}
		mends = append(mends, Mend{
			p.line, fmt.Sprintf("this %s was left out: a newer version of it is at line %d", p.name, source(b.line)),
		})
		return true
	})
	return mends
}
