package mcp

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/edit"
	"caldav-mcp-server/calendar/timetext"
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
	// seen are the times of the event or task that the call is about, by their parameters: see agrees.
	seen map[string]time.Time
	// floating tells that what is written keeps no zone.
	floating bool
	// series is set when the times are for more than one instance: see agrees.
	series bool
}

// repeating is the zone for times of a series; zero for a single event.
func (z zoned) repeating(series bool) zoned {
	z.series = z.series || series
	return z
}

// inZone is what tools take that are given local times or tell them. What it is by default, the instructions say.
type inZone struct{ timezone string }

func (in *inZone) takesZone() field {
	return wordTo(&in.timezone, "timezone", "")
}

// takesZoneKept is for tools that change what has a zone already.
func (in *inZone) takesZoneKept() field {
	return wordTo(&in.timezone, "timezone", "Or floating.")
}

// floating is the zone of what is at a time of day wherever one is.
const floating = "floating"

// zoneToWrite is zoneFor for a call that gives an event times, which may be floating.
func (b toolbox) zoneToWrite(c *call, in inZone, cal calendar.Calendar) (zoned, error) {
	if !strings.EqualFold(in.timezone, floating) {
		return b.zoneFor(c, in, cal)
	}
	z := b.usualZone(c, cal)
	z.floating = true
	return z, nil
}

// zoneFor decides on the zone of a call about a calendar, or about none. Only an argument that means nothing
// is an error: a stored name that does gives way to the next.
func (b toolbox) zoneFor(c *call, in inZone, cal calendar.Calendar) (zoned, error) {
	if in.timezone == "" {
		return b.usualZone(c, cal), nil
	}
	z, err := b.zones.Ask(in.timezone)
	if err != nil {
		return zoned{}, errArgument(`"timezone": %s`, err)
	}
	return zoned{Zone: z, source: zoneOfArgument}, nil
}

// usualZone is that of a call which names none.
func (b toolbox) usualZone(c *call, cal calendar.Calendar) zoned {
	for _, stored := range [...]struct {
		name   string
		source zoneSource
	}{{c.caller.User.Timezone, zoneOfUser}, {cal.Timezone, zoneOfCalendar}} {
		if z, err := b.zones.Lookup(stored.name); err == nil {
			return zoned{Zone: z, source: stored.source}
		}
	}
	return zoned{Zone: zone.UTC(), source: zoneOfNobody}
}

// moment is a time as a call gave it.
type moment struct {
	at time.Time
	// date means a whole day: at is then midnight UTC at its beginning.
	date bool
	// basic means a date in the form of iCalendar, by whose rules an end is the day after the last.
	basic bool
	// local means that the call gave a wall-clock time, which at is in the zone of the call.
	local bool
}

// behind is where what ends at a moment ends. People, and our lists, give the last of whole days as
// 2026-03-02; iCalendar gives the day after it, as 20260303 (RFC 5545 §3.6.1).
func (m moment) behind() moment {
	if m.date && !m.basic {
		return m.next()
	}
	return m
}

// next is the day after a whole day.
func (m moment) next() moment {
	m.at, m.basic = m.at.AddDate(0, 0, 1), true
	return m
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
	// People who give the same day twice mean that day, in whatever form.
	if start.date && start.at.Equal(end.at) {
		return start, end.next(), nil
	}
	end = end.behind()
	if start.date && !end.at.After(start.at) {
		return start, end, errArgument(`"end" (%s) must not be before "start" (%s)`, quote(to), quote(from))
	}
	return start, end, nil
}

// read reads the time that a parameter gives, in any of the forms. When the clocks are put
// forward or back, there may be no such time or two: which is meant is for the caller to say.
func (z zoned) read(parameter, value string) (moment, error) {
	value = strings.TrimSpace(value)
	t, err := timetext.Parse(value, z.Zone)
	if unreadable, ok := errors.AsType[*timetext.Error](err); ok && !unreadable.Impossible {
		return moment{}, errArgument(`%q cannot be read: %s; write it %s`, parameter, quote(value), timeForms)
	} else if ok {
		return moment{}, errArgument(`%q: no calendar and no clock shows %s`, parameter, quote(value))
	}
	if err != nil {
		return moment{}, errArgument(`%q: %s`, parameter, err)
	}
	m := moment{at: time.Unix(t.Civil.Seconds(), 0).UTC(), date: t.IsDate(), basic: !strings.Contains(value, "-"), local: t.Form == ical.FormZoned}
	if m.local {
		m.at, _ = z.Resolve(t.Civil)
	}
	if t.Form == ical.FormUTC && z.floating {
		return m, errArgument("%q (%s) has an offset, and \"timezone\" says that it is floating: write it without one", parameter, quote(value))
	}
	if t.Form == ical.FormUTC {
		err = z.agrees(parameter, value, m.at, timetext.Written(value, t))
	}
	return m, err
}

// agrees refuses a time of a series whose offset, or Z, is not that of the zone that the call names with it. One event is
// at the moment that was written. A series is at a time of day, which its zone shows on every day: models that put a Z
// behind whatever a person said would have all of it, and all guests, come an hour or two late. The event's own time
// can be given back as it was read.
func (z zoned) agrees(parameter, value string, at time.Time, written ical.Civil) error {
	local, _ := z.Resolve(written)
	if !z.series || z.source != zoneOfArgument || local.Equal(at) || z.Civil(at) == written {
		return nil
	}
	if now, ok := z.seen[strings.TrimPrefix(parameter, "new_")]; ok && now.Equal(at) {
		return nil
	}
	e := errArgument("%q (%s) and \"timezone\" (%s) contradict each other, and a series keeps the time of day", parameter, quote(value), z.Name())
	e.Hint = fmt.Sprintf("write %s if the clocks there shall show %s, or %s if that very moment is meant; or leave out \"timezone\"",
		local.Format(time.RFC3339), local.Format(clockForm), at.In(z.Location()).Format(time.RFC3339))
	return e
}

// clockForm is how times of day are written.
const clockForm = "15:04"

// serves refuses to put a series on a clock that is nothing but an offset.
func (z zoned) serves(t edit.Times, series bool) error {
	start, given := t.Start.Value()
	if !series || !z.Bare() || !given || start.Form != ical.FormUTC {
		return nil
	}
	return errArgument("a series needs the clock of a place, and \"timezone\" %s is only an offset, which knows no summer", quote(z.Name())).
		Advising("name the zone, such as Asia/Tokyo; or UTC, if the series shall keep to that")
}
