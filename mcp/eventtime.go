package mcp

import (
	"cmp"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/edit"
	"caldav-mcp-server/ical"
	"caldav-mcp-server/mcp/wire"
)

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
		return start, end, errArgument(`"start" is a date, and "duration_minutes" (%d) is not a whole number of `+
			`days: give a time, or 1440 for each day`, minutes)
	}
	end.at, end.basic = start.at.AddDate(0, 0, days), true
	return start, end, nil
}

// draftOf returns the event that a call describes.
func (b toolbox) draftOf(c *call, in *newEvent, z zoned) (edit.Draft, error) {
	d := edit.Draft{Kind: string(calendar.Event), UID: string(c.uid)}
	z = z.repeating(in.recurs())
	if err := b.land(&in.eventValues, z); err != nil {
		return d, err
	}
	start, end, err := in.span(z)
	if err != nil {
		return d, err
	}
	end.local = start.local // both are in the same time zone
	if err := in.checkAnswers(nil); err != nil {
		return d, err
	}
	if d.Fields, err = in.fields(z, nil); err != nil {
		return d, err
	}
	d.Times = edit.Times{Start: edit.To(z.onClock(start)), End: edit.To(z.onClock(end))}
	if in.away != nil {
		d.Times.End, err = in.landing(end)
	}
	if err != nil {
		return d, err
	}
	return d, z.serves(d.Times, in.recurs())
}

// land finds the time zone of the event's end, if the call gives one.
func (b toolbox) land(in *eventValues, z zoned) error {
	if in.endZone == "" {
		return nil
	}
	there, err := b.zones.Ask(in.endZone)
	if err != nil {
		return errArgument(`"end_timezone": %s`, err)
	}
	if z.floating {
		return errArgument(`"end_timezone" is a zone, and "timezone" says that the event has none`)
	}
	in.away = &zoned{Zone: there, source: zoneOfArgument, series: z.series}
	return nil
}

// landing is the end of an event in its own time zone.
func (in *eventValues) landing(end moment) (edit.Field[ical.Time], error) {
	if end.date {
		return edit.Field[ical.Time]{},
			errArgument(`"end_timezone" is for events with times: this one takes whole days`)
	}
	return edit.To(in.away.onClock(end)), nil
}

// patchedTimes returns the times of a call that may give any of start, end and duration.
func (b toolbox) patchedTimes(s subject, in *eventValues) (edit.Times, error) {
	if err := b.land(in, s.zone); err != nil {
		return edit.Times{}, err
	}
	t, err := s.newTimes(in)
	if err != nil || in.away == nil {
		return t, err
	}
	end, err := s.endOf(in)
	if err != nil {
		return t, err
	}
	t.EndAsGiven = true
	t.End, err = in.landing(end)
	return t, err
}

// endOf returns the end for a call that gives end_timezone, possibly without an end.
func (s subject) endOf(in *eventValues) (moment, error) {
	start, _ := in.start.Value()
	value, _ := in.end.Value()
	minutes, lasts := in.minutes.Value()
	if start != "" && (value != "" || lasts) {
		_, end, err := in.span(s.zone)
		return end, err
	}
	if value != "" {
		return in.away.read("end", value)
	}
	end := moment{at: s.found.End.Time, date: s.found.End.AllDay}
	if lasts {
		end.at = s.found.Start.Time.Add(time.Duration(minutes) * time.Minute)
	}
	if start != "" {
		m, err := s.zone.read("start", start)
		if err != nil {
			return end, err
		}
		end.at = end.at.Add(m.at.Sub(s.found.Start.Time))
	}
	return end, nil
}

// newTimes returns the times that a call gives, in the time zone of the call.
func (s subject) newTimes(in *eventValues) (edit.Times, error) {
	if minutes, lasts := in.minutes.Value(); lasts && in.start.Left() {
		if !in.end.Left() {
			return edit.Times{}, errArgument(`give "end" or "duration_minutes", not both`)
		}
		if s.found.Start.AllDay && minutes%minutesOfDay != 0 {
			return edit.Times{},
				errArgument(`the event takes whole days, and "duration_minutes" (%d) is not a whole `+
					`number of days`, minutes)
		}
		end := moment{
			at: s.found.Start.Time.Add(time.Duration(minutes) * time.Minute), date: s.found.Start.AllDay,
			basic: true, local: s.found.Start.Floating,
		}
		return s.zone.movedTo(s.found.Start, nil, &end), nil
	}
	if !in.start.Left() && (!in.end.Left() || !in.minutes.Left()) {
		start, end, err := in.span(s.zone)
		return s.zone.movedTo(s.found.Start, &start, &end), err
	}
	if in.away != nil {
		return s.oneTime("start", in.start, "end", edit.Field[string]{})
	}
	if allDay, given := in.allDay.Value(); given && allDay != s.found.Start.AllDay {
		return edit.Times{}, errArgument(`"all_day" changes the form of start and end: give both, too`)
	}
	return s.oneTime("start", in.start, "end", in.end)
}

// oneTime parses a start and an end; either may be missing.
func (s subject) oneTime(from string, start edit.Field[string], to string, end edit.Field[string]) (edit.Times, error) {
	var given [2]*moment
	for i, side := range [...]struct {
		name string
		edit.Field[string]
	}{{from, start}, {to, end}} {
		value, ok := side.Value()
		if !ok {
			continue
		}
		m, err := s.zone.read(side.name, value)
		if err != nil {
			return edit.Times{}, err
		}
		if side.name == to {
			m = m.behind()
		}
		given[i] = &m
	}
	return s.zone.movedTo(s.found.Start, given[0], given[1]), nil
}
