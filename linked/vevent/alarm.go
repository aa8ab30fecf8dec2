package vevent

import (
	"slices"
	"strings"

	"caldav-mcp-server/ical"
)

// Before returns how many minutes before the start an alarm fires; false if it fires at other times.
func Before(alarm *ical.Component) (int, bool) {
	p := alarm.Property("TRIGGER")
	if p == nil || alarm.Property("REPEAT") != nil || p.ValueType() == "DATE-TIME" ||
		Word(p, "RELATED", "START") != "START" {
		return 0, false
	}
	d, err := p.Duration()
	if err != nil {
		return 0, false
	}
	seconds := -(int64(d.NominalDays())*24*60*60 + d.ExactSeconds())
	if seconds < 0 || seconds%60 != 0 {
		return 0, false
	}
	return int(seconds / 60), true
}

// Alarm makes an alarm so many minutes before the start. A mail alarm has an address.
func Alarm(minutes int, title, address string) *ical.Component {
	c := ical.NewComponent("VALARM")
	if title == "" {
		title = "Reminder"
	}
	action := "DISPLAY"
	if address != "" {
		action = "EMAIL"
	}
	c.Add(ical.NewProperty("ACTION", action))
	c.Add(ical.NewProperty("TRIGGER", ical.Duration{Negative: minutes > 0, Seconds: int64(minutes) * 60}.String()))
	c.Add(ical.NewText("DESCRIPTION", title))
	if address != "" {
		c.Add(ical.NewText("SUMMARY", title))
		c.Add(Person("ATTENDEE", address, ""))
	}
	return c
}

// Mailed reports whether an alarm is a mail, and whether it has any visible effect.
func Mailed(alarm *ical.Component) (mailed, noticed bool) {
	p := alarm.Property("ACTION")
	if p == nil {
		return false, false
	}
	action := strings.ToUpper(p.Value())
	return action == "EMAIL", slices.Contains([]string{"EMAIL", "DISPLAY", "AUDIO"}, action)
}
