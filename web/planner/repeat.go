package planner

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"caldav-mcp-server/calendar/edit"
	"caldav-mcp-server/calendar/recur"
	"caldav-mcp-server/calendar/zone"
	"caldav-mcp-server/ical"
)

// Repeat is the part of a form that says how an event repeats.
type Repeat struct {
	// Freq is one of the constants below, or "" for an event that does not repeat.
	Freq string
	// Every is the interval, Days are the weekdays of a weekly rule, such as MO.
	Every string
	Days  []string
	// Ends is "" for never, "until" or "count".
	Ends, Until, Count string
	// Kept describes a rule that the form cannot express. It stays unless the visitor chooses another one.
	Kept string
}

// The ways to repeat. A month has a numbered weekday (the second Tuesday) or the last one.
const (
	daily     = "daily"
	weekly    = "weekly"
	monthly   = "monthly"
	nthDay    = "monthly-weekday"
	lastDay   = "monthly-last"
	yearly    = "yearly"
	keptRule  = "kept"
	endsUntil = "until"
	endsCount = "count"
)

// Freqs lists the ways to repeat, in the order of the form.
var Freqs = []string{"", daily, weekly, monthly, nthDay, lastDay, yearly}

// weekdayCodes are the weekdays as RFC 5545 writes them, from Sunday on.
var weekdayCodes = []string{"SU", "MO", "TU", "WE", "TH", "FR", "SA"}

// asError is errors.As.
func asError[T error](err error, target *T) bool { return errors.As(err, target) }

// rule returns the RRULE of a form.
func (p *Planner) rule(f EventForm) (edit.Field[string], error) {
	r, none := f.Repeat, edit.Field[string]{}
	if r.Freq == "" {
		return edit.Clear[string](), nil
	}
	if r.Freq == keptRule {
		return none, nil
	}
	start, err := time.Parse(time.DateOnly, f.Start)
	if err != nil {
		return none, p.wrong("start", "planner.bad-day", "day", clean(f.Start), "example",
			p.today().Format(time.DateOnly))
	}
	made := ical.Recur{Interval: 1, WeekStart: time.Monday}
	if r.Every != "" {
		if made.Interval, err = strconv.Atoi(r.Every); err != nil || made.Interval < 1 || made.Interval > 999 {
			return none, p.wrong("every", "planner.bad-interval", "text", clean(r.Every))
		}
	}
	nth := ical.WeekdayNum{Weekday: start.Weekday(), N: (start.Day() + 6) / 7}
	switch r.Freq {
	case daily:
		made.Freq = ical.Daily
	case weekly:
		made.Freq = ical.Weekly
		for _, day := range r.Days {
			at := slices.Index(weekdayCodes, day)
			if at < 0 {
				return none, p.wrong("days", "planner.bad-weekday", "text", clean(day))
			}
			made.ByDay = append(made.ByDay, ical.WeekdayNum{Weekday: time.Weekday(at)})
		}
	case monthly:
		made.Freq, made.ByMonthDay = ical.Monthly, []int{start.Day()}
	case lastDay:
		nth.N = -1
		made.Freq, made.ByDay = ical.Monthly, []ical.WeekdayNum{nth}
	case nthDay:
		if nth.N > 4 {
			nth.N = -1
		}
		made.Freq, made.ByDay = ical.Monthly, []ical.WeekdayNum{nth}
	case yearly:
		made.Freq = ical.Yearly
	default:
		return none, p.wrong("repeat", "planner.bad-repeat", "text", clean(r.Freq))
	}
	if err := p.end(&made, f); err != nil {
		return none, err
	}
	return edit.To(made.String()), nil
}

// end adds the end of a rule.
func (p *Planner) end(made *ical.Recur, f EventForm) error {
	switch r := f.Repeat; r.Ends {
	case endsUntil:
		last, err := time.Parse(time.DateOnly, r.Until)
		if err != nil || r.Until < f.Start {
			return p.wrong("until", "planner.bad-until", "day", clean(r.Until))
		}
		day := ical.CivilDate(last.Year(), last.Month(), last.Day())
		switch {
		case f.AllDay:
			made.Until = ical.Date(day)
		case f.Zone == floatingZone:
			made.Until = ical.Floating(day.AddSeconds(24*3600 - 1))
		default:
			z := p.Zone
			if f.Zone != "" {
				if z, err = zone.NewDB().Ask(f.Zone); err != nil {
					return p.wrong("zone", "planner.bad-zone", "zone", clean(f.Zone))
				}
			}
			end, _ := z.Resolve(day.AddSeconds(24*3600 - 1))
			made.Until = ical.Instant(end)
		}
	case endsCount:
		n, err := strconv.Atoi(r.Count)
		if err != nil || n < 1 || n > 10_000 {
			return p.wrong("count", "planner.bad-count", "text", clean(r.Count))
		}
		made.Count = n
	}
	return nil
}

// repeatOf returns how an event repeats. A rule that the form cannot express is described in words.
func (p *Planner) repeatOf(c *ical.Component, start recur.Moment) Repeat {
	property := c.Property("RRULE")
	if property == nil {
		return Repeat{Every: "1"}
	}
	kept := Repeat{Freq: keptRule, Every: "1", Kept: p.Rule(property.Value(), start)}
	if len(c.All("RRULE")) > 1 || len(c.All("RDATE")) > 0 {
		return kept
	}
	rule, err := ical.ParseRecur(property.Value())
	if err != nil || len(rule.BySecond)+len(rule.ByMinute)+len(rule.ByHour)+len(rule.ByYearDay)+len(rule.ByWeekNo)+
		len(rule.BySetPos)+len(rule.ByMonth)+len(rule.Extra) > 0 || rule.RScale != "" {
		return kept
	}
	r := Repeat{Every: strconv.Itoa(rule.Interval)}
	first := start.Civil()
	switch by := rule.ByDay; {
	case rule.Freq == ical.Daily && len(by)+len(rule.ByMonthDay) == 0:
		r.Freq = daily
	case rule.Freq == ical.Weekly && len(rule.ByMonthDay) == 0 && (rule.WeekStart == time.Monday || rule.Interval == 1):
		r.Freq = weekly
		for _, day := range by {
			if day.N != 0 {
				return kept
			}
			r.Days = append(r.Days, weekdayCodes[day.Weekday])
		}
	case rule.Freq == ical.Monthly && len(by) == 0 && (len(rule.ByMonthDay) == 0 ||
		len(rule.ByMonthDay) == 1 && rule.ByMonthDay[0] == first.Day):
		r.Freq = monthly
	case rule.Freq == ical.Monthly && len(by) == 1 && len(rule.ByMonthDay) == 0 && by[0].Weekday == first.Weekday() &&
		by[0].N == -1:
		r.Freq = lastDay
	case rule.Freq == ical.Monthly && len(by) == 1 && len(rule.ByMonthDay) == 0 && by[0].Weekday == first.Weekday() &&
		by[0].N == (first.Day+6)/7:
		r.Freq = nthDay
	case rule.Freq == ical.Yearly && len(by)+len(rule.ByMonthDay) == 0:
		r.Freq = yearly
	default:
		return kept
	}
	switch {
	case rule.Count > 0:
		r.Ends, r.Count = endsCount, strconv.Itoa(rule.Count)
	case !rule.Until.IsZero():
		r.Ends, r.Until = endsUntil, p.lastOf(rule, start).Format(time.DateOnly)
	}
	return r
}

// lastOf returns the day of the UNTIL of a rule, in the zone of the event.
func (p *Planner) lastOf(rule ical.Recur, start recur.Moment) time.Time {
	until := rule.Until.Civil
	day := time.Date(until.Year, until.Month, until.Day, 0, 0, 0, 0, time.UTC)
	if rule.Until.Form == ical.FormUTC && !start.AllDay {
		return time.Unix(until.Seconds(), 0).In(start.Time.Location())
	}
	return day
}

// Rule describes how an event repeats, in words.
func (p *Planner) Rule(value string, start recur.Moment) string {
	rule, err := ical.ParseRecur(value)
	if err != nil {
		return clean(value)
	}
	var words []string
	frequency := map[ical.Frequency]string{
		ical.Secondly: "", ical.Minutely: "", ical.Hourly: "hours", ical.Daily: "days", ical.Weekly: "weeks",
		ical.Monthly: "months", ical.Yearly: "years",
	}[rule.Freq]
	if frequency == "" || len(rule.BySecond)+len(rule.ByMinute)+len(rule.ByHour)+len(rule.ByYearDay)+
		len(rule.ByWeekNo)+len(rule.BySetPos)+len(rule.Extra) > 0 || rule.RScale != "" {
		return p.text("planner.rule-other", "rule", clean(value))
	}
	words = append(words, p.text("planner.every."+frequency, "count", rule.Interval))
	if days := p.ruleDays(rule); days != "" {
		words = append(words, p.text("planner.rule-on", "days", days))
	}
	if len(rule.ByMonth) > 0 {
		var months []string
		for _, m := range rule.ByMonth {
			months = append(months, p.Language.Month(time.Month(m)))
		}
		words = append(words, p.text("planner.rule-in", "months", p.list(months)))
	}
	switch {
	case rule.Count > 0:
		words = append(words, p.text("planner.rule-count", "count", rule.Count))
	case !rule.Until.IsZero():
		words = append(words, p.text("planner.rule-until", "day", p.Language.Date(p.lastOf(rule, start))))
	}
	return strings.Join(words, " ")
}

// ruleDays lists the weekdays and the days of the month of a rule.
func (p *Planner) ruleDays(rule ical.Recur) string {
	var days []string
	for _, day := range rule.ByDay {
		days = append(days, p.Language.NthWeekday(day.N, day.Weekday))
	}
	for _, day := range rule.ByMonthDay {
		if day == -1 {
			days = append(days, p.text("planner.last-day"))
		} else {
			days = append(days, p.text("planner.day-of-month", "day", day))
		}
	}
	return p.list(days)
}

// list joins words as in "Monday, Tuesday and Friday".
func (p *Planner) list(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return p.text("planner.and", "first", strings.Join(words[:last], ", "), "last", words[last])
}
