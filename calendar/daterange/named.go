package daterange

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Weekdays and months repeat. The functions below choose the one that the user means.

var weekdayPattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:on )?(?:` + shiftWords + ` )?` + weekdayWords + `$`)
})

func isWeekday(s string) bool { return weekdayPattern().MatchString(s) }

// namedDay parses a weekday. Alone it means the next one, including today, or in the end of a range the first one
// after the start. "last friday" is the latest one before today. "this" and "next" refer to the week, and so does
// "last" in a range of weekdays.
func namedDay(r reading, m []string) (days, string) {
	wanted := weekdayOf(m[1])
	now := r.today()
	switch {
	case m[0] == "" && r.ends:
		return one(r.after.upTo(wanted)), ""
	case m[0] == "" && r.past:
		return one(now.plus(-6).upTo(wanted)), ""
	case m[0] == "":
		return one(now.upTo(wanted)), ""
	case soon(m[0]):
		return one(now.plus(1).upTo(wanted)), ""
	case shift(m[0]) < 0 && !r.run:
		return one(now.plus(-7).upTo(wanted)), ""
	}
	return one(week(now.plus(7*shift(m[0])), r.WeekStart).first.upTo(wanted)), ""
}

func dayOfWeek(r reading, m []string) (days, string) {
	return one(r.period("week", shift(m[1])).first.upTo(weekdayOf(m[0]))), ""
}

func weekdayOf(word string) time.Weekday { return called(word, time.Sunday, time.Saturday) }

func monthOf(word string) time.Month { return called(word, time.January, time.December) }

// called returns the value whose name begins like the word.
func called[T interface {
	~int
	String() string
}](word string, first, last T) T {
	for one := first; one <= last; one++ {
		if strings.EqualFold(one.String()[:3], word[:3]) {
			return one
		}
	}
	panic("daterange: the pattern let " + word + " through")
}

// yearOf returns the year that was given with a month. Without one the month is the next, including the current
// month; in the past it is the latest, including the current month.
func (r reading) yearOf(m time.Month, said string) int {
	switch {
	case said != "":
		return number(said)
	case r.past && m > r.anchor.month:
		return r.anchor.year - 1
	case r.past:
		return r.anchor.year
	case m < r.anchor.month:
		return r.anchor.year + 1
	}
	return r.anchor.year
}

// namedMonth parses a month. "next december" starts after this month, "last december" is over.
func namedMonth(r reading, m []string) (days, string) {
	wanted, y := monthOf(m[1]), r.today().year
	switch ahead := wanted - r.today().month; {
	case m[0] == "" || m[2] != "":
		y = r.yearOf(wanted, m[2])
	case shift(m[0]) > 0 && ahead <= 0:
		y++
	case shift(m[0]) < 0 && ahead >= 0:
		y--
	}
	return month(day{y, wanted, 1}), ""
}

var ordinals = map[string]int{"first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5}

// ordinalDay parses "first monday of may" and "last friday of next month".
func ordinalDay(r reading, m []string) (days, string) {
	in := r.period("month", shift(m[2]))
	if m[3] != "" {
		in, _ = namedMonth(r, m[2:])
	} else if m[4] != "" {
		return days{}, "a month without a name has no year"
	}
	n := ordinals[m[0]]
	if n == 0 && m[0] != "last" {
		n = number(m[0][:1])
	}
	found := in.first.upTo(weekdayOf(m[1])).plus(7 * (n - 1))
	if n == 0 {
		found = in.last.plus(-6).upTo(weekdayOf(m[1]))
	}
	if in.last.before(found) {
		return days{}, fmt.Sprintf("%s %d has no %s %s", in.first.month, in.first.year, m[0], m[1])
	}
	return one(found), ""
}

func dayMonth(r reading, m []string) (days, string) {
	return monthDay(r, []string{m[1], m[0], m[2]})
}

// leapYears is enough years to find the next February 29.
const leapYears = 8

// monthDay parses "dec 24" and finds the year. The end of a range is never before its start.
func monthDay(r reading, m []string) (days, string) {
	wanted, of := monthOf(m[0]), number(m[1])
	d := day{r.yearOf(wanted, m[2]), wanted, of}
	step := 1
	if r.past {
		step = -1
	}
	for n := 0; n < leapYears && m[2] == "" && (!d.exists() || r.misses(d)); n++ {
		d.year += step
	}
	if !d.exists() {
		return days{}, strings.TrimSpace(fmt.Sprintf("there is no day %s %d %s", wanted, of, m[2]))
	}
	return one(d), ""
}

// misses reports whether a date is on the wrong side: before the start that it ends, or in the future instead of the
// past.
func (r reading) misses(d day) bool {
	if r.past {
		return r.anchor.before(d)
	}
	return r.ends && d.before(r.anchor)
}

// dayAlone parses "the 5th": the next one, including today; in the past the latest one, including today.
func dayAlone(r reading, m []string) (days, string) {
	of := number(m[1])
	switch {
	case of < 1 || of > 31:
		return days{}, "no month has a day " + m[1]
	case m[0] == "" && m[2] == "" && !r.ends:
		return days{}, m[1] + ` could be a day or an hour; say "the ` + m[1] + `." or name the month`
	}
	d, step := day{r.anchor.year, r.anchor.month, of}, time.Month(1)
	if r.past {
		step = -1
	}
	for !d.exists() || r.past && r.anchor.before(d) || !r.past && d.before(r.anchor) {
		next := day{d.year, d.month + step, 1}.day()
		d = day{next.year, next.month, of}
	}
	return one(d), ""
}

// quarterYear parses "q1". Without a year it is the next one, including the current quarter; in the past the latest
// one, including the current quarter.
func quarterYear(r reading, m []string) (days, string) {
	in := time.Month(3 * number(m[0]))
	if r.past {
		in -= 2
	}
	return quarter(day{r.yearOf(in, m[1]), in, 1}), ""
}

func yearQuarter(r reading, m []string) (days, string) {
	return quarterYear(r, []string{m[1], m[0]})
}

// weekAlone parses "week 50". Without a year it is the next one, including the current week.
func weekAlone(r reading, m []string) (days, string) {
	if m[1] != "" {
		return numberedWeek(r, []string{m[1], m[0]})
	}
	y, n := r.anchor.utc().ISOWeek()
	switch {
	case r.past && number(m[0]) > n:
		y--
	case !r.past && number(m[0]) < n:
		y++
	}
	return numberedWeek(r, []string{strconv.Itoa(y), m[0]})
}

func numberedWeek(_ reading, m []string) (days, string) {
	d, exists := isoWeek(number(m[0]), number(m[1]))
	if !exists {
		return days{}, m[0] + " has no week " + m[1]
	}
	return d, ""
}

func numberedMonth(_ reading, m []string) (days, string) {
	n := number(m[1])
	if n < 1 || n > 12 {
		return days{}, "there is no month " + m[1]
	}
	return month(day{number(m[0]), time.Month(n), 1}), ""
}

func numberedYear(_ reading, m []string) (days, string) { return year(number(m[0])), "" }

func date(_ reading, m []string) (days, string) {
	t, err := time.Parse(time.DateOnly, m[0])
	if err != nil {
		return days{}, "there is no day " + m[0]
	}
	return one(dayOf(t)), ""
}
