package daterange

import (
	"regexp"
	"strconv"
	"sync"
)

// form is one way to write a range. read interprets the groups of the pattern; its second result is a reason for
// rejection, or empty. example is for the error text.
type form struct {
	pattern *regexp.Regexp
	read    func(reading, []string) (days, string)
	example string
}

const (
	weekdayWords = `(mon|monday|tue|tues|tuesday|wed|weds|wednesday|thu|thur|thurs|thursday|fri|friday|sat|saturday|` +
		`sun|sunday)`
	monthWords = `(jan|january|feb|february|mar|march|apr|april|may|jun|june|jul|july|aug|august|sep|sept|` +
		`september|oct|october|nov|november|dec|december)`
	numberWords  = `(\d{1,4}|one|two|three|four|five|six|seven|eight|nine|ten|a|an)`
	shiftWords   = `(this|next|coming|upcoming|following|last|previous|past)`
	ordinalWords = `(first|1st|second|2nd|third|3rd|fourth|4th|fifth|5th|last)`
	unitWords    = `(day|week|month|year)s?`
	dayNumber    = `(\d{1,2})(?:st|nd|rd|th)?`
	maybeYear    = `(?: (?:of )?(\d{4}))?`
)

// maxCount limits "next N …", so that the arithmetic cannot overflow.
const maxCount = 3660

// forms is the grammar of a single day or period. The first match decides. The patterns are compiled once, on first
// use.
var forms = sync.OnceValue(func() []form {
	rows := []struct {
		pattern, example string
		read             func(reading, []string) (days, string)
	}{
		{`(?:today|(?:right )?now)`, "today", relativeDay(0)},
		{`tonight`, "tonight", tonight},
		{`tomorrow`, "tomorrow", relativeDay(1)},
		{`yesterday`, "yesterday", relativeDay(-1)},
		{`(?:the )?day after tomorrow`, "day after tomorrow", relativeDay(2)},
		{`(?:the )?day before yesterday`, "day before yesterday", relativeDay(-2)},
		{`(?:the )?` + shiftWords + `? ?(week|weekend|month|quarter|year)`, "next week", relativePeriod},
		{`(?:the )?(beginning|start|end|rest|remainder) of (?:the )?(.+)`, "rest of the week", edge},
		{`(?:the )?` + shiftWords + ` ` + numberWords + ` ` + unitWords, "next 7 days", counted},
		{`in ` + numberWords + ` ` + unitWords, "in 3 days", ahead},
		{numberWords + ` ` + unitWords + ` (ago|from now|from today)`, "3 days ago", away},
		{`(?:on )?` + shiftWords + `? ?` + weekdayWords, "next friday", namedDay},
		{`(?:on )?` + weekdayWords + ` (?:of )?(this|next|last) week`, "friday of next week", dayOfWeek},
		{
			`(?:on )?(?:the )?` + ordinalWords + ` ` + weekdayWords + ` (?:of|in) (?:the )?` + shiftWords +
				`? ?(?:month|` + monthWords + `)` + maybeYear,
			"first monday of may", ordinalDay,
		},
		{`(?:in )?` + shiftWords + `? ?` + monthWords + maybeYear, "march 2026", namedMonth},
		{`(?:on )?` + monthWords + ` (?:the )?` + dayNumber + maybeYear, "dec 24", monthDay},
		{`(?:on )?(?:the )?` + dayNumber + ` (?:of )?` + monthWords + maybeYear, "24 december 2026", dayMonth},
		{`(?:on )?(the )?(\d{1,2})(st|nd|rd|th)?`, "the 5th", dayAlone},
		{`q([1-4])` + maybeYear, "q1 2027", quarterYear},
		{`(\d{4})[- ]?q([1-4])`, "2027-Q1", yearQuarter},
		{`(?:calendar |iso )?(?:week|wk|cw|w) ?(\d{1,2})` + maybeYear, "week 50", weekAlone},
		{`(\d{4})[- ]?w(\d{2})`, "2026-W08", numberedWeek},
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

func relativeDay(n int) func(reading, []string) (days, string) {
	return func(r reading, _ []string) (days, string) { return one(r.today().plus(n)), "" }
}

func tonight(r reading, _ []string) (days, string) {
	d := one(r.today())
	d.opens = evening
	return d, ""
}

// shift returns how far a word moves a period: "next week" is one week ahead.
func shift(word string) int {
	return map[string]int{
		"next": 1, "coming": 1, "upcoming": 1, "following": 1, "last": -1, "past": -1, "previous": -1,
	}[word]
}

// soon reports whether a word means the next one in the future.
func soon(word string) bool { return word == "coming" || word == "upcoming" }

func relativePeriod(r reading, m []string) (days, string) {
	if m[1] == "weekend" && soon(m[0]) {
		return weekend(r.today().plus(1).upTo(6)), ""
	}
	return r.period(m[1], shift(m[0])), ""
}

// period returns the week, month … that is n after the current one.
func (r reading) period(unit string, n int) days {
	now := r.today()
	switch unit {
	case "week":
		return week(now.plus(7*n), r.WeekStart)
	case "weekend":
		return weekend(now.plus(7 * n))
	case "month":
		return month(day{now.year, now.month, 1}.plusMonths(n))
	case "quarter":
		return quarter(day{now.year, now.month, 1}.plusMonths(3 * n))
	}
	return year(now.year + n)
}

// edge parses "the end of next month" and "the rest of the week". The start or end of a week is three days, of a
// longer period seven.
func edge(r reading, m []string) (days, string) {
	if r.within {
		return days{}, `"start of", "end of" and "rest of" cannot be combined`
	}
	r.within = true
	whole, err := r.whole(m[1])
	switch {
	case err != nil && err.why == "":
		return days{}, "the " + m[0] + " must be of a week, month, quarter or year"
	case err != nil:
		return days{}, err.why
	}
	n := 7
	if !whole.first.plus(7).before(whole.last.plus(1)) {
		n = 3
	}
	switch m[0] {
	case "beginning", "start":
		return span(whole.first, earlier(whole.last, whole.first.plus(n-1))), ""
	case "end":
		return span(later(whole.first, whole.last.plus(1-n)), whole.last), ""
	}
	rest := span(later(whole.first, r.today()), whole.last)
	if rest.last.before(rest.first) {
		return days{}, "that period is already over"
	}
	return rest, ""
}

// counted parses "next 7 days", which starts today, and "last 7 days", which ends today.
func counted(r reading, m []string) (days, string) {
	n, why := count(m[1])
	if why != "" {
		return days{}, why
	}
	now := r.today()
	if shift(m[0]) < 0 {
		return span(now.add(m[2], -n).plus(1), now), ""
	}
	return span(now, now.add(m[2], n).plus(-1)), ""
}

func ahead(r reading, m []string) (days, string) {
	n, why := count(m[0])
	return one(r.today().add(m[1], n)), why
}

func away(r reading, m []string) (days, string) {
	n, why := count(m[0])
	if m[2] == "ago" {
		n = -n
	}
	return one(r.today().add(m[1], n)), why
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

// number converts digits that a pattern has matched.
func number(digits string) int {
	n, _ := strconv.Atoi(digits)
	return n
}
