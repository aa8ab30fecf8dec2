// Package rule expands one recurrence rule (RFC 5545 §3.3.10) on the wall clock. It does not handle zones, exceptions
// or components.
//
// A rule divides time into periods of its FREQ and uses every INTERVALth one. The moments of a period are the product
// of a set of days and a set of times of day, all held as bits. So the n-th moment, the number of moments before
// another one and the selection of BYSETPOS are arithmetic, and no period is ever written out.
package rule

import (
	"errors"
	"fmt"
	"slices"

	"caldav-mcp-server/ical"
)

// Wall is a moment on the wall clock, in the unit of [ical.Civil.Seconds].
type Wall int64

// Civil returns the date and time of w.
func (w Wall) Civil() ical.Civil { return ical.CivilFromSeconds(int64(w)) }

// WallOf is the inverse of [Wall.Civil].
func WallOf(c ical.Civil) Wall { return Wall(c.Seconds()) }

// Day returns the day of w, in the unit of [ical.Civil.Days].
func (w Wall) Day() int { return int(floorDiv(int64(w), secondsPerDay)) }

const (
	secondsPerHour = 3600
	secondsPerDay  = 24 * secondsPerHour

	// The Gregorian calendar repeats after 400 years, a whole number of weeks.
	cycleYears  = 400
	cycleDays   = 146097
	maxYear     = 9999
	minDay      = -719162 // 0001-01-01
	maxDay      = 2932896 // 9999-12-31
	maxInterval = (maxDay - minDay + 1) * secondsPerDay
)

// Forever is after every moment that a rule can have.
const Forever = Wall((maxDay + 1) * secondsPerDay)

// ErrUnsupported is wrapped by the errors about valid rules that cannot be expanded.
var ErrUnsupported = errors.New("the rule is not supported")

// Rule is a recurrence rule completed with its start. It is immutable.
type Rule struct {
	freq     ical.Frequency
	length   int64 // seconds in a period of FREQ; 0 for months and years
	interval int64
	start    Wall
	week     int   // the first day of the week that contains start
	first    int64 // the unit of the period that contains start

	days   dayFilter
	clock  clock
	setPos []int
	cycle  int64 // after this many periods without a moment, there will be none
	never  bool
}

// New completes a rule with its start. If the start is a date, the parts about the time of day are ignored.
func New(r *ical.Recur, start ical.Time) (*Rule, error) {
	if err := supported(r, start); err != nil {
		return nil, err
	}
	rule := &Rule{
		freq:     r.Freq,
		length:   unitSeconds(r.Freq),
		interval: min(int64(max(r.Interval, 1)), maxInterval),
		start:    WallOf(start.Civil),
		setPos:   r.BySetPos,
	}
	rule.week = rule.start.Day() - (int(start.Civil.Weekday())-int(r.WeekStart)+7)%7
	rule.first = rule.unit(rule.start)
	rule.cycle = rule.cyclePeriods()
	rule.days = newDayFilter(r, start.Civil)
	rule.clock = newClock(r, start)
	rule.never = !rule.possible()
	return rule, nil
}

func supported(r *ical.Recur, start ical.Time) error {
	switch {
	case r.RScale != "" && r.RScale != "GREGORIAN":
		return fmt.Errorf("%w: RSCALE=%s is a calendar that we cannot count in", ErrUnsupported, r.RScale)
	case skips(r) && !skippable(r):
		return fmt.Errorf("%w: SKIP=%s beside BYYEARDAY, BYWEEKNO, a day counted from the month's end or, forward, "+
			"beside INTERVAL or BYSETPOS", ErrUnsupported, r.Skip)
	case start.IsDate() && r.Freq < ical.Daily:
		return fmt.Errorf("%w: FREQ=%s divides the day, but the series consists of whole days", ErrUnsupported, r.Freq)
	default:
		return nil
	}
}

// skips reports whether a rule moves days that a month does not have (RFC 7529 §4.1). Only monthly and yearly rules
// name such days.
func skips(r *ical.Recur) bool {
	return (r.Skip == "BACKWARD" || r.Skip == "FORWARD") && r.Freq >= ical.Monthly
}

// skippable reports whether we can expand the SKIP of a rule. FORWARD moves a day to the next month. So that month must
// be part of the same period or a period itself, and BYSETPOS must not count it.
func skippable(r *ical.Recur) bool {
	if len(r.ByYearDay)+len(r.ByWeekNo) > 0 ||
		slices.ContainsFunc(r.ByMonthDay, func(day int) bool { return day < 0 }) {
		return false
	}
	return r.Skip == "BACKWARD" || r.Freq == ical.Yearly || r.Interval <= 1 && len(r.BySetPos) == 0
}

// Frequency returns the rule's FREQ.
func (r *Rule) Frequency() ical.Frequency { return r.freq }

func unitSeconds(freq ical.Frequency) int64 {
	return [...]int64{
		ical.Secondly: 1, ical.Minutely: 60, ical.Hourly: secondsPerHour,
		ical.Daily: secondsPerDay, ical.Weekly: 7 * secondsPerDay, ical.Yearly: 0,
	}[freq]
}

// unit returns the number of the period of length FREQ (not INTERVAL times FREQ) that contains a moment.
func (r *Rule) unit(w Wall) int64 {
	switch r.freq {
	case ical.Yearly:
		return int64(w.Civil().Year)
	case ical.Monthly:
		c := w.Civil()
		return int64(c.Year)*12 + int64(c.Month) - 1
	case ical.Weekly:
		return floorDiv(int64(w.Day()-r.week), 7)
	default:
		return floorDiv(int64(w), r.length)
	}
}

// cyclePeriods counts the periods until a rule repeats itself.
func (r *Rule) cyclePeriods() int64 {
	units := int64(cycleYears)
	if r.freq == ical.Monthly {
		units *= 12
	} else if r.length > 0 {
		units = cycleDays * secondsPerDay / r.length
	}
	return units / gcd(units, r.interval)
}

// possible reports whether any time of day can be reached. Every period of FREQ=SECONDLY;INTERVAL=2 begins at an even
// second, whatever BYSECOND says.
func (r *Rule) possible() bool {
	if r.clock.empty() || !r.choosable() {
		return false
	}
	if r.freq >= ical.Daily || r.clock.free(r.freq) {
		return true
	}
	perDay := secondsPerDay / r.length
	step := gcd(perDay, r.interval)
	for at := r.first - floorDiv(r.first, step)*step; at < perDay; at += step {
		if r.clock.next(r.freq, at) == at {
			return true
		}
	}
	return false
}

// choosable reports whether BYSETPOS can select anything from a period of a day or less. All such periods have the same
// number of moments.
func (r *Rule) choosable() bool {
	if r.freq > ical.Daily || len(r.setPos) == 0 {
		return true
	}
	size := r.clock.at(r.freq, 0).size()
	return slices.ContainsFunc(r.setPos, func(position int) bool { return int64(max(position, -position)) <= size })
}

// uniform reports whether all periods have the same number of moments.
func (r *Rule) uniform() bool {
	switch {
	case r.freq > ical.Weekly:
		return false
	case r.freq == ical.Weekly:
		return r.days.months == allMonths
	default:
		return r.days.all && r.clock.free(r.freq)
	}
}

// index returns the number of the period, in INTERVALs from the start, that contains w, or of the next one after w.
func (r *Rule) index(w Wall) int64 {
	return max(0, ceilDiv(r.unit(w)-r.first, r.interval))
}

// lastIndex returns the number of the last period that begins before a moment.
func (r *Rule) lastIndex(before Wall) int64 {
	return floorDiv(r.unit(before-1)-r.first, r.interval)
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

func ceilDiv(a, b int64) int64 { return -floorDiv(-a, b) }

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
