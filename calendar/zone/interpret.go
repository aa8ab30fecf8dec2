package zone

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"caldav-mcp-server/calendar/recur/rule"
	"caldav-mcp-server/ical"
)

const (
	// onsetsMost bounds the changes of offset that a VTIMEZONE can make. It allows five hundred years with two changes
	// each; Outlook begins in 1601.
	onsetsMost = 2400
	stepsMost  = 100_000
	rulesMost  = 64 // observances, and rules in one of them

	// Rules that cannot be written as a POSIX rule are expanded until this year.
	horizonYear = 2200
)

// errOnsets is the error for a VTIMEZONE with too many changes of offset.
var errOnsets = fmt.Errorf("the VTIMEZONE changes its offset more than %d times", onsetsMost)

// observance is a STANDARD or DAYLIGHT component.
type observance struct {
	name     string
	daylight bool
	from, to ical.UTCOffset
	start    ical.Time
	endless  []ical.Recur // the rules without an end
	onsets   []int64      // the finite changes, in seconds since 1970
}

// fromComponent interprets a VTIMEZONE within the steps that the meter has left.
func fromComponent(definition *ical.Component, meter *rule.Meter) (*Zone, error) {
	name := ""
	if tzid := definition.Property("TZID"); tzid != nil {
		name = clean(tzid.Value())
	}
	z, err := interpret(name, definition, meter)
	if err != nil {
		return nil, fmt.Errorf("VTIMEZONE %.100q: %w", name, err)
	}
	return z, nil
}

func interpret(name string, definition *ical.Component, meter *rule.Meter) (*Zone, error) {
	var all []*observance
	for component := range definition.Components() {
		if component.Name() != "STANDARD" && component.Name() != "DAYLIGHT" {
			continue
		}
		o, err := readObservance(component, meter)
		if err != nil {
			return nil, err
		}
		if all = append(all, o); len(all) > rulesMost {
			return nil, errOnsets
		}
	}
	if len(all) == 0 {
		return nil, errors.New("it has neither STANDARD nor DAYLIGHT")
	}
	return build(name, all, meter)
}

func readObservance(c *ical.Component, meter *rule.Meter) (*observance, error) {
	o := &observance{daylight: c.Name() == "DAYLIGHT"}
	to, start := c.Property("TZOFFSETTO"), c.Property("DTSTART")
	if to == nil || start == nil {
		return nil, fmt.Errorf("%s needs TZOFFSETTO and DTSTART", c.Name())
	}
	var err error
	if o.to, err = to.UTCOffset(); err != nil {
		return nil, err
	}
	o.from = o.to
	if from := c.Property("TZOFFSETFROM"); from != nil {
		if o.from, err = from.UTCOffset(); err != nil {
			return nil, err
		}
	}
	if name := c.Property("TZNAME"); name != nil {
		o.name = name.Text()
	}
	if o.start, err = start.Time(); err != nil {
		return nil, err
	}
	if err := o.dates(c); err != nil {
		return nil, err
	}
	return o, o.rules(c, meter)
}

// onset returns the instant of a wall-clock time. RFC 5545 §3.6.5: the times in an observance use TZOFFSETFROM.
func (o *observance) onset(t ical.Time) int64 {
	if t.Form == ical.FormUTC {
		return t.Civil.Seconds()
	}
	return t.Civil.Seconds() - int64(o.from)
}

func (o *observance) dates(c *ical.Component) error {
	o.onsets = []int64{o.onset(o.start)}
	for _, p := range c.All("RDATE") {
		times, err := rdates(p)
		if err != nil {
			return err
		}
		if len(o.onsets)+len(times) > onsetsMost {
			return errOnsets
		}
		for _, t := range times {
			o.onsets = append(o.onsets, o.onset(t))
		}
	}
	return nil
}

func rdates(p *ical.Property) ([]ical.Time, error) {
	if !p.IsPeriods() {
		return p.Times()
	}
	periods, err := p.Periods()
	times := make([]ical.Time, len(periods))
	for i, period := range periods {
		times[i] = period.Start
	}
	return times, err
}

func (o *observance) rules(c *ical.Component, meter *rule.Meter) error {
	properties := c.All("RRULE")
	if len(properties) > rulesMost {
		return errOnsets
	}
	for _, p := range properties {
		r, err := p.Recur()
		if err != nil {
			return err
		}
		if r.Endless() {
			o.endless = append(o.endless, r)
			continue
		}
		if err := o.expand(&r, math.MaxInt64, meter); err != nil {
			return err
		}
	}
	return nil
}

// expand adds the onsets of a rule until an instant.
func (o *observance) expand(r *ical.Recur, until int64, meter *rule.Meter) error {
	compiled, err := rule.New(r, ical.Floating(o.start.Civil))
	if err != nil {
		return err
	}
	if r.Until.IsDate() {
		until = min(until, o.onset(r.Until)+24*3600-1)
	} else if !r.Until.IsZero() {
		until = min(until, o.onset(r.Until))
	}
	cursor, err := compiled.Seek(meter, rule.WallOf(o.start.Civil)+1, rule.Forever)
	for n := 1; err == nil && (r.Count == 0 || n < r.Count); n++ {
		wall, ok, failed := cursor.Next()
		at := int64(wall) - int64(o.from)
		if err = failed; err != nil || !ok || at > until {
			break
		}
		if o.onsets = append(o.onsets, at); len(o.onsets) > onsetsMost {
			return errOnsets
		}
	}
	return err
}

// build joins the observances into one zone. Rules without an end become a POSIX rule if POSIX can express them.
// Otherwise they are expanded until horizonYear.
func build(name string, all []*observance, meter *rule.Meter) (*Zone, error) {
	footer := posixRule(all)
	until := ical.CivilDate(horizonYear, time.January, 1).Seconds()
	if footer != "" {
		// Each of the two rules must have applied once before POSIX takes over.
		const year = 366 * 24 * 3600
		until = lastOnset(all) + year
	}
	var changes []change
	for _, o := range all {
		for i := range o.endless {
			if err := o.expand(&o.endless[i], until, meter); err != nil {
				return nil, err
			}
		}
		for _, at := range o.onsets {
			changes = append(changes, change{at: at, to: o})
		}
	}
	if len(changes) > onsetsMost {
		return nil, errOnsets
	}
	slices.SortStableFunc(changes, func(a, b change) int { return cmp.Compare(a.at, b.at) })
	loc, err := time.LoadLocationFromTZData(name, compile(changes, footer))
	if err != nil {
		return nil, fmt.Errorf("compile it: %w", err)
	}
	return &Zone{name: name, loc: loc}, nil
}

func lastOnset(all []*observance) int64 {
	last := int64(math.MinInt64)
	for _, o := range all {
		last = max(last, slices.Max(o.onsets))
	}
	return last
}
