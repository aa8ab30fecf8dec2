package ical

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// recurPartsMax limits the X- parts, which have no other limit.
const recurPartsMax = 64

// ParseRecur parses a RECUR value. It accepts names in any case and superfluous ';', as some clients write them, and
// keeps X- parts. Violations of RFC 5545 §3.3.10 are errors, because readers differ on their meaning.
func ParseRecur(value string) (Recur, error) {
	parts, err := splitRecur(value)
	if err != nil {
		return Recur{}, err
	}
	r := Recur{Interval: 1, WeekStart: time.Monday}
	for _, part := range recurTable {
		text, ok := parts[part.name]
		if !ok {
			continue
		}
		delete(parts, part.name)
		if err := part.read(&r, text); err != nil {
			return Recur{}, err
		}
	}
	if err := r.keepExtra(parts); err != nil {
		return Recur{}, err
	}
	return r, r.check()
}

// splitRecur splits the value into its parts by upper-case name.
func splitRecur(value string) (map[string]string, error) {
	parts := make(map[string]string)
	for text := range strings.SplitSeq(value, ";") {
		text = strings.TrimSpace(text)
		if text == "" {
			continue
		}
		name, rest, ok := strings.Cut(text, "=")
		name = upperName(strings.TrimSpace(name))
		if !ok {
			return nil, fmt.Errorf("%s is no rule part; write NAME=value", excerpt(text))
		}
		if _, twice := parts[name]; twice {
			return nil, fmt.Errorf("%s stands twice in the rule", excerpt(name))
		}
		if len(parts) == recurPartsMax {
			return nil, fmt.Errorf("the rule has more than %d parts", recurPartsMax)
		}
		parts[name] = strings.TrimSpace(rest)
	}
	return parts, nil
}

// keepExtra keeps the unknown parts. RFC 5545 dropped RFC 2445's x-name parts, but clients still write them, and they
// never change the dates.
func (r *Recur) keepExtra(parts map[string]string) error {
	for name, value := range parts {
		if !strings.HasPrefix(name, "X-") {
			return fmt.Errorf("%s is no part of a rule", excerpt(name))
		}
		r.Extra = append(r.Extra, RecurPart{Name: name, Value: value})
	}
	slices.SortFunc(r.Extra, func(a, b RecurPart) int { return strings.Compare(a.Name, b.Name) })
	return nil
}

// recurRule is a MUST NOT of RFC 5545 §3.3.10.
type recurRule struct {
	broken func(*Recur) bool
	text   string
}

var recurRules = []recurRule{
	{func(r *Recur) bool { return r.Freq == 0 }, "the rule has no FREQ"},
	{func(r *Recur) bool {
		return r.Count > 0 && !r.Until.IsZero()
	}, "COUNT and UNTIL must not stand in the same rule"},
	{func(r *Recur) bool { return r.numberedDay() && r.Freq < Monthly }, "BYDAY may have a number only when FREQ is " +
		"MONTHLY or YEARLY"},
	{func(r *Recur) bool {
		return r.numberedDay() && r.Freq == Yearly &&
			len(r.ByWeekNo) > 0
	}, "BYDAY must not have a number beside BYWEEKNO"},
	{func(r *Recur) bool {
		return len(r.ByMonthDay) > 0 &&
			r.Freq == Weekly
	}, "BYMONTHDAY must not stand in a WEEKLY rule"},
	{func(r *Recur) bool {
		return len(r.ByYearDay) > 0 && r.Freq >= Daily &&
			r.Freq <= Monthly
	}, "BYYEARDAY must not stand in a DAILY, WEEKLY or MONTHLY rule"},
	{func(r *Recur) bool {
		return len(r.ByWeekNo) > 0 && r.Freq != Yearly
	}, "BYWEEKNO may stand only in a YEARLY rule"},
	{func(r *Recur) bool {
		return len(r.BySetPos) > 0 && !r.otherBy()
	}, "BYSETPOS needs another BY part to choose from"},
	{func(r *Recur) bool { return r.Skip != "" && r.RScale == "" }, "SKIP needs RSCALE"},
}

func (r *Recur) check() error {
	for _, rule := range recurRules {
		if rule.broken(r) {
			return errors.New(rule.text)
		}
	}
	return nil
}

func (r *Recur) numberedDay() bool {
	return slices.ContainsFunc(r.ByDay, func(day WeekdayNum) bool { return day.N != 0 })
}

func (r *Recur) otherBy() bool {
	lists := []int{
		len(r.BySecond), len(r.ByMinute), len(r.ByHour), len(r.ByDay), len(r.ByMonthDay),
		len(r.ByYearDay), len(r.ByWeekNo), len(r.ByMonth), len(r.LeapMonths),
	}
	return slices.Max(lists) > 0
}
