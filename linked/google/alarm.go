package google

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"caldav-mcp-server/calendar/mirror"
	"caldav-mcp-server/ical"
	"caldav-mcp-server/linked/vevent"
)

const (
	popup = "popup"
	email = "email"
	// Google's limits.
	mostReminders = 5
	mostMinutes   = 40_320
)

// reminders returns the effective reminders of an event.
func reminders(e *Event, cal Calendar) []Reminder {
	switch {
	case e.Reminders == nil:
		return nil
	case e.Reminders.Default:
		return cal.Reminders
	default:
		return e.Reminders.Overrides
	}
}

func alarms(e *Event, cal Calendar) (list []*ical.Component) {
	for _, r := range reminders(e, cal) {
		list = append(list, alarm(r, e, cal))
	}
	return list
}

func alarm(r Reminder, e *Event, cal Calendar) *ical.Component {
	address := ""
	if r.Method == email {
		address = cmp.Or(cal.Self, "me@localhost")
	}
	return vevent.Alarm(r.Minutes, e.Summary, address)
}

// alarms writes reminders as alarms. It uses the originally written alarm if it means the same, and marks the
// calendar's default reminders.
func (w writer) alarms(c *ical.Component, e *Event, kept *ical.Component) {
	if e.Reminders != nil && e.Reminders.Default {
		c.Add(ical.NewText(reminderName, inWords(w.cal.Reminders)))
	}
	all := slices.Clone(reminders(e, w.cal))
	written := kept.AllComponents("VALARM")
	for _, r := range all {
		at := slices.IndexFunc(written, func(a *ical.Component) bool {
			found, ok := reminderOf(a)
			return ok && found == r
		})
		if at < 0 {
			c.AddComponent(alarm(r, e, w.cal))
			continue
		}
		c.AddComponent(written[at].Clone())
		written = slices.Delete(written, at, at+1)
	}
	for _, a := range written {
		if _, ok := reminderOf(a); !ok {
			c.AddComponent(a.Clone())
		}
	}
}

// inWords encodes a list of reminders as one word, to recognize it later.
func inWords(list []Reminder) string {
	if len(list) == 0 {
		return "DEFAULT"
	}
	words := make([]string, 0, len(list))
	for _, r := range list {
		words = append(words, r.Method+" "+strconv.Itoa(r.Minutes))
	}
	slices.Sort(words)
	return "DEFAULT " + strings.Join(slices.Compact(words), " ")
}

// reminderOf converts an alarm; false if Google has no equivalent reminder.
func reminderOf(alarm *ical.Component) (Reminder, bool) {
	minutes, ok := vevent.Before(alarm)
	mailed, noticed := vevent.Mailed(alarm)
	if !ok || !noticed || minutes > mostMinutes {
		return Reminder{}, false
	}
	if mailed {
		return Reminder{Method: email, Minutes: minutes}, true
	}
	return Reminder{Method: popup, Minutes: minutes}, true
}

// reminders converts alarms. Those without an equivalent reminder are kept as lines.
func (r *reader) reminders(c *ical.Component, e *Event) error {
	var list []Reminder
	for _, a := range c.AllComponents("VALARM") {
		if found, ok := reminderOf(a); ok && !slices.Contains(list, found) {
			list = append(list, found)
		}
	}
	if p := c.Property(reminderName); p != nil && p.Text() == inWords(list) {
		e.Reminders = &Reminders{Default: true}
		return nil
	}
	if len(list) > mostReminders {
		return mirror.Refusef("Google keeps %d reminders of an event, and this one has %d. Remove some.", mostReminders,
			len(list))
	}
	e.Reminders = &Reminders{Overrides: list}
	return nil
}

// String is for tests and logs.
func (r Reminder) String() string { return fmt.Sprintf("%s %d", r.Method, r.Minutes) }
