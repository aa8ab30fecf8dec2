package archive

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"caldav-mcp-server/ical"
)

// keep collects the lines of a vCalendar 1.0 component until its end, because they depend on each other.
func (w *rewriter) keep(r row, name string) {
	r.raw = slices.Clip(r.raw) // an append must not overwrite the rest of the file
	w.kept = append(w.kept, r)
	if name == "END" && len(w.inner) <= 1 {
		kept := w.kept
		w.kept = nil
		w.convert(kept)
	}
}

// old is a vCalendar 1.0 component that is converted to iCalendar.
type old struct {
	*rewriter
	kind string
	// start and due are its times, if they can be parsed.
	start, due ical.Time
	summary    string
	// alarms come after all properties (RFC 5545 §3.6.1).
	alarms []alarm
}

type alarm struct {
	number int
	text   string
}

// ring writes the alarms.
func (c *old) ring() {
	for _, a := range c.alarms {
		c.write(a.number, a.text)
	}
}

// convert converts a component. Nested components pass unchanged, since vCalendar 1.0 has none.
func (w *rewriter) convert(rows []row) {
	c := old{rewriter: w}
	lines := make([]oldLine, len(rows))
	for i, r := range rows {
		var err error
		if lines[i], err = readOld(r); err != nil {
			w.fault(r.number, err.Error())
		}
		c.note(lines[i])
	}
	depth := 0
	for i, l := range lines {
		switch {
		case l.name == "BEGIN":
			depth++
			w.write(l.number, lineOf(rows[i]))
		case l.name == "END":
			if depth--; depth == 0 {
				c.ring()
			}
			w.write(l.number, lineOf(rows[i]))
		case depth == 1 && l.name != "":
			c.line(l)
		default:
			w.write(l.number, lineOf(rows[i]))
		}
	}
}

func lineOf(r row) string { return joined(r.raw) + "\r\n" }

// note remembers values that the conversion of other lines needs.
func (c *old) note(l oldLine) {
	switch l.name {
	case "BEGIN":
		if c.kind == "" {
			c.kind = strings.ToUpper(strings.TrimSpace(l.value))
		}
	case "DTSTART":
		c.start, _ = oldTime(l.value)
	case "DUE":
		c.due, _ = oldTime(l.value)
	case "SUMMARY":
		c.summary = unescaped(l.value)
	}
}

// oldTime parses a time of vCalendar 1.0, which is in UTC or without a zone.
func oldTime(value string) (ical.Time, bool) {
	if t, err := ical.ParseTime(value, ""); err == nil {
		return t, true
	}
	t, clear := looseTime(value)
	return t.Time, clear && t.offset == 0
}

// unescaped unescapes a text. The specification escapes only semicolons; programs also escape as in iCalendar.
func unescaped(value string) string { return ical.UnescapeText(value) }

// oldNames has a conversion for each property that differs between vCalendar 1.0 and iCalendar.
var oldNames = map[string]func(c *old, l oldLine){
	"SUMMARY": (*old).asText, "DESCRIPTION": (*old).asText, "LOCATION": (*old).asText,
	"CATEGORIES": (*old).asList, "RESOURCES": (*old).asList,
	"DTSTART": (*old).asTimes, "DTEND": (*old).asTimes, "DUE": (*old).asTimes, "COMPLETED": (*old).asTimes,
	"LAST-MODIFIED": (*old).asTimes,
	"DCREATED":      (*old).asTimes, "RDATE": (*old).asTimes, "EXDATE": (*old).asExceptions,
	"RRULE": (*old).asRule, "EXRULE": (*old).unclear, "RNUM": (*old).drop,
	"STATUS": (*old).asStatus, "TRANSP": (*old).asTransparency, "ATTENDEE": (*old).asPerson,
	"ATTACH": (*old).asAttachment,
	"AALARM": (*old).asAlarm, "DALARM": (*old).asAlarm, "MALARM": (*old).leaveOut, "PALARM": (*old).leaveOut,
}

func (c *old) line(l oldLine) {
	if as := oldNames[l.name]; as != nil {
		as(c, l)
		return
	}
	c.put(l, ical.NewProperty(l.name, l.value, l.params...))
}

func (c *old) put(l oldLine, p *ical.Property) { c.write(l.number, text(p)) }

func (l oldLine) String() string { return fmt.Sprintf("%.200s", l.name+":"+l.value) }

// leaveOut reports a line that has no equivalent in iCalendar or in this server.
func (c *old) leaveOut(l oldLine) { c.mend(l.number, fmt.Sprintf("%q was left out", l)) }

// drop removes a line without information of its own.
func (c *old) drop(oldLine) {}

func (c *old) unclear(l oldLine) { c.fault(l.number, fmt.Sprintf("%q is not clear", l)) }

func (c *old) asText(l oldLine) {
	c.put(l, ical.NewText(l.name, unescaped(l.value), l.only("LANGUAGE")...))
}

// only returns the parameters with the given names.
func (l oldLine) only(names ...string) []ical.Param {
	return slices.DeleteFunc(slices.Clone(l.params), func(p ical.Param) bool { return !slices.Contains(names, p.Name) })
}

// listed returns the values of a list separated by semicolons.
func (l oldLine) listed() []string {
	var all []string
	for one := range strings.SplitSeq(strings.ReplaceAll(l.value, `\;`, "\x00"), ";") {
		if one = strings.TrimSpace(strings.ReplaceAll(one, "\x00", ";")); one != "" {
			all = append(all, one)
		}
	}
	return all
}

func (c *old) asList(l oldLine) {
	if all := l.listed(); len(all) > 0 {
		p := ical.NewProperty(l.name, "")
		p.SetTextList(all...)
		c.put(l, p)
	}
}

// times parses a list of times; false if one is invalid. Some programs separate them by commas.
func (l oldLine) times() ([]ical.Time, bool) {
	var all []ical.Time
	for one := range strings.FieldsFuncSeq(l.value, func(r rune) bool { return r == ';' || r == ',' || r == ' ' }) {
		t, clear := oldTime(one)
		if !clear {
			return nil, false
		}
		all = append(all, t)
	}
	return all, len(all) > 0
}

func (c *old) asTimes(l oldLine) {
	all, clear := l.times()
	name := l.name
	switch {
	case !clear:
		c.unclear(l)
		return
	case name == "DCREATED":
		name = "CREATED"
		if all[0].Form != ical.FormUTC {
			c.leaveOut(l) // RFC 5545 §3.8.7.1 requires UTC, and the zone is unknown
			return
		}
	}
	p := ical.NewProperty(name, "")
	p.SetTimes(all...)
	c.put(l, p)
}

// asExceptions converts EXDATE. A date excludes the instance of that day. A time that differs from the event's time
// of day is unclear.
func (c *old) asExceptions(l oldLine) {
	all, clear := l.times()
	for i, t := range all {
		if t.IsDate() && !c.start.IsDate() {
			at := t.Civil
			at.Hour, at.Minute, at.Second = c.start.Civil.Hour, c.start.Civil.Minute, c.start.Civil.Second
			all[i] = ical.Time{Civil: at, Form: c.start.Form}
		}
		clear = clear && all[i].Form == c.start.Form && all[i].Civil.SecondOfDay() == c.start.Civil.SecondOfDay()
	}
	if !clear {
		c.unclear(l)
		return
	}
	p := ical.NewProperty(l.name, "")
	p.SetTimes(all...)
	c.put(l, p)
}

func (c *old) asRule(l oldLine) {
	rule, err := oldRule(l.value, c.start)
	if err != nil {
		c.fault(l.number, fmt.Sprintf("%q: %v", l, err))
		return
	}
	c.mend(l.number, fmt.Sprintf("%s was read as %s", l, rule))
	c.put(l, ical.NewProperty("RRULE", rule))
}

// oldStates are the states of vCalendar 1.0 that iCalendar also has, by kind.
var oldStates = map[string]map[string]string{
	"VEVENT": {"TENTATIVE": "TENTATIVE", "CONFIRMED": "CONFIRMED"},
	"VTODO":  {"NEEDS ACTION": "NEEDS-ACTION", "NEEDS-ACTION": "NEEDS-ACTION", "COMPLETED": "COMPLETED"},
}

func (c *old) asStatus(l oldLine) {
	state := oldStates[c.kind][strings.ToUpper(strings.TrimSpace(l.value))]
	if state == "" {
		c.leaveOut(l)
		return
	}
	c.put(l, ical.NewText("STATUS", state))
}

// asTransparency converts TRANSP: 0 is busy and 1 is free; larger numbers have no common meaning.
func (c *old) asTransparency(l oldLine) {
	switch strings.ToUpper(strings.TrimSpace(l.value)) {
	case "0", "OPAQUE":
		c.put(l, ical.NewText("TRANSP", "OPAQUE"))
	case "1", "TRANSPARENT":
		c.put(l, ical.NewText("TRANSP", "TRANSPARENT"))
	default:
		c.leaveOut(l)
	}
}

// asPerson parses "Name <address>" or an address. iCalendar has no attendees without an address.
func (c *old) asPerson(l oldLine) {
	name, address, named := strings.Cut(strings.TrimSpace(l.value), "<")
	if address = strings.TrimSuffix(strings.TrimSpace(address), ">"); !named {
		name, address = "", name
	}
	address = strings.TrimPrefix(strings.TrimSpace(address), "mailto:")
	if at := strings.IndexByte(address, '@'); at < 1 || strings.ContainsAny(address, " \t\n;,:<>\"") {
		c.leaveOut(l)
		return
	}
	p := ical.NewProperty("ATTENDEE", "mailto:"+address)
	if name = strings.TrimSpace(name); name != "" {
		p.SetParam("CN", name)
	}
	for _, param := range l.params {
		switch word := strings.ToUpper(param.Values[0]); {
		case param.Name == "ROLE" && (word == "ORGANIZER" || word == "OWNER"):
			p = ical.NewProperty("ORGANIZER", p.Value(), p.Params()...)
		case param.Name == "STATUS" && oldAnswers[word] != "" && p.Name() == "ATTENDEE":
			p.SetParam("PARTSTAT", oldAnswers[word])
		case param.Name == "RSVP" && word == "YES" && p.Name() == "ATTENDEE":
			p.SetParam("RSVP", "TRUE")
		}
	}
	c.put(l, p)
}

var oldAnswers = map[string]string{
	"ACCEPTED": "ACCEPTED", "CONFIRMED": "ACCEPTED", "DECLINED": "DECLINED", "TENTATIVE": "TENTATIVE",
	"NEEDS ACTION": "NEEDS-ACTION", "SENT": "NEEDS-ACTION",
	"DELEGATED": "DELEGATED",
}

func (c *old) asAttachment(l oldLine) {
	var params []ical.Param
	for _, p := range l.params {
		switch word := strings.ToUpper(p.Values[0]); {
		case p.Name == "VALUE" && word == "CONTENT-ID":
			l.value = "CID:" + strings.Trim(l.value, "<>")
		case p.Name == "VALUE" && word == "BINARY", p.Name == "ENCODING":
			params = append(params, p)
		}
	}
	c.put(l, ical.NewProperty("ATTACH", l.value, params...))
}

// asAlarm parses an AALARM or a DALARM: time, snooze interval, repetitions and text.
func (c *old) asAlarm(l oldLine) {
	parts := append(strings.Split(strings.ReplaceAll(l.value, `\;`, "\x00"), ";"), "", "", "", "")
	at, clear := oldTime(parts[0])
	trigger := c.trigger(at)
	if !clear || trigger == nil {
		c.leaveOut(l)
		return
	}
	ring := ical.NewComponent("VALARM")
	if ring.Add(ical.NewText("ACTION", "AUDIO"), trigger); l.name == "DALARM" {
		shown := strings.TrimSpace(strings.ReplaceAll(parts[3], "\x00", ";"))
		if shown == "" {
			shown = c.summary
		}
		ring.SetText("ACTION", "DISPLAY")
		ring.Add(ical.NewText("DESCRIPTION", shown))
	}
	snooze, err := ical.ParseDuration(strings.TrimSpace(parts[1]))
	if n, bad := strconv.Atoi(strings.TrimSpace(parts[2])); err == nil && bad == nil && n > 0 && n < 100 {
		ring.Add(ical.NewProperty("DURATION", snooze.String()), ical.NewText("REPEAT", strconv.Itoa(n)))
	}
	c.mend(l.number, fmt.Sprintf("%s was read as an alarm at %s", l, trigger.Value()))
	c.alarms = append(c.alarms, alarm{l.number, ical.NewDocument(ring).String()})
}

// trigger returns the alarm's time relative to the start, so that it is right for each instance of a series.
func (c *old) trigger(at ical.Time) *ical.Property {
	of, end := c.start, false
	if of.IsZero() {
		of, end = c.due, true
	}
	if of.Form == at.Form && !at.IsDate() && !of.IsZero() {
		d := ical.Duration{Seconds: at.Civil.Seconds() - of.Civil.Seconds()}
		if d.Seconds < 0 {
			d.Negative, d.Seconds = true, -d.Seconds
		}
		p := ical.NewProperty("TRIGGER", d.String())
		if end {
			p.SetParam("RELATED", "END")
		}
		return p
	}
	if at.Form != ical.FormUTC {
		return nil
	}
	return ical.NewProperty("TRIGGER", at.String(), ical.NewParam("VALUE", "DATE-TIME"))
}
