package publish

import (
	"slices"
	"strconv"

	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/ical"
)

// bare write anew what tells when something is, so that nothing else can stand there: not in a value that
// programs read over, and not beside it. An unreadable part is not written.
var bare = map[string]func(from, to *ical.Property) error{
	"UID": same, "DTSTAMP": times, "DTSTART": times, "DTEND": times, "DUE": times, "RECURRENCE-ID": times, "RDATE": dates, "EXDATE": dates,
	"RRULE": rule, "EXRULE": rule, "DURATION": duration, "SEQUENCE": number, "TZOFFSETFROM": offset, "TZOFFSETTO": offset,
	"STATUS": word, "TRANSP": word,
}

// reduce writes the properties of a component anew that tell when it is, and drops all others.
func reduce(c *ical.Component, names ...string) {
	for _, p := range slices.Collect(c.Properties()) {
		if !slices.Contains(names, p.Name()) {
			c.RemoveProperty(p)
			continue
		}
		to := ical.NewProperty(p.Name(), "")
		if err := bare[p.Name()](p, to); err != nil || to.Value() == "" {
			c.RemoveProperty(p)
			continue
		}
		rewrite(p, to)
	}
}

// rewrite gives a property the parameters and the value of another one.
func rewrite(p, as *ical.Property) {
	for _, param := range p.Params() {
		p.RemoveParam(param.Name)
	}
	for _, param := range as.Params() {
		p.SetParam(param.Name, param.Values...)
	}
	p.SetValue(as.Value())
}

// same is for what is replaced.
func same(from, to *ical.Property) error {
	to.SetValue(from.Value())
	return nil
}

func times(from, to *ical.Property) error {
	list, err := from.Times()
	if err == nil {
		to.SetTimes(list...)
	}
	// The one word that there is for RANGE (RFC 5545 §3.2.13).
	if of, given := from.Param("RANGE"); given && of == "THISANDFUTURE" {
		to.SetParam("RANGE", of)
	}
	return err
}

func dates(from, to *ical.Property) error {
	if !from.IsPeriods() {
		return times(from, to)
	}
	list, err := from.Periods()
	if err != nil {
		return err
	}
	to.SetPeriods(list...)
	to.SetParam("VALUE", "PERIOD")
	if zone, given := from.Param("TZID"); given {
		to.SetParam("TZID", zone)
	}
	return nil
}

// scales are the calendars that a rule may be counted in (RFC 7529 §5.1).
var scales = []string{"", "GREGORIAN", "CHINESE", "DANGI", "HEBREW", "INDIAN", "PERSIAN", "COPTIC", "ETHIOPIC", "ISLAMIC-CIVIL"}

func rule(from, to *ical.Property) error {
	r, err := from.Recur()
	if err != nil || !slices.Contains(scales, r.RScale) {
		return err
	}
	r.Extra = nil
	to.SetRecur(r)
	return nil
}

func duration(from, to *ical.Property) error {
	d, err := from.Duration()
	if err == nil {
		to.SetValue(d.String())
	}
	return err
}

func number(from, to *ical.Property) error {
	n, err := from.Int()
	if err == nil {
		to.SetValue(strconv.Itoa(n))
	}
	return err
}

func offset(from, to *ical.Property) error {
	o, err := from.UTCOffset()
	if err == nil {
		to.SetValue(o.String())
	}
	return err
}

// states are the words of STATUS and TRANSP (RFC 5545 §3.8.1.11, §3.8.2.7).
var states = []string{
	"TENTATIVE", "CONFIRMED", "CANCELLED", "NEEDS-ACTION", "COMPLETED", "IN-PROCESS", "DRAFT", "FINAL", "OPAQUE", "TRANSPARENT",
}

func word(from, to *ical.Property) error {
	if said := content.Word(from); slices.Contains(states, said) {
		to.SetValue(said)
	}
	return nil
}
