package zone

import (
	"fmt"
	"strconv"
	"strings"

	"caldav-mcp-server/ical"
)

// pattern describes yearly onsets that share the month and the time, and either the date or the weekday.
type pattern struct {
	first ical.Civil
	years int

	date    bool // always the same day of the month
	weekday bool // always the same weekday, within seven consecutive days
	last    bool // always the last such weekday of its month
	low     int  // the earliest of the days
	high    int  // and the latest
}

func newPattern(o onset) *pattern {
	return &pattern{
		first: o.at, years: 1, date: true, weekday: true, last: isLast(o.at), low: o.at.Day, high: o.at.Day,
	}
}

func isLast(c ical.Civil) bool { return c.Day+7 > ical.DaysIn(c.Year, c.Month) }

// admit adds the onset of the next year and reports whether the pattern explains it too.
func (p *pattern) admit(o onset) bool {
	next := *p
	next.years++
	next.low, next.high = min(p.low, o.at.Day), max(p.high, o.at.Day)
	next.date = p.date && o.at.Day == p.first.Day
	next.last = p.last && isLast(o.at)
	next.weekday = p.weekday && o.at.Weekday() == p.first.Weekday() && (next.high-next.low < 7 || next.last)
	if o.at.Year != p.first.Year+p.years || o.at.Month != p.first.Month ||
		o.at.SecondOfDay() != p.first.SecondOfDay() || !next.date && !next.weekday {
		return false
	}
	*p = next
	return true
}

// rule returns the pattern as an RRULE, in the form that most readers understand.
func (p *pattern) rule() string {
	rule := fmt.Sprintf("FREQ=YEARLY;BYMONTH=%d", p.first.Month)
	weekday := ical.WeekdayNum{Weekday: p.first.Weekday()}
	switch {
	case !p.weekday:
		return rule + ";BYMONTHDAY=" + strconv.Itoa(p.first.Day)
	case p.last:
		weekday.N = -1
		return rule + ";BYDAY=" + weekday.String()
	case (p.low-1)/7 == (p.high-1)/7:
		weekday.N = (p.low-1)/7 + 1
		return rule + ";BYDAY=" + weekday.String()
	default:
		return rule + ";BYMONTHDAY=" + p.window() + ";BYDAY=" + weekday.String()
	}
}

// window lists the seven days that contain the weekday once.
func (p *pattern) window() string {
	var days []string
	from := max(1, p.high-6)
	for day := from; day < from+7; day++ {
		days = append(days, strconv.Itoa(day))
	}
	return strings.Join(days, ",")
}
