package mcp

import (
	"strings"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/zone"
	"caldav-mcp-server/ical"
)

// zoneSource says where the zone of a call comes from.
type zoneSource string

// The sources, the first that names a zone winning.
const (
	zoneOfArgument zoneSource = "argument"
	zoneOfUser     zoneSource = "user"
	zoneOfCalendar zoneSource = "calendar"
	zoneOfNobody   zoneSource = "default"
)

// zoned is the zone in which a call means its local times and gets its answers.
type zoned struct {
	*zone.Zone
	source zoneSource
}

// zoneFor decides on the zone of a call. Only an argument that means nothing is an error: a
// stored name that does gives way to the next.
func (b toolbox) zoneFor(argument string, user calendar.User, cal calendar.Calendar) (zoned, error) {
	if argument != "" {
		z, err := b.zones.Lookup(argument)
		if err != nil {
			return zoned{}, errArgument(`"timezone": %s`, err)
		}
		return zoned{z, zoneOfArgument}, nil
	}
	for _, stored := range [...]struct {
		name   string
		source zoneSource
	}{{user.Timezone, zoneOfUser}, {cal.Timezone, zoneOfCalendar}} {
		if z, err := b.zones.Lookup(stored.name); err == nil {
			return zoned{z, stored.source}, nil
		}
	}
	return zoned{zone.UTC(), zoneOfNobody}, nil
}

// moment is a time as a call gave it.
type moment struct {
	at time.Time
	// date means a whole day: at is then midnight UTC at its beginning.
	date bool
	// local means that the call gave a wall-clock time, which at is in the zone of the call.
	local bool
}

// String writes the moment as iCalendar does.
func (m moment) String() string {
	if m.date {
		return ical.Date(ical.Instant(m.at).Civil).String()
	}
	return ical.Instant(m.at).String()
}

// readSpan reads the start and the end of an event.
func (z zoned) readSpan(from, to string) (start, end moment, err error) {
	if start, err = z.read("start", from); err != nil {
		return start, end, err
	}
	if end, err = z.read("end", to); err != nil {
		return start, end, err
	}
	if start.date != end.date {
		return start, end, errArgument(`"start" is %s and "end" is %s: give two dates for an all-day event, or two times`, quote(from), quote(to))
	}
	// RFC 5545 §3.6.1: DTEND is not part of the event. People who give the same day twice mean
	// that day.
	if start.date && start.at.Equal(end.at) {
		end.at = end.at.AddDate(0, 0, 1)
	}
	return start, end, nil
}

// read reads the time that a parameter gives, in any of the forms.
func (z zoned) read(parameter, value string) (moment, error) {
	value = strings.TrimSpace(value)
	if at, err := time.Parse(time.RFC3339, strings.ToUpper(value)); err == nil {
		return moment{at: at.Truncate(time.Second)}, nil
	}
	t, err := ical.ParseTime(basic(value), "")
	switch {
	case err != nil && wellFormed(basic(value)):
		return moment{}, errArgument(`%q: no calendar and no clock shows %s`, parameter, quote(value))
	case err != nil:
		return moment{}, errArgument(`%q cannot be read: %s; write it %s`, parameter, quote(value), timeForms)
	case t.Form == ical.FormFloating:
		return z.resolve(parameter, t.Civil)
	default:
		return moment{at: time.Unix(t.Civil.Seconds(), 0).UTC(), date: t.IsDate()}, nil
	}
}

// basic writes ISO 8601's extended form, with or without seconds, in the basic form that
// iCalendar has: 2026-03-01T09:00 becomes 20260301T090000.
func basic(value string) string {
	const date, minutes = len("2006-01-02"), len("2006-01-02T15:04")
	if len(value) < date || value[4] != '-' || value[7] != '-' {
		return value
	}
	if len(value) == minutes {
		value += ":00"
	}
	value = strings.Replace(value[:date], "-", "", 2) + strings.Replace(value[date:], ":", "", 2)
	return strings.Replace(value, " ", "T", 1)
}

// wellFormed tells whether a time has the form of one, though perhaps the 30th of February.
func wellFormed(value string) bool {
	form := strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return '0'
		}
		return r
	}, value)
	return form == "00000000" || form == "00000000T000000" || form == "00000000T000000Z"
}

// resolve finds the moment at which clocks in the zone show c. When they are put forward or
// back, there may be none or two: which is meant is for the caller to say.
func (z zoned) resolve(parameter string, c ical.Civil) (moment, error) {
	at, fit := z.Resolve(c)
	segment := z.Segment(at.Unix())
	var why string
	switch fit {
	case zone.Exact:
		return moment{at: at, local: true}, nil
	case zone.Gap:
		why = "is skipped" // at is in the segment behind the gap
	case zone.Overlap:
		why = "comes twice" // at is the first of the two
		segment = z.Segment(segment.To)
	}
	other := time.Unix(c.Seconds()-segment.Offset, 0).In(z.Location())
	return moment{}, errArgument(`%q: %s %s in %s, where the clocks change; write %s or %s`, parameter, c, why, z.Name(),
		at.Format(time.RFC3339), other.Format(time.RFC3339))
}
