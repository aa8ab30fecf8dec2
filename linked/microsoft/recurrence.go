package microsoft

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"caldav-mcp-server/calendar/mirror"
	"caldav-mcp-server/calendar/recur/rule"
	"caldav-mcp-server/ical"
	"caldav-mcp-server/linked/vevent"
)

// rule converts a pattern to an RFC 5545 rule. If a month lacks the day, Microsoft uses its last day, and so does the
// rule.
func (w writer) rule(r *Recurrence, start ical.Time) (ical.Recur, error) {
	out := ical.Recur{Interval: max(r.Pattern.Interval, 1), WeekStart: time.Monday}
	if err := patternOut(&out, r.Pattern); err != nil {
		return out, err
	}
	switch r.Range.Type {
	case "numbered":
		out.Count = r.Range.Count
	case "endDate":
		day, err := time.Parse(time.DateOnly, r.Range.End)
		if err != nil {
			return out, fmt.Errorf("%q is not a day for the end of a series", r.Range.End)
		}
		last := start
		last.Civil.Year, last.Civil.Month, last.Civil.Day = day.Date()
		if start.Form == ical.FormZoned {
			at, _ := w.zone(start.TZID).Resolve(last.Civil)
			last = ical.Instant(at)
		}
		out.Until = last
	}
	return out, nil
}

func patternOut(out *ical.Recur, p Pattern) error {
	days, err := daysOut(p.Days)
	if err != nil {
		return err
	}
	switch p.Type {
	case "daily":
		out.Freq = ical.Daily
	case "weekly":
		out.Freq, out.ByDay = ical.Weekly, days
		// Microsoft's default week starts on Sunday.
		out.WeekStart = time.Weekday(max(slices.Index(weekdays[:], cmp.Or(p.FirstDay, "sunday")), 0))
	case "absoluteMonthly":
		out.Freq = ical.Monthly
		dayOut(out, p.DayOfMonth, 28)
	case "absoluteYearly":
		out.Freq, out.ByMonth = ical.Yearly, []int{p.Month}
		shortest := ical.DaysIn(2025, time.Month(p.Month))
		dayOut(out, p.DayOfMonth, shortest)
	case "relativeMonthly":
		out.Freq = ical.Monthly
		indexOut(out, p, days)
	case "relativeYearly":
		out.Freq, out.ByMonth = ical.Yearly, []int{p.Month}
		indexOut(out, p, days)
	default:
		return fmt.Errorf("the series repeats in a way that is called %q, which is not known", p.Type)
	}
	return nil
}

func daysOut(days []string) (list []ical.WeekdayNum, err error) {
	for _, name := range days {
		day := slices.Index(weekdays[:], name)
		if day < 0 {
			return nil, fmt.Errorf("%q is no day of the week", name)
		}
		list = append(list, ical.WeekdayNum{Weekday: time.Weekday(day)})
	}
	return list, nil
}

// dayOut converts a day of the month; shortest is the number of days that every such month has.
func dayOut(out *ical.Recur, day, shortest int) {
	switch {
	case day <= shortest:
		out.ByMonthDay = []int{day}
	case day == 31 && out.Freq == ical.Monthly:
		out.ByMonthDay = []int{-1}
	default:
		for d := shortest; d <= day; d++ {
			out.ByMonthDay = append(out.ByMonthDay, d)
		}
		out.BySetPos = []int{-1}
	}
}

// indexOut converts an ordinal of weekdays.
func indexOut(out *ical.Recur, p Pattern, days []ical.WeekdayNum) {
	n := slices.Index(indexes[:], cmp.Or(p.Index, "first")) + 1
	if n == len(indexes) {
		n = -1
	}
	if len(days) == 1 {
		days[0].N = n
		out.ByDay = days
		return
	}
	out.ByDay, out.BySetPos = days, []int{n}
}

// recurrence converts a rule to an equivalent pattern.
func (r *reader) recurrence(c *ical.Component, start ical.Time) (*Recurrence, error) {
	rules := c.All("RRULE")
	if len(rules) == 0 {
		return nil, nil // an event that does not recur has no pattern, and that is no error
	}
	if len(rules) > 1 {
		return nil, mirror.Refusef("Microsoft keeps one rule of a series, and this one has %d.", len(rules))
	}
	in, err := rules[0].Recur()
	if err != nil {
		return nil, err
	}
	pattern, ok := patternIn(&in, start.Civil)
	if !ok {
		return nil, noRule(&in, start)
	}
	if !begins(&in, start) {
		return nil, mirror.Refusef("Microsoft needs a series that begins on a day of its rule (%s). Begin it on such "+
			"a day.", in.String())
	}
	until, err := r.until(&in, start)
	if err != nil {
		return nil, err
	}
	return &Recurrence{Pattern: pattern, Range: until}, nil
}

// begins reports whether the start is an instance of the rule.
func begins(in *ical.Recur, start ical.Time) bool {
	whole, err := rule.New(in, start)
	if err != nil {
		return false
	}
	has, err := whole.Has(rule.Steps(100_000), rule.WallOf(start.Civil))
	return err == nil && has
}

func patternIn(in *ical.Recur, start ical.Civil) (Pattern, bool) {
	p := Pattern{Interval: max(in.Interval, 1)}
	if in.RScale != "" || in.Skip != "" ||
		len(in.BySecond)+len(in.ByMinute)+len(in.ByHour)+len(in.ByYearDay)+len(in.ByWeekNo)+len(in.Extra) != 0 {
		return p, false
	}
	switch in.Freq {
	case ical.Daily:
		return dailyIn(p, in)
	case ical.Weekly:
		return weeklyIn(p, in, start)
	case ical.Monthly:
		if len(in.ByMonth) != 0 {
			return p, false
		}
		return monthlyIn(p, in, start)
	case ical.Yearly:
		return yearlyIn(p, in, start)
	default:
		return p, false
	}
}

// dailyIn converts a daily rule. With BYDAY, it becomes a weekly pattern.
func dailyIn(p Pattern, in *ical.Recur) (Pattern, bool) {
	plain := len(in.ByMonth)+len(in.ByMonthDay)+len(in.BySetPos) == 0
	if len(in.ByDay) == 0 {
		p.Type = "daily"
		return p, plain
	}
	p.Type, p.FirstDay = "weekly", weekdays[in.WeekStart]
	days, n, ok := daysIn(in.ByDay)
	p.Days = days
	return p, plain && ok && n == 0 && p.Interval == 1
}

func weeklyIn(p Pattern, in *ical.Recur, start ical.Civil) (Pattern, bool) {
	p.Type, p.FirstDay = "weekly", weekdays[in.WeekStart]
	if len(in.ByDay) == 0 {
		p.Days = []string{weekdays[start.Weekday()]}
	}
	days, n, ok := daysIn(in.ByDay)
	p.Days = append(p.Days, days...)
	return p, ok && n == 0 && len(in.ByMonth)+len(in.ByMonthDay)+len(in.BySetPos) == 0
}

func monthlyIn(p Pattern, in *ical.Recur, start ical.Civil) (Pattern, bool) {
	if len(in.ByDay) != 0 {
		p.Type = "relativeMonthly"
		return relativeIn(p, in)
	}
	p.Type = "absoluteMonthly"
	if slices.Equal(in.ByMonthDay, []int{-1}) && len(in.BySetPos) == 0 {
		p.DayOfMonth = 31
		return p, true
	}
	return absoluteIn(p, in, start.Day, 28)
}

func yearlyIn(p Pattern, in *ical.Recur, start ical.Civil) (Pattern, bool) {
	p.Month = int(start.Month)
	switch {
	case len(in.ByMonth) == 1:
		p.Month = in.ByMonth[0]
	case len(in.ByMonth) > 1, len(in.ByDay) != 0, len(in.ByMonthDay) != 0:
		// Without a month, these count within the year, or are days of each month.
		return p, false
	}
	if len(in.ByDay) != 0 {
		p.Type = "relativeYearly"
		return relativeIn(p, in)
	}
	p.Type = "absoluteYearly"
	return absoluteIn(p, in, start.Day, ical.DaysIn(2025, time.Month(p.Month)))
}

// absoluteIn converts a day of the month: one that every month has, or the last one up to a day.
func absoluteIn(p Pattern, in *ical.Recur, start, shortest int) (Pattern, bool) {
	days := in.ByMonthDay
	if len(days) == 0 {
		days = []int{start}
	}
	p.DayOfMonth = days[len(days)-1]
	if len(days) == 1 {
		return p, p.DayOfMonth >= 1 && p.DayOfMonth <= shortest && len(in.BySetPos) == 0
	}
	for i, day := range days {
		if day != shortest+i {
			return p, false
		}
	}
	return p, slices.Equal(in.BySetPos, []int{-1})
}

// relativeIn converts an ordinal of weekdays.
func relativeIn(p Pattern, in *ical.Recur) (Pattern, bool) {
	days, n, ok := daysIn(in.ByDay)
	if !ok || len(in.ByMonthDay) != 0 {
		return p, false
	}
	switch {
	case n != 0 && len(days) == 1 && len(in.BySetPos) == 0:
	case n == 0 && len(in.BySetPos) == 1:
		n = in.BySetPos[0]
	default:
		return p, false
	}
	if n == -1 {
		n = len(indexes)
	} else if n < 1 || n >= len(indexes) {
		return p, false
	}
	p.Days, p.Index = days, indexes[n-1]
	return p, true
}

// daysIn converts weekdays that share one ordinal, or have none.
func daysIn(list []ical.WeekdayNum) (days []string, n int, ok bool) {
	for i, day := range list {
		if i > 0 && day.N != n {
			return nil, 0, false
		}
		n = day.N
		days = append(days, weekdays[day.Weekday])
	}
	return days, n, true
}

// until converts the end of a series: for Microsoft, the day of the last instance.
func (r *reader) until(in *ical.Recur, start ical.Time) (Range, error) {
	out := Range{Type: "noEnd", Start: dayOf(start.Civil)}
	zoned := start
	if start.Form == ical.FormZoned || start.Form == ical.FormUTC {
		z, err := r.clock.Zone(start)
		if err != nil {
			return out, err
		}
		out.Zone = z.Name()
		if in.Until.Form == ical.FormUTC {
			at, err := r.clock.Instant(in.Until)
			if err != nil {
				return out, err
			}
			zoned = vevent.In(at, z)
			if zoned.Form == ical.FormUTC {
				zoned.Civil = z.Civil(at)
			}
		} else {
			zoned = in.Until
		}
	} else {
		zoned = in.Until
	}
	switch {
	case in.Count > 0:
		out.Type, out.Count = "numbered", in.Count
	case !in.Until.IsZero():
		last := zoned.Civil
		if !in.Until.IsDate() && !start.IsDate() && last.SecondOfDay() < start.Civil.SecondOfDay() {
			last = last.AddDays(-1)
		}
		out.Type, out.End = "endDate", dayOf(last)
	}
	return out, nil
}

func dayOf(c ical.Civil) string { return fmt.Sprintf("%04d-%02d-%02d", c.Year, c.Month, c.Day) }
