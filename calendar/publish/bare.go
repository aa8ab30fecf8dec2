package publish

import (
	"slices"
	"strconv"

	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/ical"
)

// bare has a function for each timing property. It writes the parsed value again, so that the value and its
// parameters cannot contain other text. A property that cannot be parsed is removed.
var bare = map[string]func(from, to *ical.Property) error{
	"UID": same, "DTSTAMP": times, "DTSTART": times, "DTEND": times, "DUE": times, "RECURRENCE-ID": times,
	"RDATE": dates, "EXDATE": dates,
	"RRULE": rule, "EXRULE": rule, "DURATION": duration, "SEQUENCE": number, "TZOFFSETFROM": offset,
	"TZOFFSETTO": offset,
	"STATUS":     word, "TRANSP": word,
}

// reduce rewrites the named properties of a component, and removes all others.
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

// rewrite copies the parameters and the value of another property.
func rewrite(p, as *ical.Property) {
	for _, param := range p.Params() {
		p.RemoveParam(param.Name)
	}
	for _, param := range as.Params() {
		p.SetParam(param.Name, param.Values...)
	}
	p.SetValue(as.Value())
}

// same copies a value that the caller replaces later.
func same(from, to *ical.Property) error {
	to.SetValue(from.Value())
	return nil
}

func times(from, to *ical.Property) error {
	list, err := from.Times()
	if err == nil {
		to.SetTimes(list...)
	}
	// RANGE has only this value (RFC 5545 §3.2.13).
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

// scales are the calendar systems of recurrence rules (RFC 7529 §5.1).
var scales = []string{
	"", "GREGORIAN", "CHINESE", "DANGI", "HEBREW", "INDIAN", "PERSIAN", "COPTIC", "ETHIOPIC", "ISLAMIC-CIVIL",
}

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

// states are the values of STATUS and TRANSP (RFC 5545 §3.8.1.11, §3.8.2.7).
var states = []string{
	"TENTATIVE", "CONFIRMED", "CANCELLED", "NEEDS-ACTION", "COMPLETED", "IN-PROCESS", "DRAFT", "FINAL", "OPAQUE",
	"TRANSPARENT",
}

func word(from, to *ical.Property) error {
	if said := content.Word(from); slices.Contains(states, said) {
		to.SetValue(said)
	}
	return nil
}
