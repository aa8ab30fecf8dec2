package mcp

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"caldav-mcp-server/calendar/edit"
	"caldav-mcp-server/ical"
	"caldav-mcp-server/mcp/wire"
)

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
		return edit.Alarm{}, errArgument(`"alarms" cannot be read: %s; write 10 (minutes before the start), 1 hour before end, 1 day after start or at 2026-03-04T09:00`, wire.Quote(text))
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
