package zone

import (
	"fmt"
	"slices"
	"time"

	"caldav-mcp-server/ical"
)

// posixRule writes the rules without an end as a POSIX TZ string, the footer of RFC 9636 §3.3.1. It is empty unless
// there is exactly one rule to daylight time and one back.
func posixRule(all []*observance) string {
	var standard, daylight *observance
	for _, o := range all {
		switch {
		case len(o.endless) == 0:
			continue
		case len(o.endless) > 1 || o.daylight && daylight != nil || !o.daylight && standard != nil:
			return ""
		case o.daylight:
			daylight = o
		default:
			standard = o
		}
	}
	if standard == nil || daylight == nil || standard.to != daylight.from || daylight.to != standard.from {
		return ""
	}
	begin, end := daylight.posixDate(), standard.posixDate()
	if begin == "" || end == "" {
		return ""
	}
	return standard.posixOffset() + daylight.posixOffset() + "," + begin + "," + end
}

// posixOffset returns an abbreviation with its offset. POSIX counts offsets westwards, so the sign is reversed.
func (o *observance) posixOffset() string {
	return fmt.Sprintf("<%s>%s", o.kind().abbreviation, posixClock(-int(o.to)))
}

func posixClock(seconds int) string {
	sign := ""
	if seconds < 0 {
		sign, seconds = "-", -seconds
	}
	return fmt.Sprintf("%s%d:%02d:%02d", sign, seconds/3600, seconds/60%60, seconds%60)
}

// posixDate returns the day and time of the only rule, or "" if POSIX cannot express it.
func (o *observance) posixDate() string {
	r := &o.endless[0]
	day := ""
	if r.Freq == ical.Yearly && r.Interval == 1 && r.RScale == "" &&
		len(r.ByHour)+len(r.ByMinute)+len(r.BySecond)+len(r.ByYearDay)+len(r.ByWeekNo) == 0 {
		day = o.posixDay(r)
	}
	if day == "" {
		return ""
	}
	return day + "/" + posixClock(o.start.Civil.SecondOfDay())
}

func (o *observance) posixDay(r *ical.Recur) string {
	month := o.start.Civil.Month
	switch {
	case len(r.ByMonth) == 1:
		month = time.Month(r.ByMonth[0])
	case len(r.ByMonth) > 1 || len(r.ByDay)+len(r.ByMonthDay) > 0:
		return ""
	}
	switch {
	case len(r.ByDay) == 1:
		if week := posixWeek(r, month); week > 0 {
			return fmt.Sprintf("M%d.%d.%d", month, week, r.ByDay[0].Weekday)
		}
		return ""
	case len(r.ByDay) > 1 || len(r.ByMonthDay) > 1 || len(r.BySetPos) > 0:
		return ""
	case len(r.ByMonthDay) == 1:
		return posixJulian(month, r.ByMonthDay[0])
	default:
		return posixJulian(month, o.start.Civil.Day)
	}
}

// posixWeek returns the week of a rule with one weekday: 1 to 4, 5 for the last, or 0 if it is none of these.
func posixWeek(r *ical.Recur, month time.Month) int {
	n := r.ByDay[0].N
	switch {
	case len(r.ByMonthDay) > 0:
		if n != 0 || len(r.BySetPos) > 0 {
			return 0
		}
		return monthDaysWeek(r.ByMonthDay, month)
	case len(r.BySetPos) == 1 && n == 0:
		n = r.BySetPos[0]
	case len(r.BySetPos) > 0:
		return 0
	}
	if n == -1 {
		return 5
	}
	if n < 1 || n > 4 {
		return 0 // a fifth Sunday is not always there
	}
	return n
}

// monthDaysWeek reads a week that is written as its seven days, such as BYMONTHDAY=8,9,10,11,12,13,14.
func monthDaysWeek(days []int, month time.Month) int {
	days = slices.Sorted(slices.Values(days))
	if len(days) != 7 || days[6]-days[0] != 6 {
		return 0
	}
	const leapless = 2023
	length := ical.DaysIn(leapless, month)
	switch {
	case days[6] == -1, month != time.February && days[6] == length:
		return 5
	case days[0] > 0 && days[6]%7 == 0 && days[6] <= 28:
		return days[6] / 7
	default:
		return 0
	}
}

// posixJulian returns a day of the year in the form that skips February 29th.
func posixJulian(month time.Month, day int) string {
	const leapless = 2023
	c := ical.CivilDate(leapless, month, day)
	if !c.Valid() {
		return ""
	}
	return fmt.Sprintf("J%d", c.YearDay())
}
