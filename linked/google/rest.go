package google

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"caldav-mcp-server/ical"
	"caldav-mcp-server/linked/rest"
	"caldav-mcp-server/linked/vevent"
)

// rest stores the fields without an iCalendar equivalent, so that a recreated event is complete again.
func (w writer) rest(c *ical.Component, e *Event) error {
	kept := maps.Clone(e.Rest)
	if kept == nil {
		kept = map[string]json.RawMessage{}
	}
	keep := func(name string, there bool, value any) {
		if !there {
			return
		}
		if data, err := rest.Text(value); err == nil {
			kept[name] = data
		}
	}
	keep("conferenceData", len(e.Conference) != 0, e.Conference)
	keep("attendeesOmitted", e.Omitted, true)
	foreign := e.Extended.foreign()
	keep("extendedProperties", foreign != nil, foreign)
	if len(kept) == 0 {
		return nil
	}
	data, err := rest.Text(kept)
	if err != nil {
		return err
	}
	c.Add(ical.NewText(restName, string(data)))
	return nil
}

// rest restores them. It ignores fields that other properties define.
func (r *reader) rest(c *ical.Component, e *Event) error {
	p := c.Property(restName)
	if p == nil {
		return nil
	}
	var back struct {
		Conference json.RawMessage `json:"conferenceData"`
		Omitted    bool            `json:"attendeesOmitted"`
		Extended   *Extended       `json:"extendedProperties"`
	}
	var all map[string]json.RawMessage
	if json.Unmarshal([]byte(p.Text()), &all) != nil || json.Unmarshal([]byte(p.Text()), &back) != nil {
		return vevent.RestChanged(restName, "Google")
	}
	if maps.DeleteFunc(all, isNamed); len(all) != 0 {
		e.Rest = all
	}
	e.Conference, e.Omitted = back.Conference, back.Omitted
	e.Extended = back.Extended.foreign()
	return nil
}

// foreign returns the extended properties of other programs, or nil.
func (x *Extended) foreign() *Extended {
	if x == nil {
		return nil
	}
	private := maps.Clone(x.Private)
	maps.DeleteFunc(private, func(name, _ string) bool { return strings.HasPrefix(name, linesKey) })
	if len(private) == 0 {
		private = nil
	}
	if private == nil && len(x.Shared) == 0 {
		return nil
	}
	return &Extended{Private: private, Shared: x.Shared}
}

// lines returns the content lines that we store in extended properties, because Google has no field for them.
func (x *Extended) lines() string {
	if x == nil {
		return ""
	}
	var b strings.Builder
	for i := 0; ; i++ {
		part, there := x.Private[lineKey(i)]
		if !there {
			return b.String()
		}
		b.WriteString(part)
	}
}

func lineKey(i int) string { return fmt.Sprintf("%s%02d", linesKey, i) }

// keep splits content lines into extended properties.
func (e *Event) keep(lines string) error {
	if lines == "" {
		return nil
	}
	if len(lines) > linesBytes {
		return vevent.TooMuch(len(lines), "Google", linesBytes)
	}
	if e.Extended == nil {
		e.Extended = &Extended{}
	}
	if e.Extended.Private == nil {
		e.Extended.Private = map[string]string{}
	}
	for i := 0; lines != ""; i++ {
		end := min(len(lines), lineBytes)
		for end < len(lines) && lines[end]&0xC0 == 0x80 {
			end--
		}
		e.Extended.Private[lineKey(i)], lines = lines[:end], lines[end:]
	}
	return nil
}

// mapped are the properties with a Google field. The others are kept as lines.
var mapped = []string{
	"UID", "DTSTAMP", "CREATED", "LAST-MODIFIED", "SEQUENCE", "DTSTART", "DTEND", "DURATION", "RRULE", "EXRULE",
	"RDATE", "EXDATE",
	"RECURRENCE-ID", "SUMMARY", "DESCRIPTION", "X-ALT-DESC", "LOCATION", "STATUS", "TRANSP", "CLASS", "COLOR", "URL",
	"ORGANIZER",
	"ATTENDEE", "ATTACH", "CONFERENCE", conferenceName, typeName, restName, reminderName,
}

// adorned are the mapped properties whose further parameters are kept.
var adorned = []string{"SUMMARY", "DESCRIPTION", "LOCATION", "URL", "ORGANIZER", "ATTENDEE", "ATTACH"}

// surplus returns the lines of a component that Google's fields would lose.
func (r *reader) surplus(c *ical.Component, e *Event) (string, error) {
	shown, err := writer{cal: r.cal, zones: r.zones}.bare(e)
	if err != nil {
		return "", err
	}
	kept := ical.NewComponent("VEVENT")
	for p := range c.Properties() {
		switch {
		case p.Name() == "COMMENT" && has(shown, p): // the account's, to the organizer
		case p.Name() == "COLOR" && e.Color == "", p.Name() == "CONFERENCE" && !has(shown, p),
			!slices.Contains(mapped, p.Name()):
			kept.Add(p.Clone())
		case slices.Contains(adorned, p.Name()):
			if ornament := adornment(p, shown); ornament != nil {
				kept.Add(ornament)
			}
		}
	}
	generated := alarms(e, r.cal)
	for alarm := range c.Components() {
		if alarm.Name() == "VALARM" && !slices.ContainsFunc(generated, func(g *ical.Component) bool {
			return vevent.Inner(g) == vevent.Inner(alarm)
		}) {
			kept.AddComponent(alarm.Clone())
		}
	}
	return vevent.Inner(kept), nil
}

// bare writes only the properties that surplus compares.
func (w writer) bare(e *Event) (*ical.Component, error) {
	c := ical.NewComponent("VEVENT")
	for _, step := range []func(*ical.Component, *Event) error{w.words, w.people, w.links} {
		if err := step(c, e); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// has reports whether a component has a property with the same name and value.
func has(c *ical.Component, p *ical.Property) bool { return twin(c, p) != nil }

func twin(c *ical.Component, p *ical.Property) *ical.Property {
	for _, q := range c.All(p.Name()) {
		if strings.EqualFold(q.Value(), p.Value()) {
			return q
		}
	}
	return nil
}

// adornment returns a line with the parameters that Google's fields would lose, or nil.
func adornment(p *ical.Property, shown *ical.Component) *ical.Property {
	like := twin(shown, p)
	if like == nil {
		return nil
	}
	ornament, any := ical.NewProperty(like.Name(), like.Value()), false
	for _, param := range p.Params() {
		if value, given := like.Param(param.Name); given && value == strings.Join(param.Values, ",") {
			continue
		}
		ornament.SetParam(param.Name, param.Values...)
		any = true
	}
	if !any {
		return nil
	}
	return ornament
}

// extras adds the stored lines and the alarms. Google's own fields take precedence, since they may have changed.
func (w writer) extras(c *ical.Component, e *Event) {
	kept := ical.NewComponent("VEVENT")
	if lines := e.Extended.lines(); lines != "" {
		// Other programs can write there, too: ignore unreadable lines.
		if read, err := vevent.Lines(lines); err == nil {
			kept = read
		}
	}
	for p := range kept.Properties() {
		switch {
		case slices.Contains(adorned, p.Name()):
			adorn(c, p)
		case !slices.Contains(mapped, p.Name()), p.Name() == "COLOR" && e.Color == "", p.Name() == "CONFERENCE" &&
			!has(c, p):
			c.Add(p.Clone())
		}
	}
	w.alarms(c, e, kept)
}

// adorn restores a line's further parameters, unless they contradict Google's.
func adorn(c *ical.Component, ornament *ical.Property) {
	like := twin(c, ornament)
	if like == nil {
		return
	}
	candidate := like.Clone()
	for _, param := range ornament.Params() {
		candidate.SetParam(param.Name, param.Values...)
	}
	if like.Name() == "ATTENDEE" {
		before, _ := attendeeOf(like)
		after, err := attendeeOf(candidate)
		if err != nil || before != after {
			return
		}
	}
	for _, param := range ornament.Params() {
		if (like.Name() == "ORGANIZER" && param.Name == "CN") || strings.HasPrefix(param.Name, "X-GOOGLE-") {
			continue
		}
		like.SetParam(param.Name, param.Values...)
	}
}
