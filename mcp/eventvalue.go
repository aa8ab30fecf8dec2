package mcp

import (
	"fmt"
	"net/mail"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

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
