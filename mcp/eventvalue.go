package mcp

import (
	"cmp"
	"net/mail"
	"time"

	"caldav-mcp-server/calendar/edit"
	"caldav-mcp-server/calendar/recur"
	"caldav-mcp-server/ical"
	"caldav-mcp-server/mcp/wire"
)

// attendeeOf parses an address, with or without a name, also in the format of attendeeText. Anything else may be a URI,
// which package edit checks.
func attendeeOf(value string) edit.Attendee {
	value, _ = cutAnswer(value)
	if at, err := mail.ParseAddress(value); err == nil {
		return edit.Attendee{Address: at.Address, Name: at.Name}
	}
	return edit.Attendee{Address: value}
}

// span parses start and end, and turns them into dates if all_day is set.
func (in *eventValues) span(z zoned) (start, end moment, err error) {
	from, _ := in.start.Value()
	to, _ := in.end.Value()
	if start, end, err = in.sides(z, from, to); err != nil {
		return start, end, err
	}
	allDay, given := in.allDay.Value()
	if start.date && given && !allDay {
		return start, end, errArgument(`"all_day" is false, but "start" is a date: give times`)
	}
	if allDay {
		start, end = z.day(start), z.dayBehind(end)
		if !end.at.After(start.at) {
			end.at = start.at.AddDate(0, 0, 1)
		}
	}
	if end.at.Before(start.at) {
		return start, end, errArgument(`"end" (%s) must be after "start" (%s)`, wire.Quote(to), wire.Quote(from))
	}
	return start, end, nil
}

// sides parses the start. The end is parsed in its own time zone, or follows from the duration: by default an hour, or
// the whole day.
func (in *eventValues) sides(z zoned, from, to string) (start, end moment, err error) {
	minutes, lasts := in.minutes.Value()
	if to != "" && lasts {
		return start, end, errArgument(`give "end" or "duration_minutes", not both`)
	}
	if to != "" && in.away == nil {
		return z.readSpan(from, to)
	}
	if start, err = z.read("start", from); err != nil {
		return start, end, err
	}
	if to != "" {
		end, err = in.away.read("end", to)
		if err == nil && (end.date || start.date) {
			err = errArgument(`"end_timezone" is for events with times: this one takes whole days`)
		}
		return start, end, err
	}
	if end = start; !start.date {
		end.at = start.at.Add(time.Duration(cmp.Or(minutes, usualMinutes)) * time.Minute)
		return start, end, nil
	}
	days := cmp.Or(minutes, minutesOfDay) / minutesOfDay
	if minutes%minutesOfDay != 0 {
		return start, end, errArgument(`"start" is a date, and "duration_minutes" (%d) is not a whole number of days: give a time, or 1440 for each day`, minutes)
	}
	end.at, end.basic = start.at.AddDate(0, 0, days), true
	return start, end, nil
}

const (
	minutesOfDay = 24 * 60
	// usualMinutes is the default duration of an event.
	usualMinutes = 60
)

// day is the date of a moment in the zone of the call.
func (z zoned) day(m moment) moment {
	if m.date {
		return m
	}
	return moment{at: time.Unix(z.Civil(m.at).Date().Seconds(), 0).UTC(), date: true}
}

// dayBehind is the exclusive end of an all-day event that lasts until a moment. Midnight ends the previous day.
func (z zoned) dayBehind(m moment) moment {
	end := z.day(m)
	if !m.date && z.Civil(m.at).SecondOfDay() != 0 {
		end.at = end.at.AddDate(0, 0, 1)
	}
	return end
}

// onClock converts a moment to a time in the zone of the call, if the time was local or the call names the zone. The
// second of two repeated hours cannot be written as a local time (RFC 5545 §3.3.5), so it stays in UTC. So does a time
// whose zone would be only an offset.
func (z zoned) onClock(m moment) ical.Time {
	utc := ical.Instant(m.at)
	if m.date {
		return ical.Date(utc.Civil)
	}
	civil := z.Civil(m.at)
	if z.floating {
		return ical.Floating(civil)
	}
	if at, _ := z.Resolve(civil); !m.local && z.source != zoneOfArgument || !at.Equal(m.at) || z.Bare() || z.Name() == time.UTC.String() {
		return utc
	}
	return ical.Zoned(civil, z.Name())
}

// movedTo returns the edit that gives an event new times. They keep the event's time zone, unless it changes between
// all-day and timed.
func (z zoned) movedTo(was recur.Moment, start, end *moment) edit.Times {
	var t edit.Times
	for _, f := range [...]struct {
		m    *moment
		into *edit.Field[ical.Time]
	}{{start, &t.Start}, {end, &t.End}} {
		switch {
		case f.m == nil:
		case was.Floating && f.m.local:
			*f.into = edit.To(ical.Floating(z.Civil(f.m.at)))
		default:
			*f.into = edit.To(z.onClock(*f.m))
		}
	}
	t.AsGiven = start != nil && end != nil && start.date != was.AllDay || z.floating && start != nil && !was.Floating
	return t
}
