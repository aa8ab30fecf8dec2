package archive

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"caldav-mcp-server/ical"
)

// oldRule converts a recurrence rule of vCalendar 1.0. It has a frequency with an interval, positions in the
// period, and a count ("#5"; "#0" means forever) or an end. An ambiguous rule is an error; decision 0094 lists the
// cases.
func oldRule(value string, start ical.Time) (string, error) {
	words := strings.Fields(strings.ToUpper(value))
	if len(words) < 2 || len(value) > maxOldRule {
		return "", errNoEnd
	}
	head := oldFrequency.FindStringSubmatch(words[0])
	if head == nil {
		return "", fmt.Errorf("%.20q is not a frequency of days, weeks, months or years", words[0])
	}
	if start.IsZero() {
		return "", errors.New("it has no start")
	}
	interval, err := strconv.Atoi(head[2])
	if err != nil || interval < 1 {
		return "", errors.New("its interval is invalid")
	}
	r := oldRecur{Recur: ical.Recur{Interval: interval, WeekStart: time.Monday}, start: start}
	last := len(words) - 1
	if err := oldReads[head[1]](&r, words[1:last]); err != nil {
		return "", err
	}
	if err := r.ends(words[last]); err != nil {
		return "", err
	}
	return r.String(), nil
}

const maxOldRule = 500

var (
	oldFrequency = regexp.MustCompile(`^(D|W|MP|MD|YM|YD)([0-9]{1,4})$`)

	errNoEnd      = errors.New("it does not say how often or until when")
	errFirst      = errors.New("its start is not on a day of the rule")
	errOften      = errors.New("it is not clear whether the number after # counts days or periods")
	errTimesOfDay = errors.New("it has parts other than days, such as times of day")
)

// oldRecur is a rule that is being parsed.
type oldRecur struct {
	ical.Recur
	start ical.Time
	// each is the number of days that the rule names in one period; skips is set when some periods may have none.
	each  int
	skips bool
}

var oldReads = map[string]func(*oldRecur, []string) error{
	"D": (*oldRecur).daily, "W": (*oldRecur).weekly, "MP": (*oldRecur).byPosition, "MD": (*oldRecur).byDay,
	"YM": (*oldRecur).byMonth, "YD": (*oldRecur).byYearDay,
}

// ends parses the last word.
func (r *oldRecur) ends(word string) error {
	if number, counted := strings.CutPrefix(word, "#"); counted {
		n, err := strconv.Atoi(number)
		switch {
		case err != nil || n < 0:
			return errNoEnd
		case n > 0 && (r.each > 1 || r.skips):
			return errOften
		}
		r.Count = n
		return nil
	}
	until, clear := oldTime(word)
	if !clear || len(word) < len("20060102") {
		return errNoEnd
	}
	if until.IsDate() && r.start.Form == ical.FormFloating {
		until = ical.Floating(until.Civil.AddSeconds(24*3600 - 1)) // the whole day
	}
	if until.Form != r.start.Form {
		return errors.New("its start and its end differ in kind: a date, local time or UTC")
	}
	r.Until = until
	return nil
}

func (r *oldRecur) daily(words []string) error {
	r.Freq = ical.Daily
	if len(words) > 0 {
		return errTimesOfDay
	}
	return nil
}

var oldWeekdays = map[string]time.Weekday{
	"SU": time.Sunday, "MO": time.Monday, "TU": time.Tuesday, "WE": time.Wednesday, "TH": time.Thursday,
	"FR": time.Friday, "SA": time.Saturday,
}

func (r *oldRecur) weekly(words []string) error {
	r.Freq, r.each = ical.Weekly, len(words)
	for _, word := range words {
		day, is := oldWeekdays[word]
		if !is {
			return errTimesOfDay
		}
		r.ByDay = append(r.ByDay, ical.WeekdayNum{Weekday: day})
	}
	switch {
	case len(words) > 0 && !slices.Contains(r.ByDay, ical.WeekdayNum{Weekday: r.start.Civil.Weekday()}):
		return errFirst
	case r.Interval > 1 && len(words) > 1 && slices.Contains(words, "SU"):
		return errors.New("it is not clear whether its weeks begin on Sunday or on Monday")
	}
	return nil
}

// byPosition parses weekdays of the month. Each number applies to all weekdays after it, as in 1+ 3+ TU.
func (r *oldRecur) byPosition(words []string) error {
	r.Freq = ical.Monthly
	if len(words) == 0 {
		if r.position() == 5 {
			return errors.New("it is not clear whether it means the fifth or the last one of a month")
		}
		words = []string{strconv.Itoa(r.position()), strings.ToUpper(r.start.Civil.Weekday().String()[:2])}
	}
	var numbers []int
	after := false // a weekday was read since the last number
	for _, word := range words {
		if day, is := oldWeekdays[word]; is && len(numbers) > 0 {
			after = true
			for _, n := range numbers {
				r.ByDay = append(r.ByDay, ical.WeekdayNum{Weekday: day, N: n})
			}
			continue
		}
		n, err := signed(word, 5)
		if err != nil {
			return err
		}
		if after {
			numbers, after = nil, false
		}
		numbers, r.skips = append(numbers, n), r.skips || n == 5 || n == -5
	}
	r.each = len(r.ByDay)
	switch {
	case !after:
		return errors.New("it names no weekday")
	case !slices.ContainsFunc(r.ByDay, r.isFirst):
		return errFirst
	}
	return nil
}

// position returns the position of the first instance's weekday in its month.
func (r *oldRecur) position() int { return (r.start.Civil.Day + 6) / 7 }

func (r *oldRecur) isFirst(w ical.WeekdayNum) bool {
	left := ical.DaysIn(r.start.Civil.Year, r.start.Civil.Month) - r.start.Civil.Day
	return w.Weekday == r.start.Civil.Weekday() && (w.N == r.position() || w.N == -(left/7+1))
}

// signed parses 2, 2+ or 2-.
func signed(word string, most int) (int, error) {
	number, back := strings.CutSuffix(word, "-")
	n, err := strconv.Atoi(strings.TrimSuffix(number, "+"))
	if err != nil || n < 1 || n > most {
		return 0, errTimesOfDay
	}
	if back {
		n = -n
	}
	return n, nil
}

func (r *oldRecur) byDay(words []string) error {
	r.Freq, r.each = ical.Monthly, len(words)
	at := r.start.Civil
	r.skips = len(words) == 0 && at.Day > 28
	found := len(words) == 0
	for _, word := range words {
		n, err := signed(word, 31)
		if word == "LD" {
			n, err = -1, nil
		}
		if err != nil {
			return err
		}
		r.ByMonthDay = append(r.ByMonthDay, n)
		r.skips = r.skips || n > 28 || n < -28
		found = found || n == at.Day || n == at.Day-ical.DaysIn(at.Year, at.Month)-1
	}
	if !found {
		return errFirst
	}
	return nil
}

// byMonth parses months. Without any it uses the month of the first instance.
func (r *oldRecur) byMonth(words []string) error {
	r.Freq, r.each, r.skips = ical.Yearly, len(words), r.start.Civil.Day > 28
	for _, word := range words {
		n, err := strconv.Atoi(word)
		if err != nil || n < 1 || n > 12 {
			return errTimesOfDay
		}
		r.ByMonth = append(r.ByMonth, n)
	}
	if len(words) > 0 && !slices.Contains(r.ByMonth, int(r.start.Civil.Month)) {
		return errFirst
	}
	return nil
}

// byYearDay parses days of the year. Without any it is a birthday: phones wrote YD1 for these.
func (r *oldRecur) byYearDay(words []string) error {
	r.Freq, r.each = ical.Yearly, len(words)
	r.skips = len(words) == 0 && r.start.Civil.Month == time.February && r.start.Civil.Day == 29
	for _, word := range words {
		n, err := strconv.Atoi(strings.TrimSuffix(word, "+"))
		if err != nil || n < 1 || n > 366 {
			return errTimesOfDay
		}
		r.ByYearDay, r.skips = append(r.ByYearDay, n), r.skips || n == 366
	}
	if len(words) > 0 && !slices.Contains(r.ByYearDay, r.start.Civil.YearDay()) {
		return errFirst
	}
	return nil
}
