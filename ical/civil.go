package ical

import (
	"cmp"
	"fmt"
	"time"
)

const (
	secondsPerMinute = 60
	secondsPerHour   = 60 * secondsPerMinute
	secondsPerDay    = 24 * secondsPerHour

	// RFC 3339's four digit years are all that RFC 5545 §3.3.4 can write.
	minYear = 1
	maxYear = 9999
)

// Civil is a wall-clock date and time in the Gregorian calendar, without a zone. It is comparable; the zero Civil is no
// valid date.
type Civil struct {
	Year   int
	Month  time.Month
	Day    int
	Hour   int
	Minute int
	Second int
}

// CivilDate returns midnight at the start of a day.
func CivilDate(year int, month time.Month, day int) Civil {
	return Civil{Year: year, Month: month, Day: day}
}

// CivilFromDays returns midnight of the day that is so many days after 1970-01-01. A negative number counts back.
func CivilFromDays(days int) Civil {
	// The year is taken to begin on March 1st, which puts the leap day last;
	// 400 such years ("an era") always have the same number of days.
	const daysPerEra = 146097
	days += daysToEpoch
	era := floorDiv(days, daysPerEra)
	dayOfEra := days - era*daysPerEra
	yearOfEra := (dayOfEra - dayOfEra/1460 + dayOfEra/36524 - dayOfEra/146096) / 365
	dayOfYear := dayOfEra - (365*yearOfEra + yearOfEra/4 - yearOfEra/100)
	shifted := (5*dayOfYear + 2) / 153
	c := Civil{Year: yearOfEra + era*400, Day: dayOfYear - (153*shifted+2)/5 + 1}
	if shifted < 10 {
		c.Month = time.Month(shifted + 3)
	} else {
		c.Month = time.Month(shifted - 9)
		c.Year++
	}
	return c
}

// CivilFromSeconds is the inverse of [Civil.Seconds].
func CivilFromSeconds(seconds int64) Civil {
	days := floorDiv64(seconds, secondsPerDay)
	c := CivilFromDays(int(days))
	rest := int(seconds - days*secondsPerDay)
	c.Hour, rest = rest/secondsPerHour, rest%secondsPerHour
	c.Minute, c.Second = rest/secondsPerMinute, rest%secondsPerMinute
	return c
}

// daysToEpoch counts the days from 0000-03-01 to 1970-01-01.
const daysToEpoch = 719468

// Days counts the days from 1970-01-01 to the date of c. A day outside its
// month counts on, as in [time.Date]: April 31st is May 1st.
func (c Civil) Days() int {
	month := int(c.Month) - 1
	year := c.Year + floorDiv(month, 12)
	month -= floorDiv(month, 12) * 12
	if month < 2 {
		year--
	}
	era := floorDiv(year, 400)
	yearOfEra := year - era*400
	dayOfYear := (153*((month+10)%12) + 2) / 5
	return era*146097 + yearOfEra*365 + yearOfEra/4 - yearOfEra/100 + dayOfYear + c.Day - 1 - daysToEpoch
}

// Seconds counts the seconds on the wall clock from 1970-01-01 00:00:00, as if
// every day had 86,400 of them.
func (c Civil) Seconds() int64 {
	return int64(c.Days())*secondsPerDay + int64(c.SecondOfDay())
}

// SecondOfDay counts the seconds since midnight.
func (c Civil) SecondOfDay() int {
	return c.Hour*secondsPerHour + c.Minute*secondsPerMinute + c.Second
}

// AddDays moves the date and keeps the time of day.
func (c Civil) AddDays(days int) Civil {
	moved := CivilFromDays(c.Days() + days)
	moved.Hour, moved.Minute, moved.Second = c.Hour, c.Minute, c.Second
	return moved
}

// AddSeconds moves the wall clock.
func (c Civil) AddSeconds(seconds int64) Civil {
	return CivilFromSeconds(c.Seconds() + seconds)
}

// Date returns midnight of the same day.
func (c Civil) Date() Civil { return CivilDate(c.Year, c.Month, c.Day) }

// Weekday returns the day of the week.
func (c Civil) Weekday() time.Weekday {
	const thursday = int(time.Thursday) // 1970-01-01
	return time.Weekday(c.Days() + thursday - floorDiv(c.Days()+thursday, 7)*7)
}

// YearDay counts the days of the year up to c: 1 for January 1st.
func (c Civil) YearDay() int { return c.Days() - CivilDate(c.Year, time.January, 1).Days() + 1 }

// Compare is negative when c is before d, zero when they are equal and
// positive when c is after d.
func (c Civil) Compare(d Civil) int {
	return cmp.Or(
		cmp.Compare(c.Year, d.Year),
		cmp.Compare(c.Month, d.Month),
		cmp.Compare(c.Day, d.Day),
		cmp.Compare(c.SecondOfDay(), d.SecondOfDay()),
	)
}

// Before reports whether c is earlier than d.
func (c Civil) Before(d Civil) bool { return c.Compare(d) < 0 }

// After reports whether c is later than d.
func (c Civil) After(d Civil) bool { return c.Compare(d) > 0 }

// IsZero reports whether c is the zero value.
func (c Civil) IsZero() bool { return c == Civil{} }

// Valid reports whether the date and the time of day exist, in the years that iCalendar can represent.
func (c Civil) Valid() bool {
	return c.Year >= minYear && c.Year <= maxYear &&
		c.Month >= time.January && c.Month <= time.December &&
		c.Day >= 1 && c.Day <= DaysIn(c.Year, c.Month) &&
		c.Hour >= 0 && c.Hour < 24 && c.Minute >= 0 && c.Minute < 60 && c.Second >= 0 && c.Second < 60
}

// String formats c like ISO 8601, for people and logs. [Time.String] formats property values.
func (c Civil) String() string {
	return fmt.Sprintf("%04d-%02d-%02dT%02d:%02d:%02d", c.Year, int(c.Month), c.Day, c.Hour, c.Minute, c.Second)
}

// DaysIn counts the days of a month.
func DaysIn(year int, month time.Month) int {
	switch month {
	case time.February:
		if IsLeap(year) {
			return 29
		}
		return 28
	case time.April, time.June, time.September, time.November:
		return 30
	default:
		return 31
	}
}

// IsLeap reports whether a year has a February 29th.
func IsLeap(year int) bool { return year%4 == 0 && (year%100 != 0 || year%400 == 0) }

func floorDiv(a, b int) int { return int(floorDiv64(int64(a), int64(b))) }

// floorDiv64 rounds towards minus infinity, for a positive b.
func floorDiv64(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
