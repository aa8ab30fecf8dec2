package daterange

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// form is one way of saying a range: its pattern, how its groups are read (the second
// result says what is wrong with them, if anything), and an example for the error.
type form struct {
	pattern *regexp.Regexp
	read    func(Reader, []string) (days, string)
	example string
}

const (
	weekdayWords = `(mon|monday|tue|tues|tuesday|wed|wednesday|thu|thur|thurs|thursday|fri|friday|sat|saturday|sun|sunday)`
	monthWords   = `(jan|january|feb|february|mar|march|apr|april|may|jun|june|jul|july|aug|august|sep|sept|september|oct|october|nov|november|dec|december)`
	numberWords  = `(\d{1,4}|one|two|three|four|five|six|seven|eight|nine|ten|a|an)`
)

// maxCount bounds "next N …": nobody plans further, and the arithmetic stays small.
const maxCount = 3660

// forms is the grammar of a single day or period, tried in order; the first that fits decides. The patterns
// are compiled once, when first needed.
var forms = sync.OnceValue(func() []form {
	rows := []struct {
		pattern, example string
		read             func(Reader, []string) (days, string)
	}{
		{`(?:today|tonight)`, "today", relativeDay(0)},
		{`tomorrow`, "tomorrow", relativeDay(1)},
		{`yesterday`, "yesterday", relativeDay(-1)},
		{`(?:the )?day after tomorrow`, "day after tomorrow", relativeDay(2)},
		{`(this|next|last|previous|past)? ?(week|weekend|month|quarter|year)`, "next week", relativePeriod},
		{`(?:the )?(next|coming|last|past|previous) ` + numberWords + ` (day|week|month|year)s?`, "next 7 days", counted},
		{`in ` + numberWords + ` (day|week|month|year)s?`, "in 3 days", ahead},
		{`(?:on )?(this|next|last)? ?` + weekdayWords, "next friday", namedDay},
		{`(?:in )?` + monthWords + `(?: (\d{4}))?`, "march 2026", namedMonth},
		{`(\d{4})-?w(\d{2})`, "2026-W08", numberedWeek},
		{`(\d{4})-(\d{2})`, "2026-02", numberedMonth},
		{`(\d{4})`, "2026", numberedYear},
		{`(\d{4}-\d{2}-\d{2})`, "2026-02-20", date},
	}
	list := make([]form, len(rows))
	for i, row := range rows {
		list[i] = form{regexp.MustCompile(`^(?:` + row.pattern + `)$`), row.read, row.example}
	}
	return list
})

func relativeDay(n int) func(Reader, []string) (days, string) {
	return func(r Reader, _ []string) (days, string) { return one(r.today().plus(n)), "" }
}

// shift is how far a word moves a period: "next week" is one week on.
func shift(word string) int {
	switch word {
	case "next", "coming":
		return 1
	case "last", "past", "previous":
		return -1
	}
	return 0
}

func relativePeriod(r Reader, m []string) (days, string) {
	return r.period(m[1], shift(m[0])), ""
}

// period returns the week, month … that is n after the present one.
func (r Reader) period(unit string, n int) days {
	now := r.today()
	switch unit {
	case "week":
		return week(now.plus(7*n), r.WeekStart)
	case "weekend":
		return weekend(now.plus(7 * n))
	case "month":
		return month(day{now.year, now.month + time.Month(n), 1}.day())
	case "quarter":
		return quarter(day{now.year, now.month + time.Month(3*n), 1}.day())
	}
	return year(day{now.year + n, time.January, 1})
}

// counted reads "next 7 days", which begins today, and "last 7 days", which ends today.
func counted(r Reader, m []string) (days, string) {
	n, why := count(m[1])
	if why != "" {
		return days{}, why
	}
	now := r.today()
	if shift(m[0]) < 0 {
		return days{add(now, m[2], -n).plus(1), now}, ""
	}
	return days{now, add(now, m[2], n).plus(-1)}, ""
}

func ahead(r Reader, m []string) (days, string) {
	n, why := count(m[0])
	return one(add(r.today(), m[1], n)), why
}

func add(d day, unit string, n int) day {
	switch unit {
	case "day":
		return d.plus(n)
	case "week":
		return d.plus(7 * n)
	case "month":
		return addMonths(d, n)
	}
	return addMonths(d, 12*n)
}

// addMonths keeps the day of the month, or takes the last one where the month is shorter.
func addMonths(d day, n int) day {
	target := day{d.year, d.month + time.Month(n), 1}.day()
	return day{target.year, target.month, min(d.of, month(target).last.of)}
}

func count(word string) (int, string) {
	words := []string{"", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"}
	for n, w := range words {
		if n > 0 && w == word {
			return n, ""
		}
	}
	if word == "a" || word == "an" {
		return 1, ""
	}
	n, err := strconv.Atoi(word)
	if err != nil || n < 1 || n > maxCount {
		return 0, "the number must be from 1 to " + strconv.Itoa(maxCount)
	}
	return n, ""
}

// namedDay reads a weekday: alone it is the next one to come, today included; with "this",
// "next" or "last" it is that of the present, next or last week.
func namedDay(r Reader, m []string) (days, string) {
	wanted := weekdayOf(m[1])
	now := r.today()
	if m[0] == "" {
		return one(now.plus(int((wanted - now.weekday() + 7) % 7))), ""
	}
	w := week(now.plus(7*shift(m[0])), r.WeekStart)
	return one(w.first.plus(int((wanted - r.WeekStart + 7) % 7))), ""
}

func weekdayOf(word string) time.Weekday {
	for d := time.Sunday; d <= time.Saturday; d++ {
		if strings.EqualFold(d.String()[:3], word[:3]) {
			return d
		}
	}
	panic("daterange: the pattern let " + word + " through")
}

// namedMonth reads a month; without a year it is the one to come, the present included.
func namedMonth(r Reader, m []string) (days, string) {
	now := r.today()
	wanted := monthOf(m[0])
	y := now.year
	if m[1] != "" {
		y, _ = strconv.Atoi(m[1])
	} else if wanted < now.month {
		y++
	}
	return month(day{y, wanted, 1}), ""
}

func monthOf(word string) time.Month {
	for m := time.January; m <= time.December; m++ {
		if strings.EqualFold(m.String()[:3], word[:3]) {
			return m
		}
	}
	panic("daterange: the pattern let " + word + " through")
}

func numberedWeek(_ Reader, m []string) (days, string) {
	y, n := number(m[0]), number(m[1])
	d, exists := isoWeek(y, n)
	if !exists {
		return days{}, m[0] + " has no week " + m[1]
	}
	return d, ""
}

func numberedMonth(_ Reader, m []string) (days, string) {
	n := number(m[1])
	if n < 1 || n > 12 {
		return days{}, "there is no month " + m[1]
	}
	return month(day{number(m[0]), time.Month(n), 1}), ""
}

func numberedYear(_ Reader, m []string) (days, string) {
	return year(day{number(m[0]), time.January, 1}), ""
}

func date(_ Reader, m []string) (days, string) {
	t, err := time.Parse(time.DateOnly, m[0])
	if err != nil {
		return days{}, "there is no day " + m[0]
	}
	return one(dayOf(t)), ""
}

// number reads digits that a pattern has let through.
func number(digits string) int {
	n, _ := strconv.Atoi(digits)
	return n
}
