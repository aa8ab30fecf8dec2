package rule

import (
	"math/bits"
	"time"

	"caldav-mcp-server/ical"
)

// daySet holds up to 366 consecutive days as bits.
type daySet [6]uint64

func (s *daySet) add(day int)      { s[day>>6] |= 1 << (day & 63) }
func (s *daySet) has(day int) bool { return s[day>>6]>>(day&63)&1 != 0 }

// addRange adds the days in [from, to) that lie within a year of this length.
func (s *daySet) addRange(from, to, days int) {
	for day := max(from, 0); day < min(to, days); day++ {
		s.add(day)
	}
}

// addMonth adds a month's days, given as bits. first is the index of the month's first day.
func (s *daySet) addMonth(first int, month uint32) {
	s[first>>6] |= uint64(month) << (first & 63)
	if first&63 > 32 && first>>6 < len(s)-1 {
		s[first>>6+1] |= uint64(month) >> (64 - first&63)
	}
}

func (s *daySet) intersect(other *daySet) {
	for i := range s {
		s[i] &= other[i]
	}
}

func (s *daySet) size() int {
	n := 0
	for _, word := range s {
		n += bits.OnesCount64(word)
	}
	return n
}

// below counts the days before one.
func (s *daySet) below(day int) int {
	n := 0
	for i := range day >> 6 {
		n += bits.OnesCount64(s[i])
	}
	return n + bits.OnesCount64(s[day>>6]&(1<<(day&63)-1))
}

// from returns the first day of the set at or after the given day, or -1.
func (s *daySet) from(day int) int {
	i := day >> 6
	if i >= len(s) {
		return -1
	}
	word := s[i] >> (day & 63) << (day & 63)
	for word == 0 {
		if i++; i == len(s) {
			return -1
		}
		word = s[i]
	}
	return i<<6 + bits.TrailingZeros64(word)
}

// nth returns the day with n earlier days in the set.
func (s *daySet) nth(n int) int {
	for i, word := range s {
		count := bits.OnesCount64(word)
		if n < count {
			return i<<6 + nthBit(word, n)
		}
		n -= count
	}
	return -1
}

// slice returns the days in [from, to), renumbered so that from becomes day 0.
func (s *daySet) slice(from, to int) daySet {
	var cut daySet
	for day := s.from(from); day >= 0 && day < to; day = s.from(day + 1) {
		cut.add(day - from)
	}
	return cut
}

const (
	allMonths   = 1<<13 - 2 // bits 1 to 12
	allWeekdays = 1<<7 - 1
)

// dayFilter holds the conditions that the BY parts about days impose. Every part limits. By the letter of RFC 5545 some
// parts "expand", but that is the same: without a part, all days of the period pass.
type dayFilter struct {
	all       bool
	months    uint16
	monthDays uint64 // positive BYMONTHDAY values
	monthEnds uint64 // negative BYMONTHDAY values: bit 1 is the last day
	yearDays  []int
	weeks     []int
	weekStart time.Weekday

	weekdays uint8 // BYDAY entries without a number
	numbered []ical.WeekdayNum
	inMonth  bool // the numbers count within the month, not within the year

	// skip is the SKIP of RFC 7529, if the rule moves days that a month does not have.
	skip string
}

// newDayFilter reads the parts of the rule and completes them from the start.
func newDayFilter(r *ical.Recur, start ical.Civil) dayFilter {
	f := dayFilter{
		months: allMonths, yearDays: r.ByYearDay, weeks: r.ByWeekNo, weekStart: r.WeekStart,
		inMonth: r.Freq == ical.Monthly || len(r.ByMonth) > 0,
	}
	if skips(r) {
		f.skip = r.Skip
	}
	if len(r.ByMonth) > 0 {
		f.months = uint16(dialOf(r.ByMonth))
	}
	for _, day := range r.ByMonthDay {
		if day > 0 {
			f.monthDays |= 1 << day
		} else {
			f.monthEnds |= 1 << -day
		}
	}
	for _, day := range r.ByDay {
		if day.N == 0 {
			f.weekdays |= 1 << day.Weekday
		} else {
			f.numbered = append(f.numbered, day)
		}
	}
	f.complete(r, start)
	f.all = f.months == allMonths && !f.byDay() && f.monthDays|f.monthEnds == 0 && len(f.yearDays)+len(f.weeks) == 0
	return f
}

// complete takes from the start the parts that the rule leaves out. RFC 5545 §3.3.10: "Information, not contained in
// the rule, necessary to determine the various recurrence instance start time and dates are derived from the Start
// Time".
func (f *dayFilter) complete(r *ical.Recur, start ical.Civil) {
	if f.byDay() || len(r.ByMonthDay)+len(r.ByYearDay) > 0 {
		return
	}
	switch {
	case r.Freq == ical.Weekly || len(r.ByWeekNo) > 0:
		f.weekdays = 1 << start.Weekday()
	case r.Freq >= ical.Monthly:
		f.monthDays = 1 << start.Day
		if r.Freq == ical.Yearly && len(r.ByMonth) == 0 {
			f.months = 1 << start.Month
		}
	}
}

func (f *dayFilter) byDay() bool { return f.weekdays != 0 || len(f.numbered) > 0 }

// year returns the days of a year that pass.
func (f *dayFilter) year(year int) daySet {
	days := yearLength(year)
	jan1 := ical.CivilDate(year, time.January, 1)
	weekday := int(jan1.Weekday())
	set := f.byMonths(year, weekday)
	if len(f.yearDays) > 0 {
		set.intersect(numberedDays(f.yearDays, days))
	}
	if len(f.weeks) > 0 {
		set.intersect(f.byWeeks(year))
	}
	if f.byDay() && !f.inMonth {
		set.intersect(f.byWeekdays(weekday, days))
	}
	return set
}

// byMonths applies the conditions that can be decided within each month.
func (f *dayFilter) byMonths(year, weekday int) daySet {
	var set daySet
	first, moved := 0, false
	for month := time.January; month <= time.December; month++ {
		days := ical.DaysIn(year, month)
		passing := uint32(0)
		if f.months>>month&1 != 0 {
			passing = f.monthDates(days)
		}
		if moved {
			passing |= 1 // the day after the previous month; December has no missing days
		}
		moved = f.months>>month&1 != 0 && f.skip == "FORWARD" && f.monthDays>>(days+1) != 0
		if f.byDay() && f.inMonth {
			passing &= f.monthWeekdays((weekday+first)%7, days)
		}
		set.addMonth(first, passing)
		first += days
	}
	return set
}

// monthDates returns the days of a month that match BYMONTHDAY. RFC 7529 §4.1: SKIP applies to these, before BYDAY.
func (f *dayFilter) monthDates(days int) uint32 {
	all := uint32(1<<days - 1)
	if f.monthDays|f.monthEnds == 0 {
		return all
	}
	dates := uint32(f.monthDays>>1) | bits.Reverse32(uint32(f.monthEnds>>1))>>(32-days)
	if f.skip == "BACKWARD" && f.monthDays>>(days+1) != 0 {
		dates |= 1 << (days - 1)
	}
	return dates & all
}

// monthWeekdays returns the days that match BYDAY in a month that begins on this weekday.
func (f *dayFilter) monthWeekdays(weekday, days int) uint32 {
	// Bit 0 is the weekday of the first day. The seven bits of a week repeat five times.
	week := uint32(f.weekdays)<<7 | uint32(f.weekdays)
	week = week >> weekday & allWeekdays
	set := week | week<<7 | week<<14 | week<<21 | week<<28
	for _, entry := range f.numbered {
		if day := nthWeekday(entry, weekday, days); day >= 0 {
			set |= 1 << day
		}
	}
	return set
}

func (f *dayFilter) byWeekdays(weekday, days int) *daySet {
	set := new(daySet)
	for day := range days {
		if f.weekdays>>((weekday+day)%7)&1 != 0 {
			set.add(day)
		}
	}
	for _, entry := range f.numbered {
		if day := nthWeekday(entry, weekday, days); day >= 0 {
			set.add(day)
		}
	}
	return set
}

// nthWeekday returns a day of BYDAY in a period of this length that begins on this weekday, or -1.
func nthWeekday(entry ical.WeekdayNum, weekday, days int) int {
	day := (int(entry.Weekday)-weekday+7)%7 + 7*(entry.N-1)
	if entry.N < 0 {
		last := (weekday + days - 1) % 7
		day = days - 1 - (last-int(entry.Weekday)+7)%7 + 7*(entry.N+1)
	}
	if day < 0 || day >= days {
		return -1
	}
	return day
}

func numberedDays(numbers []int, days int) *daySet {
	set := new(daySet)
	for _, n := range numbers {
		if n < 0 {
			n += days + 1
		}
		set.addRange(n-1, n, days)
	}
	return set
}

// byWeeks returns the days of a calendar year that are in one of the weeks. The first days of January may be in the
// last week of the previous year, and the last days of December in week 1 of the next.
func (f *dayFilter) byWeeks(year int) *daySet {
	set := new(daySet)
	days := yearLength(year)
	for y := year - 1; y <= year+1; y++ {
		// The first day of week 1 of y, counted in the requested year.
		first := firstWeek(y, f.weekStart) + ical.CivilDate(y, time.January, 1).Days() -
			ical.CivilDate(year, time.January, 1).Days()
		weeks := (yearLength(y) + firstWeek(y+1, f.weekStart) - firstWeek(y, f.weekStart)) / 7
		for _, n := range f.weeks {
			if n < 0 {
				n += weeks + 1
			}
			if n >= 1 && n <= weeks {
				set.addRange(first+7*(n-1), first+7*n, days)
			}
		}
	}
	return set
}

// firstWeek returns the first day of week 1, as a day of the year that may be negative. Week 1 is the first week with
// at least four days in the year (RFC 5545 §3.3.10, ISO 8601).
func firstWeek(year int, weekStart time.Weekday) int {
	into := (int(ical.CivilDate(year, time.January, 1).Weekday()) - int(weekStart) + 7) % 7
	if into <= 3 {
		return -into
	}
	return 7 - into
}

func yearLength(year int) int {
	if ical.IsLeap(year) {
		return 366
	}
	return 365
}
