package planner

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"caldav-mcp-server/calendar/quickadd"
	"caldav-mcp-server/calendar/recur"
	"caldav-mcp-server/ical"
)

// Quick fills a form from one line, such as "Lunch with Ana Friday 13:00". It returns the parts that it understood, for
// the visitor to check. Without a day in the line, the event takes place on the form's day.
func (p *Planner) Quick(line string, f *EventForm, calendars []SideCalendar) []Choice {
	names := make([]string, len(calendars))
	for i, cal := range calendars {
		names[i] = cal.Name
	}
	read := quickadd.Reader{
		Now: p.here(
			p.Now,
		),
		Zone:      p.Zone,
		Language:  p.Language.Tag(),
		WeekStart: p.Caller.User.FirstDay(),
		Calendars: names,
	}.Read(line)
	f.Title, f.Location, f.Guests = oneLine(read.Title), oneLine(read.Place), strings.Join(read.Guests, "\n")
	if !read.Start.IsZero() {
		f.AllDay = read.AllDay()
		start, end := read.Start.Civil, read.End.Civil
		if f.AllDay {
			end = end.AddDays(-1)
		}
		f.setTimes(wall(start), wall(end))
	}
	if at := slices.Index(names, read.Calendar); read.Calendar != "" && at >= 0 {
		f.Calendar = calendars[at].ID
	}
	if read.Reminder >= 0 {
		f.Alarms = []string{strconv.Itoa(int(read.Reminder / time.Minute))}
	}
	if read.Repeat != nil {
		f.repeatAs(*read.Repeat, recur.Moment{Time: wall(read.Start.Civil), AllDay: true}, p)
	}
	parts := make([]Choice, len(read.Parts))
	for i, part := range read.Parts {
		parts[i] = Choice{part.Text, p.text("planner.quick." + quickIDs[part.Kind])}
	}
	return parts
}

// quickIDs are the kinds of parts in the ids of texts.
var quickIDs = map[quickadd.Kind]string{
	quickadd.Day: "day", quickadd.Time: "time", quickadd.Duration: "duration", quickadd.Repeat: "repeat",
	quickadd.Until: "until", quickadd.Times: "times", quickadd.Place: "place", quickadd.Guest: "guest",
	quickadd.Remind: "reminder", quickadd.Calendar: "calendar",
}

// wall returns a local time for a form, where no clock changes.
func wall(c ical.Civil) time.Time { return time.Unix(c.Seconds(), 0).UTC() }

// repeatAs sets how a new event repeats. A rule that the form cannot express is left out.
func (f *EventForm) repeatAs(rule ical.Recur, start recur.Moment, p *Planner) {
	component := ical.NewComponent("VEVENT")
	component.Add(ical.NewProperty("RRULE", rule.String()))
	if r := p.repeatOf(component, start); r.Freq != keptRule {
		f.Repeat = r
	}
}
