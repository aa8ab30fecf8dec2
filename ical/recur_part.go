package ical

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// recurPart is the parser and the formatter of one rule part. The formatter returns "" if the rule does not have the
// part.
type recurPart struct {
	name string
	read func(*Recur, string) error
	text func(*Recur) string
}

// recurTable lists the parts of RFC 5545 §3.3.10 and RFC 7529. RSCALE comes first, since it decides which values
// BYMONTH may have; then FREQ.
var recurTable = []recurPart{
	{"RSCALE", readRScale, nil},
	{"FREQ", readFreq, nil},
	{"UNTIL", readUntil, func(r *Recur) string { return untilText(r.Until) }},
	{"COUNT", readPositive(func(r *Recur) *int { return &r.Count }), func(r *Recur) string {
		return numberText(r.Count, 0)
	}},
	{"INTERVAL", readPositive(func(r *Recur) *int { return &r.Interval }), func(r *Recur) string {
		return numberText(r.Interval, 1)
	}},
	listPart("BYSECOND", 0, 60, func(r *Recur) *[]int { return &r.BySecond }),
	listPart("BYMINUTE", 0, 59, func(r *Recur) *[]int { return &r.ByMinute }),
	listPart("BYHOUR", 0, 23, func(r *Recur) *[]int { return &r.ByHour }),
	{"BYDAY", readByDay, func(r *Recur) string { return joined(r.ByDay) }},
	listPart("BYMONTHDAY", -31, 31, func(r *Recur) *[]int { return &r.ByMonthDay }),
	listPart("BYYEARDAY", -366, 366, func(r *Recur) *[]int { return &r.ByYearDay }),
	listPart("BYWEEKNO", -53, 53, func(r *Recur) *[]int { return &r.ByWeekNo }),
	{"BYMONTH", readByMonth, byMonthText},
	listPart("BYSETPOS", -366, 366, func(r *Recur) *[]int { return &r.BySetPos }),
	{"WKST", readWeekStart, weekStartText},
	{"SKIP", readSkip, func(r *Recur) string { return r.Skip }},
}

func readFreq(r *Recur, value string) error {
	freq := slices.Index(recurFrequencies[:], upperName(value))
	if freq <= 0 {
		return fmt.Errorf("FREQ=%s is no frequency; one of SECONDLY, MINUTELY, HOURLY, DAILY, WEEKLY, MONTHLY, "+
			"YEARLY is", excerpt(value))
	}
	r.Freq = Frequency(freq)
	return nil
}

func readRScale(r *Recur, value string) error {
	r.RScale = upperName(value)
	if value == "" || strings.Trim(r.RScale, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-") != "" {
		return fmt.Errorf("RSCALE=%s is no name of a calendar", excerpt(value))
	}
	return nil
}

func readSkip(r *Recur, value string) error {
	r.Skip = upperName(value)
	if !slices.Contains([]string{"OMIT", "BACKWARD", "FORWARD"}, r.Skip) {
		return fmt.Errorf("SKIP=%s is none of OMIT, BACKWARD and FORWARD", excerpt(value))
	}
	return nil
}

func readUntil(r *Recur, value string) error {
	until, err := ParseTime(value, "")
	r.Until = until
	if err != nil {
		return fmt.Errorf("UNTIL: %w", err)
	}
	return nil
}

func untilText(until Time) string {
	if until.IsZero() {
		return ""
	}
	return until.String()
}

// recurNumberMax limits INTERVAL and COUNT; the grammar's 1*DIGIT does not. It is more than the number of seconds in
// iCalendar's years, except where an int has 32 bits.
const recurNumberMax = min(999_999_999_999, math.MaxInt)

func readPositive(field func(*Recur) *int) func(*Recur, string) error {
	return func(r *Recur, value string) error {
		n, err := strconv.Atoi(value)
		if err != nil || !digits(value) || n < 1 || n > recurNumberMax {
			return fmt.Errorf("%s is no number between 1 and %d", excerpt(value), recurNumberMax)
		}
		*field(r) = n
		return nil
	}
}

func numberText(n, unwritten int) string {
	if n == unwritten {
		return ""
	}
	return strconv.Itoa(n)
}

// listPart is a BYxxx part with integers. Negative ones count from the end; if they are allowed, zero is not.
func listPart(name string, least, most int, field func(*Recur) *[]int) recurPart {
	read := func(r *Recur, value string) error {
		for item := range strings.SplitSeq(value, ",") {
			n, err := recurInt(item)
			if err != nil || n < least || n > most || n == 0 && least < 0 {
				return fmt.Errorf("%s=%s is out of its range %d to %d", name, excerpt(item), least, most)
			}
			list := field(r)
			*list = appendNew(*list, n)
		}
		return nil
	}
	return recurPart{name, read, func(r *Recur) string { return joined(*field(r)) }}
}

func readByMonth(r *Recur, value string) error {
	for item := range strings.SplitSeq(value, ",") {
		plain, leap := strings.CutSuffix(upperName(item), "L")
		n, err := recurInt(plain)
		if err != nil || n < 1 || n > 12 && r.RScale == "" || n > 13 {
			return fmt.Errorf("BYMONTH=%s is out of its range 1 to 12", excerpt(item))
		}
		if !leap {
			r.ByMonth = appendNew(r.ByMonth, n)
			continue
		}
		if r.RScale == "" {
			return fmt.Errorf("BYMONTH=%s is a leap month, which needs an RSCALE that has some", excerpt(item))
		}
		r.LeapMonths = appendNew(r.LeapMonths, n)
	}
	return nil
}

func byMonthText(r *Recur) string {
	text := joined(r.ByMonth)
	for _, month := range r.LeapMonths {
		if text != "" {
			text += ","
		}
		text += strconv.Itoa(month) + "L"
	}
	return text
}

func readByDay(r *Recur, value string) error {
	for item := range strings.SplitSeq(value, ",") {
		day, err := parseWeekdayNum(item)
		if err != nil {
			return err
		}
		r.ByDay = appendNew(r.ByDay, day)
	}
	return nil
}

func parseWeekdayNum(item string) (WeekdayNum, error) {
	item = strings.TrimSpace(item)
	split := max(0, len(item)-2)
	day, ok := parseWeekday(item[split:])
	if !ok {
		return WeekdayNum{}, fmt.Errorf("BYDAY=%s names none of SU, MO, TU, WE, TH, FR, SA", excerpt(item))
	}
	if split == 0 {
		return WeekdayNum{Weekday: day}, nil
	}
	n, err := recurInt(item[:split])
	if err != nil || n == 0 || n < -53 || n > 53 {
		return WeekdayNum{}, fmt.Errorf("BYDAY=%s is out of its range -53 to 53", excerpt(item))
	}
	return WeekdayNum{Weekday: day, N: n}, nil
}

func parseWeekday(code string) (time.Weekday, bool) {
	at := strings.Index(weekdayCodes, upperName(code))
	if len(code) != 2 || at < 0 || at%2 != 0 {
		return 0, false
	}
	return time.Weekday(at / 2), true
}

func readWeekStart(r *Recur, value string) error {
	day, ok := parseWeekday(value)
	if !ok {
		return fmt.Errorf("WKST=%s is none of SU, MO, TU, WE, TH, FR, SA", excerpt(value))
	}
	r.WeekStart = day
	return nil
}

func weekStartText(r *Recur) string {
	if r.WeekStart == time.Monday {
		return ""
	}
	return weekdayCode(r.WeekStart)
}

// recurInt parses an integer with an optional sign. The length is limited, so that no error quotes a long one.
func recurInt(s string) (int, error) {
	s = strings.TrimSpace(s)
	if len(s) > 4 {
		return 0, strconv.ErrRange
	}
	return strconv.Atoi(s)
}

// appendNew drops repeated values. They have no meaning, and a value repeated thousands of times would make a rule
// expensive to expand. The range of the values then limits the length.
func appendNew[T comparable](list []T, value T) []T {
	if slices.Contains(list, value) {
		return list
	}
	return append(list, value)
}

func joined[T any](list []T) string {
	var b strings.Builder
	for i, value := range list {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprint(&b, value)
	}
	return b.String()
}
