package grid_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"caldav-mcp-server/calendar/grid"
)

func in(t *testing.T, name string) *time.Location {
	t.Helper()
	z, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

// Columns: overlapping events are beside each other, and a gap begins a new group.
func TestColumns(t *testing.T) {
	t.Parallel()
	day := time.Date(2026, 5, 5, 0, 0, 0, 0, time.UTC)
	at := func(from, to int) grid.Item {
		begin := day.Add(time.Duration(from) * time.Minute)
		return grid.Item{Start: begin, End: begin.Add(time.Duration(to-from) * time.Minute)}
	}
	items := []grid.Item{at(540, 600), at(570, 660), at(600, 630), at(700, 700), at(720, 780)}
	got := fmt.Sprint(grid.Days(items, day, 1)[0].Blocks)
	want := "[{0 540 600 0 2 false false} {1 570 660 1 2 false false} {2 600 630 0 2 false false} " +
		"{3 700 701 0 2 false false} {4 720 780 1 2 false false}]"
	if got != want {
		t.Errorf("the blocks are\n%s, want\n%s", got, want)
	}
}

// Lanes: an event keeps its lane on all days, and longer events come first.
func TestLanes(t *testing.T) {
	t.Parallel()
	day := func(d int) time.Time { return time.Date(2026, 5, d, 0, 0, 0, 0, time.UTC) }
	items := []grid.Item{
		{Start: day(5), End: day(6), AllDay: true},
		{Start: day(3), End: day(7), AllDay: true},
		{Start: day(6), End: day(8), AllDay: true},
		{Start: day(5).Add(9 * time.Hour), End: day(6).Add(9 * time.Hour)},
	}
	var got []any
	for _, d := range grid.Days(items, day(4), 4) {
		got = append(got, d.Bars)
	}
	want := "[[{1 true true}] [{1 true true} {3 false true} {0 false false}] " +
		"[{1 true false} {3 true false} {2 false true}] [{-1 false false} {-1 false false} {2 true false}]]"
	if text := fmt.Sprint(got); text != want {
		t.Errorf("the bars are\n%s, want\n%s", text, want)
	}
}

// Days of 23 and 25 hours have the height of the wall clock.
func TestClockChanges(t *testing.T) {
	t.Parallel()
	berlin := in(t, "Europe/Berlin")
	for _, c := range []struct{ from, to, want string }{
		{"2026-03-29T01:30", "2026-03-29T03:30", "90 210"},    // 2:00 is skipped
		{"2026-10-25T00:30Z", "2026-10-25T01:15Z", "150 195"}, // 2:30 to 2:15, an hour that happens twice
		{"2026-10-25T01:30", "2026-10-25T03:30", "90 210"},    // three hours
		{"2026-10-24T23:00", "2026-10-25T01:00", "0 60"},      // from the day before
		{"2026-10-25T23:00", "2026-10-26T01:00", "1380 1440"}, // to the day after
		{"2026-10-25T23:59", "2026-10-25T23:59", "1439 1440"}, // no duration
	} {
		read := func(text string) time.Time {
			if at, err := time.Parse("2006-01-02T15:04Z07:00", text); err == nil {
				return at
			}
			at, err := time.ParseInLocation("2006-01-02T15:04", text, berlin)
			if err != nil {
				t.Fatal(err)
			}
			return at
		}
		item := grid.Item{Start: read(c.from), End: read(c.to)}
		day := time.Date(2026, 10, 25, 0, 0, 0, 0, berlin)
		if item.Start.Month() == time.March {
			day = time.Date(2026, 3, 29, 0, 0, 0, 0, berlin)
		}
		blocks := grid.Days([]grid.Item{item}, day, 1)[0].Blocks
		if len(blocks) != 1 || fmt.Sprint(blocks[0].Top, blocks[0].Bottom) != c.want {
			t.Errorf("%s to %s is at %v, want %s", c.from, c.to, blocks, c.want)
		}
	}
}

// Months and weeks begin on the user's first day.
func TestMonthOf(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		month string
		start time.Weekday
		want  string
	}{
		{"2026-02-14", time.Monday, "2026-01-26 5"},
		{"2026-02-14", time.Sunday, "2026-02-01 4"},
		{"2026-05-31", time.Monday, "2026-04-27 5"},
		{"2026-08-01", time.Sunday, "2026-07-26 6"},
	} {
		day, err := time.Parse(time.DateOnly, c.month)
		if err != nil {
			t.Fatal(err)
		}
		first, weeks := grid.MonthOf(day, c.start)
		if got := fmt.Sprint(first.Format(time.DateOnly), " ", weeks); got != c.want {
			t.Errorf("%s from %s on is %s, want %s", c.month, c.start, got, c.want)
		}
	}
	week := grid.Days(nil, time.Date(2026, 12, 27, 0, 0, 0, 0, time.UTC), 7)
	if n := grid.WeekNumber(week); n != 53 {
		t.Errorf("the week of Thursday 31 December 2026 is %d, want 53", n)
	}
}

// A naive layout, minute by minute, agrees with random events in zones whose clocks change. Each event is on exactly
// the days that have a minute of it. No two blocks of a column overlap, and an event keeps its lane.
func TestAgainstMinutes(t *testing.T) {
	t.Parallel()
	zones := []string{
		"Europe/Berlin", "America/Havana", "Asia/Beirut", "Pacific/Apia", "Australia/Lord_Howe", "UTC",
		"America/St_Johns", "Africa/Cairo", "America/Asuncion",
	}
	r := rand.New(rand.NewPCG(1, 2))
	for n := range 400 {
		loc := in(t, zones[r.IntN(len(zones))])
		from := time.Date(2009+r.IntN(20), time.Month(1+r.IntN(12)), 1+r.IntN(31), 0, 0, 0, 0, loc)
		from = firstMinute(from)
		days := 1 + r.IntN(14)
		items := make([]grid.Item, r.IntN(25))
		for i := range items {
			start := from.Add(time.Duration(r.IntN(days*24*60+3000)-1500) * time.Minute)
			length := []int{0, 15, 30, 60, 90, 600, 1439, 1440, 4000}[r.IntN(9)]
			items[i] = grid.Item{Start: start.UTC(), End: start.UTC().Add(time.Duration(length) * time.Minute)}
			if r.IntN(4) == 0 {
				first := firstMinute(start)
				last := firstMinute(first.AddDate(0, 0, 1+r.IntN(4)).Add(2 * time.Hour))
				items[i] = grid.Item{Start: first, End: last, AllDay: true}
			}
		}
		check(t, fmt.Sprintf("round %d in %s from %s", n, loc, from), items, grid.Days(items, from, days), days)
	}
}

// In Paraguay the clocks skipped midnight on 1 October 2023, a Sunday.
func TestMonthWithoutFirstMidnight(t *testing.T) {
	t.Parallel()
	loc, err := time.LoadLocation("America/Asuncion")
	if err != nil {
		t.Fatal(err)
	}
	first, weeks := grid.MonthOf(time.Date(2023, 10, 15, 12, 0, 0, 0, loc), time.Sunday)
	if want := time.Date(2023, 10, 1, 1, 0, 0, 0, loc); !first.Equal(want) || weeks != 5 {
		t.Errorf("the month begins at %s and has %d weeks", first, weeks)
	}
}

// firstMinute returns the first minute of the day of a time, by walking back.
func firstMinute(t time.Time) time.Time {
	for day := t.Day(); t.Add(-time.Minute).Day() == day; t = t.Add(-time.Minute) {
	}
	return t
}

func check(t *testing.T, name string, items []grid.Item, days []grid.Day, n int) {
	t.Helper()
	if len(days) != n {
		t.Fatalf("%s: %d days, want %d", name, len(days), n)
	}
	for _, d := range days {
		if !firstMinute(d.Start).Equal(d.Start) {
			t.Fatalf("%s: a day starts at %s", name, d.Start)
		}
		next := d.Start
		for next.Day() == d.Start.Day() {
			next = next.Add(time.Minute)
		}
		var want, got []int
		for i, item := range items {
			goesOn := item.End.After(d.Start) || item.End.Equal(item.Start) && !item.Start.Before(d.Start)
			if item.Start.Before(next) && goesOn {
				want = append(want, i)
			}
		}
		for _, b := range d.Bars {
			if b.Item >= 0 {
				got = append(got, b.Item)
			}
		}
		for i, b := range d.Blocks {
			got = append(got, b.Item)
			if b.Top < 0 || b.Top >= b.Bottom || b.Bottom > 24*60 || b.Column >= b.Columns {
				t.Fatalf("%s, %s: an impossible block %+v", name, d.Start, b)
			}
			for j, other := range d.Blocks {
				if i != j && b.Top < other.Bottom && other.Top < b.Bottom &&
					(b.Column == other.Column || b.Columns != other.Columns) {
					t.Fatalf("%s, %s: %+v covers %+v", name, d.Start, b, other)
				}
			}
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Fatalf("%s, %s: shows %v, want %v\n%v", name, d.Start, got, want, items)
		}
	}
	// An event keeps its lane.
	lanes := map[int]int{}
	for _, d := range days {
		for lane, b := range d.Bars {
			if known, ok := lanes[b.Item]; b.Item >= 0 && ok && known != lane {
				t.Fatalf("%s: event %d changes its lane", name, b.Item)
			} else if b.Item >= 0 {
				lanes[b.Item] = lane
			}
		}
	}
}
