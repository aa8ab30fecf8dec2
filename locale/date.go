package locale

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// The names of days and months are one text each, separated by blanks: days from Monday on, months from January on.
// Some languages inflect a month after a day, hence two lists. All words and patterns come from CLDR.

func (l *Language) word(id string, i int) string {
	words := strings.Fields(l.Text(id))
	if i >= len(words) {
		return ""
	}
	return words[i]
}

// Weekday returns the name of a day: "Monday".
func (l *Language) Weekday(d time.Weekday) string { return l.word("date.weekdays", fromMonday(d)) }

// ShortWeekday returns the short name of a day: "Mon".
func (l *Language) ShortWeekday(d time.Weekday) string {
	return l.word("date.weekdays-short", fromMonday(d))
}

// nths are the ends of the ids of numbered weekdays; -1 is the last one of a month.
var nths = map[int]string{1: "first", 2: "second", 3: "third", 4: "fourth", 5: "fifth", -1: "last"}

// NthWeekday returns a weekday of a month: "the second Monday", "the last Friday". Without a number it is the name.
func (l *Language) NthWeekday(n int, d time.Weekday) string {
	name, nth := l.Weekday(d), nths[n]
	switch {
	case n == 0:
		return name
	case nth == "":
		return l.Text("date.nth.other", "weekday", name, "number", n)
	case l.word("date.weekdays-gender", fromMonday(d)) == "f":
		return l.Text("date.nth-feminine."+nth, "weekday", name)
	}
	return l.Text("date.nth."+nth, "weekday", name)
}

func fromMonday(d time.Weekday) int { return (int(d) + 6) % 7 }

// Month returns the name of a month on its own: "November".
func (l *Language) Month(m time.Month) string { return l.word("date.months", int(m)-1) }

// ShortMonth returns the short name of a month: "Nov".
func (l *Language) ShortMonth(m time.Month) string { return l.word("date.months-short", int(m)-1) }

// Date returns a date in full: "Monday 23 November 2026".
func (l *Language) Date(t time.Time) string {
	return l.Text("date.long", "weekday", l.Weekday(t.Weekday()), "day", t.Day(), "month", l.monthOfDay(t),
		"year", t.Year())
}

// ShortDate returns a date without the year: "Mon 23 Nov".
func (l *Language) ShortDate(t time.Time) string {
	return l.Text(
		"date.short",
		"weekday",
		l.ShortWeekday(t.Weekday()),
		"day",
		t.Day(),
		"month",
		l.ShortMonth(t.Month()),
	)
}

// ShortDateYear returns a date with the year: "Mon 23 Nov 2026".
func (l *Language) ShortDateYear(t time.Time) string {
	return l.Text("date.short-year", "weekday", l.ShortWeekday(t.Weekday()), "day", t.Day(),
		"month", l.ShortMonth(t.Month()), "year", t.Year())
}

// MonthYear returns a month: "November 2026".
func (l *Language) MonthYear(t time.Time) string {
	return l.Text("date.month-year", "month", l.Month(t.Month()), "year", t.Year())
}

// DayMonth returns a day of a year: "23 November".
func (l *Language) DayMonth(t time.Time) string {
	return l.Text("date.day-month", "day", t.Day(), "month", l.monthOfDay(t))
}

// DayMonthYear returns a date without the day of the week: "23 November 2026".
func (l *Language) DayMonthYear(t time.Time) string {
	return l.Text("date.day-month-year", "day", t.Day(), "month", l.monthOfDay(t), "year", t.Year())
}

func (l *Language) monthOfDay(t time.Time) string {
	return l.word("date.months-of-day", int(t.Month())-1)
}

// Time returns the time of day: "09:30" on the clock "24", "9:30 am" on the clock "12". An empty clock is the usual one
// of the language.
func (l *Language) Time(t time.Time, clock string) string {
	minute := fmt.Sprintf("%02d", t.Minute())
	if cmp.Or(clock, l.Text("time.clock")) != "12" {
		return l.Text("time.24", "hour", fmt.Sprintf("%02d", t.Hour()), "minute", minute)
	}
	half := "time.am"
	if t.Hour() >= 12 {
		half = "time.pm"
	}
	return l.Text("time.12", "hour", (t.Hour()+11)%12+1, "minute", minute, "half", l.Text(half))
}

// Duration returns a duration in words: "1 hour 30 minutes". Fractions of a second are dropped.
func (l *Language) Duration(d time.Duration) string {
	if d < 0 {
		d = -d
	}
	var parts []string
	for _, unit := range [...]struct {
		id   string
		size time.Duration
	}{
		{"duration.days", 24 * time.Hour},
		{"duration.hours", time.Hour},
		{"duration.minutes", time.Minute},
		{"duration.seconds", time.Second},
	} {
		if n := int(d / unit.size); n > 0 {
			parts = append(parts, l.Text(unit.id, "count", n))
		}
		d %= unit.size
	}
	if len(parts) == 0 {
		return l.Text("duration.minutes", "count", 0)
	}
	return strings.Join(parts, " ")
}

// FirstWeekday returns the first day of the week where the language is spoken, for users who have not chosen one.
func (l *Language) FirstWeekday() time.Weekday {
	day, _ := strconv.Atoi(l.Text("date.first-weekday"))
	return time.Weekday(day % 7)
}
