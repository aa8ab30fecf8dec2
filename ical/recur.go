package ical

import (
	"fmt"
	"strings"
	"time"
)

// Frequency is the FREQ of a [Recur]. Values are ordered from the shortest to the longest. The zero Frequency means
// none.
type Frequency uint8

// The frequencies of RFC 5545 §3.3.10.
const (
	Secondly Frequency = iota + 1
	Minutely
	Hourly
	Daily
	Weekly
	Monthly
	Yearly
)

// String returns the name as in FREQ=.
func (f Frequency) String() string {
	if int(f) >= len(recurFrequencies) {
		return ""
	}
	return recurFrequencies[f]
}

var recurFrequencies = [...]string{
	Secondly: "SECONDLY", Minutely: "MINUTELY", Hourly: "HOURLY", Daily: "DAILY",
	Weekly: "WEEKLY", Monthly: "MONTHLY", Yearly: "YEARLY",
}

// WeekdayNum is one element of BYDAY: a weekday and its number within the month or year. A negative N counts from the
// end; zero means every such day.
type WeekdayNum struct {
	Weekday time.Weekday
	N       int
}

// String formats the element, such as MO, 1MO or -1FR.
func (w WeekdayNum) String() string {
	if w.N == 0 {
		return weekdayCode(w.Weekday)
	}
	return fmt.Sprint(w.N) + weekdayCode(w.Weekday)
}

// weekdayCodes has two letters for each weekday, beginning with Sunday.
const weekdayCodes = "SUMOTUWETHFRSA"

func weekdayCode(day time.Weekday) string {
	at := 2 * (int(day) % 7)
	return weekdayCodes[at : at+2]
}

// RecurPart is a rule part that RFC 5545 does not define.
type RecurPart struct {
	Name  string // upper-case
	Value string // as written
}

// Recur is a RECUR value (RFC 5545 §3.3.10). Lists keep their original order, without repeated values.
type Recur struct {
	Freq     Frequency
	Interval int  // at least 1
	Count    int  // 0: no COUNT
	Until    Time // zero: no UNTIL; never zoned

	BySecond   []int
	ByMinute   []int
	ByHour     []int
	ByDay      []WeekdayNum
	ByMonthDay []int
	ByYearDay  []int
	ByWeekNo   []int
	ByMonth    []int
	BySetPos   []int
	WeekStart  time.Weekday // Monday, unless WKST says otherwise

	// RScale and Skip are the parts of RFC 7529, in upper case. Only a rule with RScale can have LeapMonths, such as
	// "5L" in BYMONTH.
	RScale     string
	Skip       string
	LeapMonths []int
	Extra      []RecurPart // the X- parts
}

// Endless reports whether the rule has neither COUNT nor UNTIL.
func (r *Recur) Endless() bool { return r.Count == 0 && r.Until.IsZero() }

// Recur parses the value as a recurrence rule.
func (p *Property) Recur() (Recur, error) {
	r, err := ParseRecur(p.Value())
	if err != nil {
		return Recur{}, p.wrong(err)
	}
	return r, nil
}

// SetRecur sets the rule.
func (p *Property) SetRecur(r Recur) { p.SetValue(r.String()) }

// String formats the rule: FREQ first, then the other parts in the order of the grammar.
func (r Recur) String() string {
	var b strings.Builder
	if r.RScale != "" {
		// RFC 7529 §4.1: RSCALE should come first, so that a reader can stop there.
		b.WriteString("RSCALE=" + r.RScale + ";")
	}
	b.WriteString("FREQ=" + r.Freq.String())
	for _, part := range recurTable {
		if part.text == nil {
			continue // already written first
		}
		if text := part.text(&r); text != "" {
			b.WriteString(";" + part.name + "=" + text)
		}
	}
	for _, part := range r.Extra {
		b.WriteString(";" + part.Name + "=" + part.Value)
	}
	return b.String()
}
