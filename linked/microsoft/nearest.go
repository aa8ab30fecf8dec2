package microsoft

import (
	"slices"

	"caldav-mcp-server/calendar/mirror"
	"caldav-mcp-server/ical"
)

// noRule refuses a rule that no pattern expresses, and names the nearest rule that one does, ready to be sent.
func noRule(in *ical.Recur, start ical.Time) error {
	why := "it knows intervals of days, weeks, months and years, days of a month up to 28, the last day, and the " +
		"first to fourth or last of some weekdays"
	if day := in.ByMonthDay; len(in.ByDay) == 0 && (in.Freq == ical.Monthly || in.Freq == ical.Yearly) &&
		(len(day) == 0 && start.Civil.Day > 28 || len(day) == 1 && day[0] > 28) {
		why = "in a month without that day it takes the last one, and the rule takes none"
	}
	near, found := nearest(in, start)
	if !found {
		return mirror.Refusef("Microsoft cannot repeat an event by the rule %s: %s.", in, why)
	}
	return mirror.Refusef("Microsoft cannot repeat an event by the rule %s: %s. The nearest rule that it has is %s.",
		in, why, near)
}

// nearest returns the first of some similar rules that has a pattern and contains the start.
func nearest(in *ical.Recur, start ical.Time) (*ical.Recur, bool) {
	for _, r := range similar(in, start.Civil) {
		if _, fits := patternIn(r, start.Civil); fits && begins(r, start) {
			return r, true
		}
	}
	return nil, false
}

// similar returns rules that are like a given one, the most similar first.
func similar(in *ical.Recur, start ical.Civil) []*ical.Recur {
	rule := func(freq ical.Frequency, change func(r *ical.Recur)) *ical.Recur {
		r := &ical.Recur{
			Freq: freq, Interval: in.Interval, Count: in.Count, Until: in.Until, WeekStart: in.WeekStart,
		}
		if change != nil {
			change(r)
		}
		return r
	}
	onDays := func(r *ical.Recur) { r.ByDay = in.ByDay }
	onDay := func(r *ical.Recur) { onDayOf(r, start) }
	onWeekday := func(r *ical.Recur) { onWeekdayOf(r, start, false) }
	onLastWeekday := func(r *ical.Recur) { onWeekdayOf(r, start, true) }
	switch in.Freq {
	case ical.Weekly:
		return []*ical.Recur{rule(ical.Weekly, onDays), rule(ical.Weekly, nil)}
	case ical.Monthly, ical.Yearly:
		if months := perYear(in); months != 0 {
			return []*ical.Recur{rule(ical.Monthly, func(r *ical.Recur) {
				r.Interval, r.ByDay, r.BySetPos = 12/months, in.ByDay, in.BySetPos
				if len(in.ByDay) == 0 {
					onDayOf(r, start)
				}
			}), rule(in.Freq, onDay)}
		}
		if len(in.ByDay) != 0 && len(in.ByMonthDay) == 0 {
			if _, n, plain := daysIn(in.ByDay); plain && n == 0 && in.Freq == ical.Monthly && in.Interval <= 1 &&
				len(in.ByMonth)+len(in.BySetPos) == 0 {
				return []*ical.Recur{rule(ical.Weekly, onDays)}
			}
			return []*ical.Recur{rule(in.Freq, onLastWeekday), rule(in.Freq, onWeekday), rule(in.Freq, onDay)}
		}
		return []*ical.Recur{rule(in.Freq, onDay)}
	case ical.Daily:
		return []*ical.Recur{rule(ical.Daily, nil)}
	default:
		// Several times a day: Microsoft has nothing nearer than once a day.
		return []*ical.Recur{rule(ical.Daily, func(r *ical.Recur) { r.Interval = 1 })}
	}
}

// perYear returns how often a rule of each year comes, if it comes in months of equal distance, and 0 otherwise.
func perYear(in *ical.Recur) int {
	n := len(in.ByMonth)
	if in.Freq != ical.Yearly || in.Interval > 1 || n < 2 || 12%n != 0 {
		return 0
	}
	months := slices.Sorted(slices.Values(in.ByMonth))
	for i, month := range months {
		if month != months[0]+i*12/n {
			return 0
		}
	}
	return n
}

// onDayOf puts a rule on the day of the month of its start, or the last day where a month lacks it.
func onDayOf(r *ical.Recur, start ical.Civil) {
	shortest := 28
	if r.Freq == ical.Yearly {
		r.ByMonth = []int{int(start.Month)}
		shortest = ical.DaysIn(2025, start.Month)
	}
	dayOut(r, start.Day, shortest)
}

// onWeekdayOf puts a rule on the ordinal weekday of its start, or on the last such weekday.
func onWeekdayOf(r *ical.Recur, start ical.Civil, last bool) {
	if r.Freq == ical.Yearly {
		r.ByMonth = []int{int(start.Month)}
	}
	n := (start.Day-1)/7 + 1
	if last || n > 4 {
		n = -1
	}
	r.ByDay = []ical.WeekdayNum{{Weekday: start.Weekday(), N: n}}
}
