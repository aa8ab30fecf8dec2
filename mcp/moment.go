package mcp

import (
	"errors"
	"strings"
	"time"

	"caldav-mcp-server/calendar"
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
	name   string
	source zoneSource
	loc    *time.Location
}

// zoneFor decides on the zone of a call. Only an argument that means nothing is an error: a
// stored name that does gives way to the next.
func zoneFor(argument string, user calendar.User, cal calendar.Calendar) (zoned, error) {
	for _, c := range [...]zoned{
		{name: argument, source: zoneOfArgument}, {name: user.Timezone, source: zoneOfUser},
		{name: cal.Timezone, source: zoneOfCalendar}, {name: "UTC", source: zoneOfNobody},
	} {
		loc, err := loadZone(c.name)
		if err == nil {
			c.loc = loc
			return c, nil
		}
		if c.name != "" && c.source == zoneOfArgument {
			return zoned{}, errArgument(`no time zone %s: "timezone" takes an IANA name such as Europe/Berlin or America/New_York`, quote(c.name))
		}
	}
	return zoned{}, errArgument("no time zone") // UTC is always there
}

// loadZone finds a zone by its IANA name. "Local" would be the server's own.
func loadZone(name string) (*time.Location, error) {
	if name == "" || name == "Local" {
		return nil, errNoZone
	}
	return time.LoadLocation(name)
}

var errNoZone = errors.New("no zone")

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
	case err != nil:
		return moment{}, errArgument(`%q cannot be read: %s; write it %s`, parameter, quote(value), timeForms)
	case t.Form == ical.FormFloating:
		return z.resolve(parameter, t.Civil)
	default:
		return moment{at: instant(t.Civil, time.UTC), date: t.IsDate()}, nil
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

// resolve finds the moment at which clocks in the zone show c. When they are put forward or
// back, there may be none or two: which is meant is for the caller to say.
func (z zoned) resolve(parameter string, c ical.Civil) (moment, error) {
	const day = 24 * time.Hour
	asUTC := instant(c, time.UTC)
	_, before := asUTC.Add(-day).In(z.loc).Zone()
	_, after := asUTC.Add(day).In(z.loc).Zone()
	earlier, later := asUTC.Add(-time.Duration(before)*time.Second), asUTC.Add(-time.Duration(after)*time.Second)
	fits := func(t time.Time) bool {
		return instant(c, z.loc).Equal(t) || t.In(z.loc).Format(time.DateTime) == asUTC.Format(time.DateTime)
	}
	switch {
	case before == after || fits(earlier) && !fits(later):
		return moment{at: earlier, local: true}, nil
	case fits(later) && !fits(earlier):
		return moment{at: later, local: true}, nil
	}
	why := "does not exist"
	if fits(earlier) {
		why = "is there twice"
	}
	return moment{}, errArgument(`%q: %s %s in %s, where clocks change; write %s or %s`, parameter, c, why, z.name,
		earlier.In(z.loc).Format(time.RFC3339), later.In(z.loc).Format(time.RFC3339))
}

// instant is the moment at which a clock in loc shows c.
func instant(c ical.Civil, loc *time.Location) time.Time {
	return time.Date(c.Year, c.Month, c.Day, c.Hour, c.Minute, c.Second, 0, loc)
}
