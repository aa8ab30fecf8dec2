package calendar_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"caldav-mcp-server/calendar"
)

// TestRecurrenceIndexHidesNothing: a window that an instance overlaps meets the recurrence index of its series.
func TestRecurrenceIndexHidesNothing(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(7, 11))
	const day = 24 * 3600
	hidden := 0
	for range 20_000 {
		var r calendar.RecurrenceIndex
		begin := random.Int64N(80*365*day) - 20*365*day // from 1950 on
		every, length := random.Int64N(40*day)+3600, random.Int64N(3*day)
		if random.IntN(20) == 0 {
			length = random.Int64N(500 * day)
		}
		n := random.Int64N(30) + 1
		for i := range n {
			r.Add(begin+i*every, begin+i*every+length)
		}
		r.Known = begin + n*every
		from := begin + random.Int64N(n*every) - day
		until := from + random.Int64N(45*day) + 1
		overlaps := false
		for i := range n {
			overlaps = overlaps || begin+i*every < until && begin+i*every+length >= from
		}
		meets := r.Meets(calendar.RecurrenceOf(from, until))
		if overlaps && !meets {
			t.Fatalf("instances every %d s from %d on, %d s long, do not meet [%d, %d)", every, begin, length, from,
				until)
		}
		if !meets {
			hidden++
		}
	}
	if hidden < 300 {
		t.Errorf("only %d of 20,000 windows were told apart: it hides nothing since it tells nothing", hidden)
	}
}

func TestRecurrenceIndexTellsApart(t *testing.T) {
	t.Parallel()
	at := func(text string) int64 {
		when, err := time.Parse("2006-01-02 15:04", text)
		if err != nil {
			t.Fatal(err)
		}
		return when.Unix()
	}
	var mondays calendar.RecurrenceIndex
	for week := range int64(20) {
		start := at("2026-03-02 09:00") + week*7*24*3600
		mondays.Add(start, start+3600)
	}
	mondays.Known = at("2026-07-20 09:00")
	for _, c := range []struct {
		from, until string
		want        bool
	}{
		{"2026-03-09 09:30", "2026-03-09 09:40", true},
		{"2026-03-09 10:00", "2026-03-09 10:30", true}, // it ends as the window begins
		{"2026-03-09 12:00", "2026-03-09 13:00", false},
		{"2026-03-11 00:00", "2026-03-12 00:00", false}, // a Wednesday
		{"2026-03-11 00:00", "2026-03-17 00:00", true},
		{"2026-08-05 00:00", "2026-08-06 00:00", true}, // nothing is known of it
	} {
		if got := mondays.Meets(calendar.RecurrenceOf(at(c.from), at(c.until))); got != c.want {
			t.Errorf("Mondays meet %s to %s: %v, want %v", c.from, c.until, got, c.want)
		}
	}
	var none *calendar.RecurrenceIndex
	if !none.Meets(calendar.RecurrenceOf(0, 1)) {
		t.Error("a series without an index must be read")
	}
}
