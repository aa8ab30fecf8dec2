package letter

import (
	"strings"
	"time"

	"caldav-mcp-server/calendar/recur"
	"caldav-mcp-server/ical"
	"caldav-mcp-server/locale"
)

// repeats describes the recurrence of an event, and returns when all of it is over.
func (s *source) repeats(c *ical.Component, first when) (words string, end time.Time) {
	if first.known {
		end = first.end
	}
	p := c.Property("RRULE")
	if p == nil {
		if dates := c.All("RDATE"); len(dates) > 0 {
			return s.lang.Text("mail.several-days"), s.end(end)
		}
		return "", end
	}
	rule, err := p.Recur()
	if err != nil || len(c.All("RRULE")) > 1 || len(c.All("RDATE")) > 0 {
		return s.lang.Text("mail.rule-other"), s.end(end)
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

// frequencies are the ends of the ids of texts. A rule that is faster has no words.
var frequencies = map[ical.Frequency]string{
	ical.Secondly: "", ical.Minutely: "",
	ical.Hourly: "hours", ical.Daily: "days", ical.Weekly: "weeks", ical.Monthly: "months", ical.Yearly: "years",
}

// ruleWords describes a recurrence rule. The days of a rule that is too complex for a sentence are left out.
func (s *source) ruleWords(r ical.Recur, first when) string {
	l, unit := s.lang, frequencies[r.Freq]
	if unit == "" {
		return l.Text("mail.rule-other")
	}
	words := []string{l.Text("planner.every."+unit, "count", max(r.Interval, 1))}
	if days := dayWords(l, r); days != "" {
		words = append(words, l.Text("planner.rule-on", "days", days))
	}
	switch {
	case r.Count > 0:
		words = append(words, l.Text("planner.rule-count", "count", r.Count))
	case !r.Until.IsZero():
		words = append(words, l.Text("planner.rule-until", "day", s.until(r.Until, first)))
	}
	return strings.Join(words, " ")
}

// until describes the last day of a rule in the event's zone.
func (s *source) until(t ical.Time, first when) string {
	if t.Form == ical.FormUTC && first.known {
		if at, err := s.clock.At(t); err == nil {
			return s.lang.Date(time.Unix(at, 0).In(first.start.Location()))
		}
	}
	return s.lang.Date(time.Date(t.Civil.Year, t.Civil.Month, t.Civil.Day, 0, 0, 0, 0, time.UTC))
}

// dayWords describes the days of a rule, if that makes a short sentence.
func dayWords(l *locale.Language, r ical.Recur) string {
	plain := len(r.ByMonth)+len(r.ByYearDay)+len(r.ByWeekNo)+len(r.BySetPos) == 0
	var days []string
	switch {
	case r.Freq == ical.Yearly && len(r.ByMonth) == 1 && len(r.ByMonthDay) == 1 && len(r.ByDay)+len(r.BySetPos) == 0 &&
		r.ByMonthDay[0] > 0:
		return l.DayMonth(time.Date(2000, time.Month(r.ByMonth[0]), r.ByMonthDay[0], 0, 0, 0, 0, time.UTC))
	case r.Freq == ical.Yearly && len(r.ByMonth) == 1 && len(r.ByDay) == 1 && len(r.ByMonthDay)+len(r.BySetPos) == 0:
		day := l.NthWeekday(r.ByDay[0].N, r.ByDay[0].Weekday)
		return l.Text("mail.day-of-month", "day", day, "month", l.Month(time.Month(r.ByMonth[0])))
	case !plain, len(r.ByDay) > 0 && len(r.ByMonthDay) > 0:
		return l.Text("mail.rule-days-other")
	}
	for _, day := range r.ByDay {
		days = append(days, l.NthWeekday(day.N, day.Weekday))
	}
	for _, day := range r.ByMonthDay {
		days = append(days, monthDay(l, day))
	}
	return and(l, days)
}

func monthDay(l *locale.Language, day int) string {
	switch {
	case day == -1:
		return l.Text("planner.last-day")
	case day < 0:
		return l.Text("mail.day-from-end", "day", -day)
	}
	return l.Text("planner.day-of-month", "day", day)
}

// and joins words as in "Ann, Bob and Carol".
func and(l *locale.Language, words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return l.Text("planner.and", "first", strings.Join(words[:last], ", "), "last", words[last])
}
