package daterange

import "time"

// day is a date without a zone. of may be out of range until day() normalizes it.
type day struct {
	year  int
	month time.Month
	of    int
}

// days is an inclusive range of days, from an hour of the first to an hour of the last.
type days struct {
	first, last   day
	opens, closes int
}

// span returns a range of whole days.
func span(first, last day) days { return days{first, last, 0, 24} }

func one(d day) days { return span(d, d) }

func dayOf(t time.Time) day {
	y, m, d := t.Date()
	return day{y, m, d}
}

func (d day) utc() time.Time { return time.Date(d.year, d.month, d.of, 0, 0, 0, 0, time.UTC) }

func (d day) day() day { return dayOf(d.utc()) }

// exists reports whether the month has such a day.
func (d day) exists() bool { return d.of > 0 && d.day() == d }

func (d day) plus(n int) day { return day{d.year, d.month, d.of + n}.day() }

// plusMonths keeps the day of the month, or uses the last day if the month is shorter.
func (d day) plusMonths(n int) day {
	target := day{d.year, d.month + time.Month(n), 1}.day()
	return day{target.year, target.month, min(d.of, month(target).last.of)}
}

func (d day) add(unit string, n int) day {
	switch unit {
	case "day":
		return d.plus(n)
	case "week":
		return d.plus(7 * n)
	case "month":
		return d.plusMonths(n)
	}
	return d.plusMonths(12 * n)
}

func (d day) weekday() time.Weekday { return d.utc().Weekday() }

// upTo returns the first date with the weekday, starting with d.
func (d day) upTo(w time.Weekday) day { return d.plus(int((w - d.weekday() + 7) % 7)) }

func (d day) before(o day) bool { return d.utc().Before(o.utc()) }

func earlier(a, b day) day {
	if a.before(b) {
		return a
	}
	return b
}

func later(a, b day) day {
	if a.before(b) {
		return b
	}
	return a
}

// week returns the week of d.
func week(d day, start time.Weekday) days {
	first := d.plus(-int((d.weekday() - start + 7) % 7))
	return span(first, first.plus(6))
}

// weekend returns the Saturday and Sunday of the week that contains d, if weeks start on Monday.
func weekend(d day) days {
	monday := week(d, time.Monday).first
	return span(monday.plus(5), monday.plus(6))
}

func month(d day) days {
	first := day{d.year, d.month, 1}
	return span(first, day{d.year, d.month + 1, 0}.day())
}

func quarter(d day) days {
	first := day{d.year, (d.month-1)/3*3 + 1, 1}
	return span(first, day{first.year, first.month + 3, 0}.day())
}

func year(y int) days {
	return span(day{y, time.January, 1}, day{y, time.December, 31})
}

// isoWeek returns an ISO 8601 week; false if the year has no such week.
func isoWeek(y, n int) (days, bool) {
	// The fourth of January is always in week 1.
	w := week(day{y, time.January, 4}, time.Monday)
	first := w.first.plus(7 * (n - 1))
	gotYear, got := first.utc().ISOWeek()
	return span(first, first.plus(6)), gotYear == y && got == n
}
