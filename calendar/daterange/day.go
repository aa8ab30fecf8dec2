package daterange

import "time"

// day is a date without a zone; of may overflow the month until day() straightens it.
type day struct {
	year  int
	month time.Month
	of    int
}

// days is a run of days, both ends included.
type days struct{ first, last day }

func dayOf(t time.Time) day {
	y, m, d := t.Date()
	return day{y, m, d}
}

func (d day) utc() time.Time { return time.Date(d.year, d.month, d.of, 0, 0, 0, 0, time.UTC) }

func (d day) day() day { return dayOf(d.utc()) }

func (d day) plus(n int) day { return day{d.year, d.month, d.of + n}.day() }

func (d day) weekday() time.Weekday { return d.utc().Weekday() }

func (d day) before(o day) bool { return d.utc().Before(o.utc()) }

func one(d day) days { return days{d, d} }

// week returns the week that d is in.
func week(d day, start time.Weekday) days {
	first := d.plus(-int((d.weekday() - start + 7) % 7))
	return days{first, first.plus(6)}
}

// weekend returns the Saturday and Sunday that end the Monday-week of d.
func weekend(d day) days {
	monday := week(d, time.Monday).first
	return days{monday.plus(5), monday.plus(6)}
}

func month(d day) days {
	first := day{d.year, d.month, 1}
	return days{first, day{d.year, d.month + 1, 0}.day()}
}

func quarter(d day) days {
	first := day{d.year, (d.month-1)/3*3 + 1, 1}
	return days{first, day{first.year, first.month + 3, 0}.day()}
}

func year(d day) days {
	return days{day{d.year, time.January, 1}, day{d.year, time.December, 31}}
}

// isoWeek returns week n of a year as ISO 8601 counts; false when the year has no such week.
func isoWeek(y, n int) (days, bool) {
	// The fourth of January is always in week 1.
	w := week(day{y, time.January, 4}, time.Monday)
	first := w.first.plus(7 * (n - 1))
	gotYear, got := first.utc().ISOWeek()
	return days{first, first.plus(6)}, gotYear == y && got == n
}
