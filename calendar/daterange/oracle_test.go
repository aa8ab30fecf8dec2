package daterange_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"caldav-mcp-server/calendar/daterange"
)

// The oracle reads phrases by walking from day to day until one fits. It knows no arithmetic
// of weeks and months.

type test func(time.Time) bool

func forward(from time.Time, fits test) time.Time {
	for !fits(from) {
		from = from.AddDate(0, 0, 1)
	}
	return from
}

func backward(from time.Time, fits test) time.Time {
	for !fits(from) {
		from = from.AddDate(0, 0, -1)
	}
	return from
}

func on(w time.Weekday) test { return func(d time.Time) bool { return d.Weekday() == w } }

func tomorrow(d time.Time) time.Time  { return d.AddDate(0, 0, 1) }
func yesterday(d time.Time) time.Time { return d.AddDate(0, 0, -1) }

// expected is a phrase and what it means on a day.
type expected struct {
	text        string
	first, last time.Time
}

func phrases(now time.Time, start time.Weekday) []expected {
	begin := backward(now, on(start)) // of this week
	next, last := forward(tomorrow(begin), on(start)), backward(yesterday(begin), on(start))
	var list []expected
	add := func(first, last time.Time, text string, args ...any) {
		list = append(list, expected{fmt.Sprintf(text, args...), first, last})
	}
	for a := time.Sunday; a <= time.Saturday; a++ {
		bare := forward(now, on(a))
		add(bare, bare, "%s", a)
		before := backward(yesterday(now), on(a))
		add(before, before, "last %s", a)
		add(forward(begin, on(a)), forward(begin, on(a)), "this %s", a)
		add(forward(next, on(a)), forward(next, on(a)), "next %s", a)
		add(forward(next, on(a)), forward(next, on(a)), "%s of next week", a)
		add(forward(tomorrow(now), on(a)), forward(tomorrow(now), on(a)), "coming %s", a)
		add(now, forward(tomorrow(now), on(a)), "today to %s", a)
		add(now, forward(tomorrow(now), on(a)), "until %s", a)
		for b := time.Sunday; b <= time.Saturday; b++ {
			for from, opened := range map[string]time.Time{"": now, "this ": begin, "next ": next, "last ": last} {
				first := forward(opened, on(a))
				add(first, forward(tomorrow(first), on(b)), "%s%s to %s", from, a, b)
			}
			first := forward(now, on(a))
			add(first, forward(tomorrow(first), on(b)), "%.3s-%.3s", strings.ToLower(a.String()), b)
		}
	}
	add(now, yesterday(next), "rest of the week")
	add(next, yesterday(forward(tomorrow(next), on(start))), "coming week")
	add(now.AddDate(0, 0, 3), now.AddDate(0, 0, 3), "in 3 days")
	add(now.AddDate(0, 0, -3), now.AddDate(0, 0, -3), "3 days ago")
	add(now, now, "now")
	return append(list, datePhrases(now)...)
}

func in(m time.Month) test { return func(d time.Time) bool { return d.Month() == m } }

// datePhrases are those of months, quarters and numbered weeks.
func datePhrases(now time.Time) []expected {
	var list []expected
	add := func(first, last time.Time, text string, args ...any) {
		list = append(list, expected{fmt.Sprintf(text, args...), first, last})
	}
	opens := backward(now, func(d time.Time) bool { return d.Day() == 1 }) // this month
	out := forward(now, func(d time.Time) bool { return d.Month() != now.Month() })
	add(now, yesterday(out), "rest of the month")
	add(yesterday(out).AddDate(0, 0, -6), yesterday(out), "end of the month")
	add(now, yesterday(out), "today to the end of the month")
	for m := time.January; m <= time.December; m++ {
		first := forward(opens, in(m)) // the one to come, the present included
		end := yesterday(forward(first, func(d time.Time) bool { return d.Month() != m }))
		add(first, end, "%s", m)
		add(forward(out, in(m)),
			yesterday(forward(forward(out, in(m)), func(d time.Time) bool { return d.Month() != m })), "next %s", m)
		past := backward(yesterday(opens), in(m))
		add(past.AddDate(0, 0, 1-past.Day()), past, "last %s", m)
		of24 := forward(first, func(d time.Time) bool { return d.Day() == 24 })
		add(of24, of24, "%s 24", m)
		add(of24, of24, "the 24th of %s", m)
		add(of24, of24, "%.3s 24, %d", strings.ToLower(m.String()), of24.Year())
		later := forward(of24, func(d time.Time) bool { return d.Day() == 3 })
		add(of24, later, "%s 24 to %s 3", m, later.Month())
		add(of24, of24.AddDate(0, 0, 2), "%s 24-26", m)
		for w := time.Sunday; w <= time.Saturday; w++ {
			monday := forward(first, on(w))
			add(monday, monday, "first %s of %s", w, m)
			add(monday.AddDate(0, 0, 7), monday.AddDate(0, 0, 7), "the 2nd %s in %s", w, m)
			add(backward(end, on(w)), backward(end, on(w)), "last %s of %s %d", w, m, end.Year())
		}
	}
	for q := 1; q <= 4; q++ {
		inQuarter := func(d time.Time) bool { return (int(d.Month())+2)/3 == q }
		first := forward(now, inQuarter)
		first = first.AddDate(0, 0, -(first.YearDay() - 1))
		first = forward(first, inQuarter)
		end := yesterday(forward(first, func(d time.Time) bool { return !inQuarter(d) }))
		add(first, end, "q%d", q)
		add(first, end, "Q%d %d", q, first.Year())
		add(first, end, "%d-q%d", first.Year(), q)
	}
	for _, n := range []int{1, 2, 26, 50, 52} {
		inWeek := func(d time.Time) bool { _, w := d.ISOWeek(); return w == n }
		first := backward(forward(now, inWeek), on(time.Monday))
		y, _ := first.ISOWeek()
		add(first, first.AddDate(0, 0, 6), "week %d", n)
		add(first, first.AddDate(0, 0, 6), "week %d %d", n, y)
	}
	five := forward(now, func(d time.Time) bool { return d.Day() == 5 })
	add(five, five, "the 5th")
	add(now, now.AddDate(0, 0, 9), "%s/%s", now.Format(time.DateOnly), now.AddDate(0, 0, 9).Format(time.DateOnly))
	return list
}

// TestPhrasesAgainstDayByDay: every phrase at each weekday and at random days.
func TestPhrasesAgainstDayByDay(t *testing.T) {
	t.Parallel()
	seed := uint64(20261122)
	random := rand.New(rand.NewPCG(seed, 1))
	sunday := time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)
	var days []time.Time
	for n := range 7 {
		days = append(days, sunday.AddDate(0, 0, n))
	}
	for range 5 {
		days = append(days, sunday.AddDate(0, 0, random.IntN(8000)-4000))
	}
	for n, now := range days {
		for _, start := range []time.Weekday{time.Monday, time.Sunday}[:1+n%2] {
			r := daterange.Reader{Now: now.Add(15 * time.Hour), Zone: time.UTC, WeekStart: start}
			for _, want := range phrases(now, start) {
				got, err := r.Parse(want.text)
				if err != nil || !got.From.Equal(want.first) || !got.Until.Equal(tomorrow(want.last)) {
					t.Fatalf("on %s (weeks begin on %s) %q is %v to %v (%v), want %v to %v",
						now.Format("Mon 2006-01-02"), start, want.text,
						got.From, yesterday(got.Until), err, want.first, want.last)
				}
			}
		}
	}
}

// TestRangesReadFromTheirStart are examples on a Sunday and a Tuesday (time F6).
func TestRangesReadFromTheirStart(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ now, text, first, last string }{
		{"2026-11-22", "last monday to friday", "2026-11-09", "2026-11-13"},
		{"2026-11-22", "friday to monday", "2026-11-27", "2026-11-30"},
		{"2026-11-24", "monday to friday", "2026-11-30", "2026-12-04"},
		{"2026-11-24", "monday to wednesday", "2026-11-30", "2026-12-02"},
		{"2026-11-24", "next monday to wednesday", "2026-11-30", "2026-12-02"},
		{"2026-11-22", "last friday", "2026-11-20", "2026-11-20"},
		{"2026-11-22", "last friday to today", "2026-11-20", "2026-11-22"},
		{"2026-11-22", "december to february", "2026-12-01", "2027-02-28"},
		{"2026-11-22", "dec 24 to jan 2", "2026-12-24", "2027-01-02"},
		{"2026-11-22", "December 24, 2026", "2026-12-24", "2026-12-24"},
		{"2026-11-22", "between monday and wednesday", "2026-11-23", "2026-11-25"},
		{"2026-11-22", "feb 29", "2028-02-29", "2028-02-29"},
		{"2026-11-22", "2026-11-24/30", "2026-11-24", "2026-11-30"},
		{"2026-11-22", "coming weekend", "2026-11-28", "2026-11-29"},
		{"2026-11-22", "end of next week", "2026-11-27", "2026-11-29"},
		{"2026-11-22", "monday to monday", "2026-11-23", "2026-11-30"},
	} {
		now := at(t, c.now+"T12:00:00Z")
		got, err := daterange.Reader{Now: now, Zone: time.UTC, WeekStart: time.Monday}.Parse(c.text)
		if first, last := got.From.Format(time.DateOnly), yesterday(got.Until).Format(time.DateOnly); err != nil ||
			first != c.first || last != c.last {
			t.Errorf("on %s %q is %s to %s (%v), want %s to %s", c.now, c.text, first, last, err, c.first, c.last)
		}
	}
}

// TestPartsOfDays: a morning is no whole day.
func TestPartsOfDays(t *testing.T) {
	t.Parallel()
	r := reader(t) // on Wednesday 2026-02-18
	for _, c := range []struct{ text, from, until string }{
		{"tomorrow morning", "2026-02-19T06:00:00+01:00", "2026-02-19T12:00:00+01:00"},
		{"this afternoon", "2026-02-18T12:00:00+01:00", "2026-02-18T18:00:00+01:00"},
		{"friday evening", "2026-02-20T18:00:00+01:00", "2026-02-21T00:00:00+01:00"},
		{"tonight", "2026-02-18T18:00:00+01:00", "2026-02-19T00:00:00+01:00"},
		{"tomorrow afternoon to friday morning", "2026-02-19T12:00:00+01:00", "2026-02-20T12:00:00+01:00"},
	} {
		got, err := r.Parse(c.text)
		if err != nil || !got.From.Equal(at(t, c.from)) || !got.Until.Equal(at(t, c.until)) {
			t.Errorf("%q: %v to %v (%v), want %s to %s", c.text, got.From, got.Until, err, c.from, c.until)
		}
	}
}

// TestDaysBeginWithTheirFirstMoment compares with a walk over all hours: each day of two zones
// with every oddity, and days whose midnight comes twice (time N6).
func TestDaysBeginWithTheirFirstMoment(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ zone, day string }{
		{"Asia/Amman", "2020-10-30"},
		{"Asia/Gaza", "2020-10-24"},
		{"Asia/Jerusalem", "2004-09-22"},
		{"America/Havana", "2025-11-02"},
		{"Asia/Beirut", "2024-03-31"},
		{"America/Toronto", "1919-03-31"},
	} {
		loc := zone(t, c.zone)
		got, err := daterange.Reader{Now: at(t, "2026-02-18T00:30:00Z"), Zone: loc}.Parse(c.day)
		if err != nil {
			t.Errorf("%s: %v", c.zone, err)
			continue
		}
		want := at(t, c.day+"T00:00:00Z").Add(-30 * time.Hour)
		for want.In(loc).Format(time.DateOnly) != c.day {
			want = want.Add(time.Minute)
		}
		if !got.From.Equal(want) {
			t.Errorf("%s in %s begins at %v, want %v", c.day, c.zone, got.From, want.In(loc))
		}
	}
	_, err := daterange.Reader{Now: at(t, "2026-02-18T00:30:00Z"), Zone: zone(t, "Pacific/Apia")}.Parse("2011-12-30")
	if err == nil || !strings.Contains(err.Error(), "does not exist") {
		t.Errorf("a day that Samoa skipped: %v", err)
	}
}
