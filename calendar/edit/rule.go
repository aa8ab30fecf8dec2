package edit

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"caldav-mcp-server/ical"
)

// setRule sets a component's recurrence rule, or removes it with all other recurrence properties.
func (r reader) setRule(c *ical.Component, f Field[string]) error {
	value, ok := f.Value()
	if !ok {
		for _, name := range [...]string{"RRULE", "EXRULE", "RDATE", "EXDATE"} {
			c.Remove(name)
		}
		return nil
	}
	start, err := timeOf(c, "DTSTART")
	if err != nil {
		return err
	}
	if start.IsZero() {
		return fault(BadField, "a recurring event or task needs a start").
			hint("give one; for a task, the due time will do")
	}
	rule, err := r.readRule(value, start)
	if err != nil {
		return err
	}
	if all := c.All("RRULE"); len(all) == 1 {
		if now, err := all[0].Recur(); err == nil && now.String() == rule.String() {
			return nil
		}
	}
	c.Set(ical.NewProperty("RRULE", rule.String()))
	return nil
}

// readRule parses a rule and converts its UNTIL to the form that the start requires.
func (r reader) readRule(value string, start ical.Time) (ical.Recur, error) {
	value = strings.TrimSpace(value)
	if len(value) > 6 && strings.EqualFold(value[:6], "RRULE:") {
		value = value[6:]
	}
	rule, err := ical.ParseRecur(value)
	if err != nil {
		return rule, fault(BadField, "the recurrence rule cannot be read: %v", err).
			hint("write it like FREQ=WEEKLY;BYDAY=MO,WE;COUNT=10")
	}
	if rule.RScale != "" {
		return rule, fault(Unsupported, "a new rule cannot have RSCALE=%s", rule.RScale).
			hint("write it without RSCALE and SKIP")
	}
	if start.IsDate() && rule.Freq < ical.Daily {
		return rule, fault(BadField, "FREQ=%s divides the day, but the event takes whole days", rule.Freq)
	}
	if rule.Until.IsZero() {
		return rule, nil
	}
	on, err := r.clock(start)
	if err != nil {
		return rule, err
	}
	if rule.Until, err = r.until(on, rule.Until); err != nil {
		return rule, err
	}
	last, err := r.on(on, rule.Until)
	if err == nil && last.Before(start.Civil) {
		return rule, fault(BadField, "the recurrence would end (UNTIL=%s) before it begins (%s)", rule.Until, start)
	}
	return rule, err
}

// until writes an UNTIL as RFC 5545 §3.3.10 requires: a date for dates, UTC for times in a zone, otherwise the wall
// clock. A date means the whole day.
func (r reader) until(on clock, until ical.Time) (ical.Time, error) {
	civil, err := r.on(on, until)
	if err != nil {
		return until, err
	}
	switch {
	case on.form == ical.FormDate:
		return ical.Date(civil), nil
	case until.IsDate():
		civil = civil.AddSeconds(secondsPerDay - 1)
	}
	return on.until(civil), nil
}

func (c clock) until(civil ical.Civil) ical.Time {
	if c.form == ical.FormFloating {
		return ical.Floating(civil)
	}
	return ical.UTC(ical.CivilFromSeconds(c.unix(civil)))
}

// rule shifts a recurrence rule, if there is a rule for exactly the same instances, moved by the distance. If there is
// none, only the caller knows the intent: the second Monday, moved by a day, is not the second Tuesday.
func (s shift) rule(p *ical.Property) error {
	if s.nothing() {
		return nil
	}
	rule, err := p.Recur()
	if err != nil {
		return fault(BadField, "%v", err)
	}
	if rule.RScale != "" && rule.RScale != "GREGORIAN" {
		return fault(Unsupported, "RSCALE=%s is a calendar that we cannot count in", rule.RScale)
	}
	moved := rule
	if !s.clocks(&moved) || s.days != 0 && !s.dayParts(&moved) {
		if rule.Count != 1 || p.Name() != "RRULE" {
			return fault(RuleBound, "the series repeats by %s, and no rule names each of its times %s", rule,
				s.distance()).
				hint("give the new recurrence rule along with the new time")
		}
		moved = s.once(rule)
	}
	if moved.Until, err = s.until(rule.Until); err != nil {
		return err
	}
	rewriteRule(p, rule, moved)
	return nil
}

// once returns a rule with the start as its only instance.
func (s shift) once(rule ical.Recur) ical.Recur {
	once := ical.Recur{
		Freq: rule.Freq, Interval: rule.Interval, WeekStart: rule.WeekStart, Count: 1, RScale: rule.RScale,
		Skip: rule.Skip, Extra: rule.Extra,
	}
	if s.to.form == ical.FormDate {
		once.Freq = max(once.Freq, ical.Daily)
	}
	return once
}

// rewriteRule changes only those parts of a property's rule that differ. The other parts keep the client's spelling and
// order.
func rewriteRule(p *ical.Property, was, now ical.Recur) {
	before, after := ruleParts(was), ruleParts(now)
	var parts []string
	for part := range strings.SplitSeq(p.Value(), ";") {
		name, _, _ := strings.Cut(part, "=")
		name = strings.ToUpper(strings.TrimSpace(name))
		value, stays := after[name]
		switch {
		case value == before[name]:
			parts = append(parts, part)
		case stays:
			parts = append(parts, name+"="+value)
		}
		delete(after, name)
	}
	for part := range strings.SplitSeq(now.String(), ";") {
		name, _, _ := strings.Cut(part, "=")
		if _, missing := after[name]; missing {
			parts = append(parts, part)
		}
	}
	p.SetValue(strings.Join(parts, ";"))
}

// ruleParts returns the parts of a rule that are not at their default.
func ruleParts(r ical.Recur) map[string]string {
	parts := map[string]string{}
	for part := range strings.SplitSeq(r.String(), ";") {
		name, value, _ := strings.Cut(part, "=")
		parts[name] = value
	}
	return parts
}

// distance describes the shift in words.
func (s shift) distance() string {
	switch {
	case s.to.form == ical.FormDate && !s.sameForm():
		return "as a whole day"
	case !s.sameForm():
		return "with a time of day"
	}
	var words []string
	left := max(s.seconds, -s.seconds)
	for _, unit := range [...]struct {
		name    string
		seconds int64
	}{{"day", secondsPerDay}, {"hour", 3600}, {"minute", 60}, {"second", 1}} {
		switch n := left / unit.seconds; n {
		case 0:
		case 1:
			words = append(words, "1 "+unit.name)
		default:
			words = append(words, fmt.Sprintf("%d %ss", n, unit.name))
		}
		left %= unit.seconds
	}
	if s.seconds < 0 {
		return strings.Join(words, " ") + " earlier"
	}
	return strings.Join(words, " ") + " later"
}

// clocks shifts the times of day in a rule.
func (s shift) clocks(r *ical.Recur) bool {
	timed := len(r.ByHour)+len(r.ByMinute)+len(r.BySecond) > 0
	if r.Freq < ical.Daily {
		dated := len(r.ByDay)+len(r.ByMonthDay)+len(r.ByMonth)+len(r.ByYearDay)+len(r.BySetPos) > 0
		return s.sameForm() && (s.seconds == 0 || !timed && !dated)
	}
	ofDay := s.seconds - int64(s.days)*secondsPerDay
	if !timed || s.sameForm() && ofDay == 0 {
		return true
	}
	if ofDay%3600 != 0 || !s.sameForm() {
		return false
	}
	hours, ok := moveAll(r.ByHour, int(ofDay/3600), func(h int) bool { return h >= 0 && h < 24 })
	r.ByHour = hours
	return ok
}

// dayParts shifts the days in a rule.
func (s shift) dayParts(r *ical.Recur) bool {
	if len(r.ByYearDay)+len(r.ByWeekNo)+len(r.LeapMonths) > 0 {
		return false
	}
	switch r.Freq {
	case ical.Weekly:
		return s.week(r)
	case ical.Daily:
		ok := len(r.ByMonth)+len(r.BySetPos) == 0 && s.monthDays(r)
		s.rotate(r)
		return ok
	case ical.Monthly:
		return len(r.BySetPos) == 0 &&
			(len(r.ByDay) > 0 && s.monthWeekdays(r) ||
				len(r.ByDay) == 0 && s.monthDays(r) && (len(r.ByMonthDay) > 0 || s.inMonth(s.start.Day)))
	case ical.Yearly:
		return len(r.BySetPos) == 0 && s.year(r)
	default:
		return true
	}
}

// week shifts a weekly rule: if all days and the first day of the week move, nothing else changes.
func (s shift) week(r *ical.Recur) bool {
	s.rotate(r)
	if len(r.ByDay) > 0 && (r.Interval > 1 || len(r.BySetPos) > 0) {
		r.WeekStart = s.weekday(r.WeekStart)
	}
	return len(r.ByMonth) == 0
}

func (s shift) weekday(day time.Weekday) time.Weekday {
	return time.Weekday(((int(day)+s.days)%7 + 7) % 7)
}

func (s shift) rotate(r *ical.Recur) {
	days := slices.Clone(r.ByDay)
	for i := range days {
		days[i].Weekday = s.weekday(days[i].Weekday)
	}
	r.ByDay = days
}

// inMonth reports whether a day and its shifted day exist in every month, and are in the same month.
func (s shift) inMonth(day int) bool {
	within := func(d int) bool { return d >= 1 && d <= 28 || d >= -28 && d <= -1 }
	return within(day) && within(day+s.days) && (day > 0) == (day+s.days > 0)
}

func (s shift) monthDays(r *ical.Recur) bool {
	for _, day := range r.ByMonthDay {
		if !s.inMonth(day) {
			return false
		}
	}
	r.ByMonthDay, _ = moveAll(r.ByMonthDay, s.days, func(int) bool { return true })
	return true
}

// monthWeekdays shifts weekdays: every Monday becomes every Tuesday. The second Monday, shifted by a week, becomes the
// third, since each month has four.
func (s shift) monthWeekdays(r *ical.Recur) bool {
	if len(r.ByMonthDay) > 0 {
		return false
	}
	days := slices.Clone(r.ByDay)
	for i, day := range days {
		next := day.N + s.days/7
		switch {
		case day.N == 0 && r.Interval <= 1 && len(r.ByMonth) == 0:
			days[i].Weekday = s.weekday(day.Weekday)
		case day.N == 0 || s.days%7 != 0 || max(day.N, -day.N) > 4 || max(next, -next) > 4 ||
			(day.N > 0) != (next > 0) || next == 0:
			return false
		default:
			days[i].N = next
		}
	}
	r.ByDay = days
	return true
}

// year shifts the days of a yearly rule: days that always stay in their month, and a single day, which may move to
// another month.
func (s shift) year(r *ical.Recur) bool {
	if len(r.ByDay) > 0 {
		return (len(r.ByMonth) > 0 || !numbered(r.ByDay)) && s.monthWeekdays(r)
	}
	day, month := s.start.Day, s.start.Month
	if len(r.ByMonthDay) > 0 {
		day = r.ByMonthDay[0]
	}
	if len(r.ByMonth) > 0 {
		month = time.Month(r.ByMonth[0])
	}
	next, ok := s.anniversary(month, day)
	if ok && len(r.ByMonthDay) <= 1 && len(r.ByMonth) <= 1 && (len(r.ByMonth) == 1 || len(r.ByMonthDay) == 0) {
		if len(r.ByMonth) > 0 {
			r.ByMonth = []int{int(next.Month)}
		}
		if len(r.ByMonthDay) > 0 {
			r.ByMonthDay = []int{next.Day}
		}
		return true
	}
	return s.monthDays(r) && (len(r.ByMonthDay) > 0 || s.inMonth(day))
}

func numbered(days []ical.WeekdayNum) bool {
	return slices.ContainsFunc(days, func(d ical.WeekdayNum) bool { return d.N != 0 })
}

// anniversary returns the shifted day of the year, if it is the same in leap years.
func (s shift) anniversary(month time.Month, day int) (ical.Civil, bool) {
	const leap, common = 2024, 2023
	if day < 1 || day > ical.DaysIn(common, month) {
		return ical.Civil{}, false
	}
	a, b := ical.CivilDate(leap, month, day).AddDays(s.days), ical.CivilDate(common, month, day).AddDays(s.days)
	return a, a.Month == b.Month && a.Day == b.Day
}

// until shifts the end of a rule.
func (s shift) until(until ical.Time) (ical.Time, error) {
	if until.IsZero() {
		return until, nil
	}
	civil, err := s.on(s.from, until)
	if err != nil {
		return until, err
	}
	switch {
	case s.to.form == ical.FormDate:
		if !until.IsDate() && s.from.form != ical.FormDate && civil.SecondOfDay() < s.start.SecondOfDay() {
			civil = civil.AddDays(-1) // the instance of that day is after the end
		}
		return ical.Date(civil.AddDays(s.days)), nil
	case until.IsDate() && s.from.form != ical.FormDate:
		return ical.Date(civil.AddDays(s.days)), nil
	case until.Form == ical.FormFloating && s.from.form != ical.FormDate:
		return ical.Floating(civil.AddSeconds(s.seconds)), nil
	default:
		return s.to.until(civil.AddSeconds(s.seconds)), nil
	}
}

// moveAll adds a number to each element, and returns false if a result is not allowed.
func moveAll(list []int, by int, may func(int) bool) ([]int, bool) {
	moved := slices.Clone(list)
	for i := range moved {
		moved[i] += by
		if !may(moved[i]) {
			return nil, false
		}
	}
	return moved, true
}
