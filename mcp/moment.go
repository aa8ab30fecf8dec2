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
	"caldav-mcp-server/mcp/wire"
)

// zoneSource is the source of a call's time zone.
type zoneSource string

// The sources; the first that names a zone wins.
const (
	zoneOfArgument zoneSource = "argument"
	zoneOfUser     zoneSource = "user"
	zoneOfCalendar zoneSource = "calendar"
	zoneOfNobody   zoneSource = "default"
)

// zoned is the time zone of a call, for its local times and its results.
type zoned struct {
	*zone.Zone
	source zoneSource
	// seen are the current times of the call's event or task, by parameter: see agrees.
	seen map[string]time.Time
	// floating is set if the call writes floating times.
	floating bool
	// series is set if the times apply to more than one instance: see agrees.
	series bool
}

// repeating returns the zone for times of a series, if series is set.
func (z zoned) repeating(series bool) zoned {
	z.series = z.series || series
	return z
}

// inZone holds the parameter of tools that take or return local times. The instructions explain its default.
type inZone struct{ timezone string }

func (in *inZone) takesZone() field {
	return wordTo(&in.timezone, "timezone", "")
}

// takesZoneKept is for tools that change objects which already have a time zone.
func (in *inZone) takesZoneKept() field {
	return wordTo(&in.timezone, "timezone", "Or floating.")
}

// floating is the parameter's value for floating times.
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

// zoneFor returns the time zone of a call, which may be about one calendar. Only an unknown zone in an argument is an
// error; an unknown zone in a setting is skipped.
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

// usualZone is the time zone of a call that names none.
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

// moment is a time in an argument.
type moment struct {
	at time.Time
	// date marks an all-day date: at is midnight UTC at its start.
	date bool
	// basic marks a date in iCalendar's format, where an end is the day after the last.
	basic bool
	// local is set if the call gave a local time; at is that time in the zone of the call.
	local bool
}

// behind is the exclusive end. People, and our lists, give the last day as 2026-03-02; iCalendar gives the day after
// it, as 20260303 (RFC 5545 §3.6.1).
func (m moment) behind() moment {
	if m.date && !m.basic {
		return m.next()
	}
	return m
}

// next is the day after a date.
func (m moment) next() moment {
	m.at, m.basic = m.at.AddDate(0, 0, 1), true
	return m
}

// readSpan parses the start and the end of an event.
func (z zoned) readSpan(from, to string) (start, end moment, err error) {
	if start, err = z.read("start", from); err != nil {
		return start, end, err
	}
	if end, err = z.read("end", to); err != nil {
		return start, end, err
	}
	if start.date != end.date {
		return start, end, errArgument(`"start" is %s and "end" is %s: give two dates for an all-day event,`+
			` or two times`, wire.Quote(from), wire.Quote(to))
	}
	// The same day as start and end means that day, in either format.
	if start.date && start.at.Equal(end.at) {
		return start, end.next(), nil
	}
	end = end.behind()
	if start.date && !end.at.After(start.at) {
		return start, end, errArgument(`"end" (%s) must not be before "start" (%s)`, wire.Quote(to), wire.Quote(from))
	}
	return start, end, nil
}

// read parses the time in a parameter, in any of the formats. A local time during a clock change may not exist or may
// occur twice. Then read returns an error, and the caller must choose an instant.
func (z zoned) read(parameter, value string) (moment, error) {
	value = strings.TrimSpace(value)
	t, err := timetext.Parse(value, z.Zone)
	if unreadable, ok := errors.AsType[*timetext.Error](err); ok && !unreadable.Impossible {
		return moment{}, errArgument(`%q cannot be read: %s; write it %s`, parameter, wire.Quote(value), timeForms)
	} else if ok {
		return moment{}, errArgument(`%q: there is no such date or time as %s`, parameter, wire.Quote(value))
	}
	if err != nil {
		return moment{}, errArgument(`%q: %s`, parameter, err)
	}
	m := moment{at: time.Unix(t.Civil.Seconds(), 0).UTC(), date: t.IsDate(), basic: !strings.Contains(value, "-"),
		local: t.Form == ical.FormZoned}
	if m.local {
		m.at, _ = z.Resolve(t.Civil)
	}
	if t.Form == ical.FormUTC && z.floating {
		return m, errArgument("%q (%s) has an offset, and \"timezone\" says that it is floating: write it without one",
			parameter, wire.Quote(value))
	}
	if t.Form == ical.FormUTC {
		err = z.agrees(parameter, value, m.at, timetext.Written(value, t))
	}
	return m, err
}

// agrees refuses a time of a series whose offset, or Z, differs from the time zone in the same call. A single event is
// at the given instant. A series keeps its local time: a model that appends Z to a local time would make the whole
// series start an hour or two late for all attendees. The event's current time is always accepted.
func (z zoned) agrees(parameter, value string, at time.Time, written ical.Civil) error {
	local, _ := z.Resolve(written)
	if !z.series || z.source != zoneOfArgument || local.Equal(at) || z.Civil(at) == written {
		return nil
	}
	if now, ok := z.seen[strings.TrimPrefix(parameter, "new_")]; ok && now.Equal(at) {
		return nil
	}
	e := errArgument("%q (%s) and \"timezone\" (%s) contradict each other, and a series keeps the time of day",
		parameter, wire.Quote(value), z.Name())
	e.Hint = fmt.Sprintf("write %s if clocks there should show %s, or %s for exactly that moment; or leave out "+
		"\"timezone\"",
		local.Format(time.RFC3339), local.Format(clockForm), at.In(z.Location()).Format(time.RFC3339))
	return e
}

// clockForm is the format of a time of day.
const clockForm = "15:04"

// serves refuses a series whose time zone is only an offset.
func (z zoned) serves(t edit.Times, series bool) error {
	start, given := t.Start.Value()
	if !series || !z.Bare() || !given || start.Form != ical.FormUTC {
		return nil
	}
	return errArgument("a series needs a named time zone, and \"timezone\" %s is only an offset, without daylight "+
		"saving time", wire.Quote(z.Name())).
		Advising("name the zone, such as Asia/Tokyo; or UTC, if the series stays in UTC")
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
		end := moment{at: s.found.Start.Time.Add(time.Duration(minutes) * time.Minute), date: s.found.Start.AllDay,
			basic: true, local: s.found.Start.Floating}
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
