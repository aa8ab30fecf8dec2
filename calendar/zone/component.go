package zone

import (
	"cmp"
	"slices"
	"time"

	"caldav-mcp-server/ical"
)

const (
	year = 366 * 24 * time.Hour

	// A rule that holds for this long is taken to go on: every date falls on every weekday within 28 years.
	provenYears = 30
	// If the series has no end, a zone without a rule is written out for this many years.
	openYears = 20
)

// onset is a change of offset, as shown by the wall clock just before the change.
type onset struct {
	at       ical.Civil
	utc      int64
	from, to ical.UTCOffset
	name     string
	daylight bool
}

// group holds the values that all onsets of one STANDARD or DAYLIGHT component share.
type group struct {
	from, to ical.UTCOffset
	name     string
	daylight bool
}

func (o onset) group() group { return group{o.from, o.to, o.name, o.daylight} }

// Component writes the VTIMEZONE of a zone for a component that lasts from one instant to another. A zero end means "no
// end". Yearly rules become an RRULE, other changes become dates. It contains every observance that the event needs and
// its neighbours, because Outlook wants both a STANDARD and a DAYLIGHT.
func Component(z *Zone, from, to time.Time) *ical.Component {
	if to.IsZero() {
		to = from.AddDate(openYears, 0, 0)
		to = latest(to, time.Date(2037, time.December, 31, 0, 0, 0, 0, time.UTC))
	}
	from, to = from.Add(-year), latest(from, to).Add(year)
	proven := to.AddDate(provenYears, 0, 0)
	onsets := z.onsets(from.Unix(), proven.Unix())

	definition := ical.NewComponent("VTIMEZONE")
	definition.Add(ical.NewText("TZID", z.name))
	if _, err := time.LoadLocation(z.name); err == nil {
		// Some clients, such as Evolution, look here first.
		definition.Add(ical.NewText("X-LIC-LOCATION", z.name))
	}
	for _, series := range split(onsets, to.Unix()) {
		definition.AddComponent(series.component(proven.Year()))
	}
	return definition
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// onsets lists the changes from the one in force at from until to. If the zone has never changed before from, the list
// begins with an onset that changes nothing.
func (z *Zone) onsets(from, to int64) []onset {
	segment := z.Segment(from)
	list := []onset{z.begin(segment, from)}
	for segment.To <= to {
		before := segment
		segment = z.Segment(segment.To)
		if segment.Offset != before.Offset {
			list = append(list, newOnset(before, segment))
		}
	}
	return list
}

func (z *Zone) begin(segment Segment, from int64) onset {
	// The name can change without the offset; that is not an onset.
	for segment.From > from-10*366*24*3600 {
		before := z.Segment(segment.From - 1)
		if before.Offset != segment.Offset {
			return newOnset(before, segment)
		}
		segment.From = before.From
	}
	year := min(1970, ical.CivilFromSeconds(from).Year)
	at := ical.CivilDate(max(year, 1), time.January, 1)
	offset := ical.UTCOffset(segment.Offset)
	return onset{at: at, utc: at.Seconds() - segment.Offset, from: offset, to: offset, name: segment.Name}
}

func newOnset(before, after Segment) onset {
	return onset{
		at:   ical.CivilFromSeconds(after.From + before.Offset),
		utc:  after.From,
		from: ical.UTCOffset(before.Offset),
		to:   ical.UTCOffset(after.Offset),
		name: after.Name,
		// For Ireland and Morocco, IANA calls winter the "daylight" time, with a negative saving. Clients expect the
		// later clock in DAYLIGHT.
		daylight: (after.Daylight || before.Daylight) && after.Offset > before.Offset,
	}
}

// series is a list of onsets of one group, with or without a rule.
type series struct {
	onsets []onset
	rule   string // an RRULE without UNTIL
}

// split finds the rules in a list of onsets. Onsets after to only show which rules go on; split leaves out the series
// that begin after it.
func split(onsets []onset, to int64) []series {
	groups := make(map[group][]onset)
	for _, o := range onsets {
		groups[o.group()] = append(groups[o.group()], o)
	}
	var all []series
	for _, list := range groups {
		var single series
		for len(list) > 0 && list[0].utc <= to {
			found := longest(list)
			list = list[len(found.onsets):]
			if len(found.onsets) < 3 {
				single.onsets = append(single.onsets, found.onsets...)
			} else {
				all = append(all, found)
			}
		}
		if len(single.onsets) > 0 {
			all = append(all, single)
		}
	}
	slices.SortFunc(all, func(a, b series) int { return cmp.Compare(a.onsets[0].utc, b.onsets[0].utc) })
	return all
}

// longest takes as many years from the beginning of a list as one rule explains.
func longest(list []onset) series {
	p := newPattern(list[0])
	n := 1
	for n < len(list) && p.admit(list[n]) {
		n++
	}
	return series{onsets: list[:n], rule: p.rule()}
}

// component writes a series. The series has no end if it reaches the last proven year, which may be cut short.
func (s series) component(proven int) *ical.Component {
	first, last := s.onsets[0], s.onsets[len(s.onsets)-1]
	name := "STANDARD"
	if first.daylight {
		name = "DAYLIGHT"
	}
	c := ical.NewComponent(name)
	c.Add(ical.NewProperty("TZOFFSETFROM", first.from.String()))
	c.Add(ical.NewProperty("TZOFFSETTO", first.to.String()))
	c.Add(ical.NewText("TZNAME", first.name))
	c.Add(ical.NewProperty("DTSTART", ical.Floating(first.at).String()))
	switch {
	case s.rule == "":
		for _, o := range s.onsets[1:] {
			c.Add(ical.NewProperty("RDATE", ical.Floating(o.at).String()))
		}
	case last.at.Year >= proven-1:
		c.Add(ical.NewProperty("RRULE", s.rule))
	default:
		// RFC 5545 §3.6.5: UNTIL in a VTIMEZONE is in UTC.
		until := ical.UTC(ical.CivilFromSeconds(last.utc))
		c.Add(ical.NewProperty("RRULE", s.rule+";UNTIL="+until.String()))
	}
	return c
}
