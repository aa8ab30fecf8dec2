package edit

import (
	"cmp"
	"slices"
	"strings"

	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/ical"
)

// Alarm is a reminder this many minutes before the start, or after it if negative. For a task without a start, it
// counts from the due time.
type Alarm struct {
	Minutes int
	// FromEnd makes it count from the end.
	FromEnd bool
	// At is an absolute time in UTC, used in place of Minutes.
	At ical.Time
}

// usual reports whether [AlarmsOf] lists the reminder.
func (a Alarm) usual(bound anchor) bool {
	return a.At.IsZero() && (a.FromEnd == (bound == fromEnd))
}

// alarmMost is a year, the longest time before the start.
const alarmMost = 366 * 24 * 60

// anchor is the time that a reminder counts from, as in RELATED (RFC 5545 §3.2.14).
type anchor string

const (
	fromStart anchor = "START"
	fromEnd   anchor = "END"
)

// anchorOf returns the default anchor of a component's reminders. RFC 5545 §3.8.6.3: to count from the start, it needs
// a DTSTART, and a task may have only a DUE.
func anchorOf(c *ical.Component) anchor {
	if c.Name() == content.Todo && c.Property("DTSTART") == nil && c.Property("DUE") != nil {
		return fromEnd
	}
	return fromStart
}

// AlarmsOf lists the reminders relative to a component's start, or to its due time if it has no start.
func AlarmsOf(c *ical.Component) []Alarm {
	usual, _ := alarmsOf(c)
	return usual
}

// OtherAlarmsOf lists the reminders at a fixed time and those relative to the end. A component may have more: at a
// place, or Apple's placeholder that never rings.
func OtherAlarmsOf(c *ical.Component) []Alarm {
	_, others := alarmsOf(c)
	return others
}

func alarmsOf(c *ical.Component) (usual, others []Alarm) {
	bound := anchorOf(c)
	for _, alarm := range c.AllComponents("VALARM") {
		switch a, ok := alarmOf(alarm, bound); {
		case !ok:
		case a.usual(bound):
			a.FromEnd = false // implied by the component
			usual = append(usual, a)
		default:
			others = append(others, a)
		}
	}
	return usual, others
}

func alarmOf(c *ical.Component, bound anchor) (Alarm, bool) {
	trigger := c.Property("TRIGGER")
	if trigger == nil || content.WordOf(c, "ACTION") == "NONE" || c.Property("X-APPLE-PROXIMITY") != nil ||
		c.Property("PROXIMITY") != nil {
		return Alarm{}, false
	}
	if at, err := trigger.Time(); err == nil && at.Form == ical.FormUTC {
		return Alarm{At: at}, true
	}
	related, _ := trigger.Param("RELATED")
	of := anchor(cmp.Or(strings.ToUpper(related), string(fromStart)))
	if of != fromStart && of != fromEnd || bound == fromEnd && of == fromStart {
		return Alarm{}, false
	}
	d, err := trigger.Duration()
	if err != nil {
		return Alarm{}, false
	}
	seconds := int64(d.NominalDays())*secondsPerDay + d.ExactSeconds()
	return Alarm{Minutes: int(-seconds / 60), FromEnd: of == fromEnd}, seconds%60 == 0
}

// component returns the VALARM of a reminder. RFC 5545 §3.6.6: a displayed reminder needs a DESCRIPTION.
func (a Alarm) component(title string) *ical.Component {
	if title == "" {
		title = "Reminder"
	}
	c := ical.NewComponent("VALARM")
	c.Add(ical.NewProperty("ACTION", "DISPLAY"))
	c.Add(ical.NewText("DESCRIPTION", title))
	if !a.At.IsZero() {
		trigger := ical.NewProperty("TRIGGER", a.At.String())
		trigger.SetParam("VALUE", "DATE-TIME")
		c.Add(trigger)
		return c
	}
	trigger := ical.NewProperty("TRIGGER",
		ical.Duration{Negative: a.Minutes > 0, Seconds: 60 * int64(max(a.Minutes, -a.Minutes))}.String())
	if a.FromEnd {
		trigger.SetParam("RELATED", string(fromEnd))
	}
	c.Add(trigger)
	return c
}

// alarmed replaces the list of reminders. Reminders that stay keep their bytes.
func alarmed(f Field[[]Alarm]) func(*ical.Component) error {
	return func(c *ical.Component) error {
		given, is := f.Value()
		bound := anchorOf(c)
		list := make([]Alarm, len(given))
		others := is && len(given) == 0
		for i, a := range given {
			if a.At.IsZero() && bound == fromEnd {
				a.FromEnd = true
			}
			list[i], others = a, others || !a.usual(bound)
			if max(a.Minutes, -a.Minutes) > alarmMost {
				return fault(BadField, "a reminder %d minutes before the start is more than a year away", a.Minutes)
			}
			if a.At.IsZero() && c.Property("DTSTART") == nil && c.Property("DUE") == nil {
				return fault(BadField, "a reminder needs a date, and this task has none").
					hint("give the task a due date, too")
			}
		}
		missing := slices.Clone(list)
		slices.SortStableFunc(missing, func(a, b Alarm) int { return b.Minutes - a.Minutes })
		for _, component := range c.AllComponents("VALARM") {
			a, ok := alarmOf(component, bound)
			if !ok || !a.usual(bound) && !others {
				continue
			}
			if i := slices.Index(missing, a); i >= 0 {
				missing = slices.Delete(missing, i, i+1)
			} else if !slices.Contains(list, a) {
				c.RemoveComponent(component)
			}
		}
		for i, a := range missing {
			if !slices.Contains(missing[:i], a) {
				c.AddComponent(a.component(content.TextOf(c, "SUMMARY")))
			}
		}
		return nil
	}
}

// shiftAlarms moves the reminders at a fixed time together with their component. It skips Apple's placeholder, whose
// ACTION is NONE and whose time means nothing.
func shiftAlarms(c *ical.Component, seconds int64) {
	for _, alarm := range c.AllComponents("VALARM") {
		trigger := alarm.Property("TRIGGER")
		if seconds == 0 || trigger == nil || content.WordOf(alarm, "ACTION") == "NONE" {
			continue
		}
		if t, err := trigger.Time(); err == nil && t.Form == ical.FormUTC {
			trigger.SetTime(ical.UTC(t.Civil.AddSeconds(seconds)))
		}
	}
}
