package edit

import (
	"caldav-mcp-server/calendar/recur"
	"caldav-mcp-server/calendar/zone"
	"caldav-mcp-server/ical"
)

const secondsPerDay = 24 * 3600

// reader interprets the times of one object.
type reader struct {
	zones recur.Zones
	// floating is the zone for whole days and floating times.
	floating *zone.Zone
}

// clock is a wall clock, and the form of the times on it.
type clock struct {
	form ical.Form
	tzid string
	zone *zone.Zone
}

// clock returns the clock of a written time.
func (r reader) clock(t ical.Time) (clock, error) {
	c := clock{form: t.Form, tzid: t.TZID, zone: r.floating}
	switch t.Form {
	case ical.FormUTC:
		c.zone = zone.UTC()
	case ical.FormZoned:
		z, err := r.zones.Zone(t.TZID)
		if err != nil {
			return c, fault(BadTime, "%v", err)
		}
		c.zone = z
	case ical.FormDate, ical.FormFloating:
	}
	return c, nil
}

// instant returns a time in seconds since 1970.
func (r reader) instant(t ical.Time) (int64, error) {
	c, err := r.clock(t)
	return c.unix(t.Civil), err
}

func (c clock) unix(civil ical.Civil) int64 {
	if c.zone == nil {
		return 0
	}
	unix, _ := c.zone.Unix(civil.Seconds())
	return unix
}

// write returns the time when the clock shows civil.
func (c clock) write(civil ical.Civil) ical.Time {
	if c.form == ical.FormDate {
		civil = civil.Date()
	}
	return ical.Time{Civil: civil, Form: c.form, TZID: c.tzid}
}

// at writes an instant. If a clock shows an hour twice, a local time means the first one (RFC 5545 §3.3.5), so the
// second is written in UTC.
func (c clock) at(unix int64) ical.Time {
	civil := ical.CivilFromSeconds(c.zone.Wall(unix))
	if c.form != ical.FormDate && c.unix(civil) != unix {
		return ical.UTC(ical.CivilFromSeconds(unix))
	}
	return c.write(civil)
}

// on converts a time to wall-clock time on c. Dates and floating times are the same on any clock.
func (r reader) on(c clock, t ical.Time) (ical.Civil, error) {
	if t.IsDate() || t.Form == ical.FormFloating || c.form == t.Form && c.tzid == t.TZID {
		return t.Civil, nil
	}
	unix, err := r.instant(t)
	if err != nil {
		return ical.Civil{}, err
	}
	civil := ical.CivilFromSeconds(c.zone.Wall(unix))
	if c.form == ical.FormDate && civil.SecondOfDay() != 0 {
		// Exchange writes the days of a series of whole days as local midnight in UTC; other clients write the date
		// with an arbitrary time.
		return t.Civil.Date(), nil
	}
	return civil, nil
}

// rewrite converts a time to an event's clock: the instant if the clock shows times, the date if it shows days. A
// floating time is taken as a time on that clock.
func (r reader) rewrite(c clock, t ical.Time) (ical.Time, error) {
	if t.IsDate() != (c.form == ical.FormDate) {
		if t.IsDate() {
			return t, fault(BadTime, "%s is a date, but the event has times", t).
				hint("give a time, or say that the event takes whole days now")
		}
		return t, fault(BadTime, "%s is a time, but the event takes whole days", t).
			hint("give a date, or say that the event has times now")
	}
	if t.IsDate() || t.Form == ical.FormFloating || t.Form == c.form && t.TZID == c.tzid {
		return c.write(t.Civil), nil
	}
	unix, err := r.instant(t)
	return c.at(unix), err
}
