package letter

import (
	"fmt"
	"strings"
	"time"

	"caldav-mcp-server/calendar/recur"
	"caldav-mcp-server/ical"
)

// repeats describes the recurrence of an event, and returns when all of it is over.
func (s *source) repeats(c *ical.Component, first when) (words string, end time.Time) {
	if first.known {
		end = first.end
	}
	p := c.Property("RRULE")
	if p == nil {
		if dates := c.All("RDATE"); len(dates) > 0 {
			return "on several days", s.end(end)
		}
		return "", end
	}
	rule, err := p.Recur()
	if err != nil || len(c.All("RRULE")) > 1 || len(c.All("RDATE")) > 0 {
		return "as the calendar file says", s.end(end)
	}
	return s.ruleWords(rule, first), s.end(end)
}

// spanSteps limits the search for the end of a series.
const spanSteps = 20_000

// end returns the end of the last instance; zero if there is none, or if it is too far away.
func (s *source) end(first time.Time) time.Time {
	set, err := recur.FromComponents(s.series.Master, s.series.Overrides, s.clock.Zones, s.local.Location())
	if err != nil {
		return first
	}
	span, ok := set.Span(spanSteps)
	if !ok || span.Open {
		return time.Time{}
	}
	return span.End
}

var units = map[ical.Frequency][2]string{
	ical.Secondly: {"second", "seconds"}, ical.Minutely: {"minute", "minutes"}, ical.Hourly: {"hour", "hours"},
	ical.Daily: {"day", "days"}, ical.Weekly: {"week", "weeks"}, ical.Monthly: {"month", "months"},
	ical.Yearly: {"year", "years"},
}

// ruleWords describes a recurrence rule. A rule that is too complex for a sentence becomes only its frequency.
func (s *source) ruleWords(r ical.Recur, first when) string {
	unit, ok := units[r.Freq]
	if !ok {
		return "as the calendar file says"
	}
	words := "every " + unit[0]
	if r.Interval > 1 {
		words = fmt.Sprintf("every %d %s", r.Interval, unit[1])
	}
	if days := dayWords(r); days != "" {
		words += " on " + days
	}
	switch {
	case r.Count > 0:
		words += fmt.Sprintf(", %d times", r.Count)
	case !r.Until.IsZero():
		words += ", until " + s.until(r.Until, first)
	}
	return words
}

// until describes the last day of a rule in the event's zone.
func (s *source) until(t ical.Time, first when) string {
	if t.Form == ical.FormUTC && first.known {
		if at, err := s.clock.At(t); err == nil {
			return time.Unix(at, 0).In(first.start.Location()).Format(dayForm)
		}
	}
	return time.Date(t.Civil.Year, t.Civil.Month, t.Civil.Day, 0, 0, 0, 0, time.UTC).Format(dayForm)
}

// dayWords describes the days of a rule, if that makes a short sentence.
func dayWords(r ical.Recur) string {
	plain := len(r.ByMonth)+len(r.ByYearDay)+len(r.ByWeekNo)+len(r.BySetPos) == 0
	switch {
	case r.Freq == ical.Yearly && len(r.ByMonth) == 1 && len(r.ByMonthDay) == 1 && len(r.ByDay)+len(r.BySetPos) == 0 &&
		r.ByMonthDay[0] > 0:
		return fmt.Sprintf("%d %s", r.ByMonthDay[0], time.Month(r.ByMonth[0]))
	case r.Freq == ical.Yearly && len(r.ByMonth) == 1 && len(r.ByDay) == 1 && len(r.ByMonthDay)+len(r.BySetPos) == 0:
		return fmt.Sprintf("%s of %s", ordinalDay(r.ByDay[0]), time.Month(r.ByMonth[0]))
	case !plain:
		return "the days that the calendar file says"
	case len(r.ByDay) > 0 && len(r.ByMonthDay) == 0:
		var days []string
		for _, day := range r.ByDay {
			days = append(days, ordinalDay(day))
		}
		return and(days)
	case len(r.ByMonthDay) > 0 && len(r.ByDay) == 0:
		var days []string
		for _, day := range r.ByMonthDay {
			days = append(days, monthDay(day))
		}
		return and(days)
	case len(r.ByDay)+len(r.ByMonthDay) > 0:
		return "the days that the calendar file says"
	}
	return ""
}

var ordinals = map[int]string{
	1: "first", 2: "second", 3: "third", 4: "fourth", 5: "fifth", -1: "last", -2: "last but one",
}

func ordinalDay(day ical.WeekdayNum) string {
	switch word := ordinals[day.N]; {
	case day.N == 0:
		return day.Weekday.String()
	case word != "":
		return "the " + word + " " + day.Weekday.String()
	}
	return fmt.Sprintf("%s no. %d", day.Weekday, day.N)
}

func monthDay(day int) string {
	switch {
	case day == -1:
		return "the last day"
	case day < 0:
		return fmt.Sprintf("day %d from the end", -day)
	}
	return fmt.Sprintf("day %d", day)
}

// and joins words with commas and "and".
func and(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " and " + words[len(words)-1]
}
