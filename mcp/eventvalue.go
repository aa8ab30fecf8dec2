package mcp

import (
	"cmp"
	"fmt"
	"net/mail"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/edit"
	"caldav-mcp-server/calendar/recur"
	"caldav-mcp-server/ical"
	"caldav-mcp-server/mcp/wire"
)

// attendeeOf parses an address, with or without a name, also in the format of attendeeText. Anything else may be a URI,
// which package edit checks.
func attendeeOf(value string) edit.Attendee {
	value, _, role := cutAnswer(value)
	if at, err := mail.ParseAddress(value); err == nil {
		return edit.Attendee{Address: at.Address, Name: at.Name, Role: role}
	}
	return edit.Attendee{Address: value, Role: role}
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
	if at, _ := z.Resolve(civil); !m.local && z.source != zoneOfArgument || !at.Equal(m.at) || z.Bare() ||
		z.Name() == time.UTC.String() {
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

// alarmWords matches a reminder in words: 10 minutes before, 1 hour before end, 1 day after the start.
var (
	alarmWords = regexp.MustCompile(`^((?:\d+ *[a-z]+[ ,]*(?:and )?)+?)(before|after)?(?: *(?:the )?(start|end|due))?$`)
	alarmPart  = regexp.MustCompile(`(\d+) *([a-z]+)`)
	alarmUnits = map[string]int{
		"m": 1, "min": 1, "mins": 1, "minute": 1, "minutes": 1, "h": 60, "hr": 60, "hrs": 60, "hour": 60, "hours": 60,
		"d": 24 * 60, "day": 24 * 60, "days": 24 * 60, "w": 7 * 24 * 60, "week": 7 * 24 * 60, "weeks": 7 * 24 * 60,
	}
)

// alarm parses a reminder. A bare number is minutes before the start.
func (z zoned) alarm(text string) (edit.Alarm, error) {
	said := strings.ToLower(strings.Join(strings.Fields(text), " "))
	if minutes, err := strconv.ParseFloat(said, 64); err == nil && minutes == float64(int(minutes)) {
		return edit.Alarm{Minutes: int(minutes)}, nil
	}
	at, fixed := strings.CutPrefix(said, "at ")
	switch strings.TrimPrefix(at, "the ") {
	case "start", "due":
		return edit.Alarm{}, nil
	case "end":
		return edit.Alarm{FromEnd: true}, nil
	}
	if fixed {
		m, err := z.read("alarms", strings.ToUpper(at))
		if err == nil && m.date {
			err = errArgument(`"alarms": %s is a date: add a time`, wire.Quote(text))
		}
		return edit.Alarm{At: ical.Instant(m.at)}, err
	}
	parts := alarmWords.FindStringSubmatch(said)
	minutes, ok := 0, parts != nil
	if ok {
		minutes, ok = minutesIn(parts[1])
	}
	if !ok {
		return edit.Alarm{}, errArgument(`"alarms" cannot be read: %s; write 10 (minutes before the start), 1 hour `+
			`before end, 1 day after start or at 2026-03-04T09:00`, wire.Quote(text))
	}
	if parts[2] == "after" {
		minutes = -minutes
	}
	return edit.Alarm{Minutes: minutes, FromEnd: parts[3] == "end"}, nil
}

// minutesIn parses a duration such as 1 hour 30 minutes.
func minutesIn(text string) (minutes int, ok bool) {
	for _, part := range alarmPart.FindAllStringSubmatch(text, -1) {
		n, err := strconv.Atoi(part[1])
		unit := alarmUnits[part[2]]
		if err != nil || unit == 0 || n > mostNumber/unit {
			return 0, false
		}
		minutes += n * unit
	}
	return minutes, true
}

// alarmText formats a reminder in a form that alarm parses.
func (z zoned) alarmText(a edit.Alarm) string {
	if !a.At.IsZero() {
		return "at " + time.Unix(a.At.Civil.Seconds(), 0).In(z.Location()).Format(time.RFC3339)
	}
	n, when := a.Minutes, "before"
	if n < 0 {
		n, when = -n, "after"
	}
	side := "start"
	if a.FromEnd {
		side = "end"
	}
	if n == 0 {
		return "at " + side
	}
	for _, unit := range [...]struct {
		name    string
		minutes int
	}{{"day", 24 * 60}, {"hour", 60}, {"minute", 1}} {
		if n%unit.minutes == 0 {
			count := n / unit.minutes
			return fmt.Sprintf("%d %s%s %s %s", count, unit.name, strings.Repeat("s", min(count-1, 1)), when, side)
		}
	}
	return ""
}

// noAnswer is the status of an attendee who has not responded yet (RFC 5545 §3.2.12).
const noAnswer = "NEEDS-ACTION"

// answerWords are the statuses of an attendee of an event.
var answerWords = []string{noAnswer, "ACCEPTED", "DECLINED", "TENTATIVE", "DELEGATED"}

// The words for the role of an attendee, and the roles (RFC 5545 §3.2.16).
const (
	optional, required         = "optional", "required"
	optionalRole, requiredRole = "OPT-PARTICIPANT", "REQ-PARTICIPANT"
)

// cutAnswer splits off the response and the role that attendeeText appends to an attendee. Other words in parentheses
// belong to the address, as in RFC 5322.
func cutAnswer(value string) (attendee, answer, role string) {
	value = strings.TrimSpace(value)
	i := strings.LastIndex(value, "(")
	if i <= 0 || !strings.HasSuffix(value, ")") {
		return value, "", ""
	}
	for word := range strings.SplitSeq(value[i+1:len(value)-1], ",") {
		word = strings.TrimSpace(word)
		switch upper := strings.ToUpper(word); {
		case strings.EqualFold(word, optional):
			role = optionalRole
		case strings.EqualFold(word, required):
			role = requiredRole
		case word == upper || slices.Contains(answerWords, upper):
			answer = upper
		default:
			return value, "", ""
		}
	}
	return strings.TrimSpace(value[:i]), answer, role
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
