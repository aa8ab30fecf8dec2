package booking_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"caldav-mcp-server/calendar/booking"
	"caldav-mcp-server/calendar/freebusy"
	"caldav-mcp-server/calendar/slot"
	"caldav-mcp-server/internal/slowtest"
)

// judge decides about one start, minute by minute, from the words of docs/booking.md. It shares nothing with the
// package.
type judge struct {
	booking.Offer
	booking.Taken
}

// part returns the part of its day that the page's clock shows, or -1.
func (j judge) part(at time.Time) int {
	at = at.In(j.Zone)
	clock := time.Duration(at.Hour()*60+at.Minute()) * time.Minute
	hours := j.Week[at.Weekday()]
	if own, has := j.Dates[j.date(at)]; has {
		hours = own
	}
	for i, part := range hours {
		if part.From <= clock && clock < part.Until {
			return i
		}
	}
	return -1
}

// same reports whether two moments are in the same part of the same day.
func (j judge) same(a, b time.Time) bool { return j.part(a) == j.part(b) && j.date(a) == j.date(b) }

func (j judge) date(at time.Time) string { return at.In(j.Zone).Format(time.DateOnly) }

// busy reports whether something of a kind takes place in the minute that begins at a moment.
func busy(all []freebusy.Period, at time.Time, unavailable bool) bool {
	for _, p := range all {
		if (p.Type == freebusy.Unavailable) == unavailable && p.Start.Before(at.Add(time.Minute)) && at.Before(p.End) {
			return true
		}
	}
	return false
}

// free reports whether a person is free from start to end, and in the minutes around that.
func (j judge) free(all []freebusy.Period, start, end time.Time) bool {
	for at := start.Add(-j.Before); at.Before(end.Add(j.After)); at = at.Add(time.Minute) {
		within := !at.Before(start) && at.Before(end)
		if busy(all, at, false) || within && busy(all, at, true) {
			return false
		}
	}
	return true
}

// who returns the numbers of the people who can take a booking.
func (j judge) who(start, end time.Time) (list []int) {
	for i, all := range j.People {
		if j.free(all, start, end) {
			list = append(list, i)
		}
	}
	if !j.Any && len(list) < len(j.People) {
		return nil
	}
	return list
}

func (j judge) offers(start time.Time) bool {
	if start.Before(j.Earliest) || start.After(j.Latest) || j.part(start) < 0 {
		return false
	}
	end := start.Add(j.Length)
	for at := start; at.Before(end); at = at.Add(time.Minute) {
		if !j.same(at, start) || busy(j.Room, at, true) || busy(j.Room, at, false) {
			return false
		}
	}
	since := 0
	for at := start.Add(-time.Minute); j.same(at, start); at = at.Add(-time.Minute) {
		since++
	}
	step := 30
	if j.Length < 30*time.Minute {
		step = 15
	}
	booked := 0
	for _, b := range j.Booked {
		if j.date(b) == j.date(start) {
			booked++
		}
	}
	return since%step == 0 && (j.PerDay == 0 || booked < j.PerDay) && len(j.who(start, end)) > 0
}

// zones are clocks that change at 2:00, at 1:00 UTC, at midnight, by half an hour, and never. Samoa skipped a day.
var zones = []string{
	"Europe/Berlin", "America/New_York", "America/Santiago", "Africa/Cairo", "Australia/Lord_Howe", "Asia/Kathmandu",
	"Pacific/Apia", "UTC", "Pacific/Chatham", "America/St_Johns", "Africa/Casablanca",
}

// days are days on which some of these clocks change, and ordinary ones.
var days = []time.Time{
	time.Date(2026, 3, 28, 0, 0, 0, 0, time.UTC), time.Date(2026, 10, 24, 0, 0, 0, 0, time.UTC),
	time.Date(2026, 3, 7, 0, 0, 0, 0, time.UTC), time.Date(2026, 10, 31, 0, 0, 0, 0, time.UTC),
	time.Date(2026, 4, 4, 0, 0, 0, 0, time.UTC), time.Date(2026, 10, 3, 0, 0, 0, 0, time.UTC),
	time.Date(2026, 9, 5, 0, 0, 0, 0, time.UTC), time.Date(2026, 4, 23, 0, 0, 0, 0, time.UTC),
	time.Date(2026, 10, 29, 0, 0, 0, 0, time.UTC), time.Date(2011, 12, 29, 0, 0, 0, 0, time.UTC),
	time.Date(2026, 6, 15, 0, 0, 0, 0, time.UTC), time.Date(2026, 2, 14, 0, 0, 0, 0, time.UTC),
}

// randomWeek has one or two parts on most days, which may cover the hours in which clocks change.
func randomWeek(r *rand.Rand) (week booking.Week) {
	for day := range week {
		if r.IntN(6) == 0 {
			continue
		}
		from := r.IntN(20 * 60)
		if r.IntN(3) > 0 {
			from -= from % 30
		}
		until := min(24*60, from+30+r.IntN(12*60))
		minutes := func(n int) time.Duration { return time.Duration(n) * time.Minute }
		if pause := from + 20 + r.IntN(90); r.IntN(2) == 0 && pause+15 < until {
			week[day] = append(week[day], slot.Break{From: minutes(from), Until: minutes(pause)})
			from = pause + 15
		}
		week[day] = append(week[day], slot.Break{From: minutes(from), Until: minutes(until)})
	}
	return week
}

// randomJudge is a page and its taken times in the three days from a moment.
func randomJudge(t *testing.T, r *rand.Rand, from time.Time) judge {
	t.Helper()
	zone, err := time.LoadLocation(zones[r.IntN(len(zones))])
	if err != nil {
		t.Fatal(err)
	}
	some := func(most int) time.Duration { return time.Duration(r.IntN(most)) * time.Minute }
	j := judge{Offer: booking.Offer{
		Week: randomWeek(r), Zone: zone, Length: time.Duration(1+r.IntN(12)) * 10 * time.Minute,
		Before: some(4) * 10, After: some(4) * 10, Earliest: from.Add(some(1000)),
		Latest: from.Add(48*time.Hour + some(2000)), PerDay: r.IntN(4), Dates: map[string][]slot.Break{},
	}}
	for range r.IntN(3) {
		date := from.AddDate(0, 0, r.IntN(4)-1).Format(time.DateOnly)
		j.Dates[date] = randomWeek(r)[r.IntN(7)]
	}
	j.Any = r.IntN(2) == 0
	random := func() (list []freebusy.Period) {
		for range r.IntN(12) {
			start := from.Add(some(3 * 24 * 60)).Add(time.Duration(r.IntN(2)*30) * time.Second)
			list = append(list, freebusy.Period{
				Start: start, End: start.Add(time.Minute + some(200)),
				Type: freebusy.Tentative + freebusy.Type(r.IntN(3)),
			})
		}
		return list
	}
	for range 1 + max(0, r.IntN(5)-1) {
		j.People = append(j.People, random())
	}
	if r.IntN(3) == 0 {
		j.Room = random()
	}
	for range r.IntN(4) {
		j.Booked = append(j.Booked, from.Add(some(3*24*60)))
	}
	return j
}

// TestTimesAgainstTheRule compares three days of random pages with a rule that looks at each minute.
func TestTimesAgainstTheRule(t *testing.T) {
	t.Parallel()
	seed := uint64(1)
	if rounds := slowtest.Rounds(t, slowtest.Random, 1, 40); rounds > 1 {
		seed = slowtest.Seed(t)
	}
	r := rand.New(rand.NewPCG(seed, 2))
	seen := 0
	for want := 300 * slowtest.Rounds(t, slowtest.Random, 1, 40); seen < want; {
		from := days[r.IntN(len(days))].Add(time.Duration(r.IntN(24)-12) * time.Hour)
		until := from.Add(72 * time.Hour)
		j := randomJudge(t, r, from)
		offered := map[time.Time]bool{}
		for _, s := range j.Times(from, until, j.Taken) {
			if offered[s.Start.UTC()] {
				t.Fatalf("seed %d: %s is offered twice", seed, s.Start)
			}
			offered[s.Start.UTC()] = true
		}
		for at := from; at.Before(until); at = at.Add(time.Minute) {
			want := j.offers(at)
			if offered[at] != want {
				t.Fatalf("seed %d, %s, %v: %s is offered: %v, want %v\n%+v\n%+v", seed, j.Zone, j.Length,
					at.In(j.Zone), offered[at], want, j.Week, j.Taken)
			}
			if !want {
				continue
			}
			seen++
			end := at.Add(j.Length)
			if got, want := j.Free(at, j.Taken), j.who(at, end); !slices.Equal(got, want) {
				t.Fatalf("seed %d: %v are free at %s, want %v", seed, got, at, want)
			}
		}
	}
	t.Logf("seed %d: %d offered times were right", seed, seen)
}

// alone is one person who is free.
var alone = booking.Taken{People: [][]freebusy.Period{nil}}

// Without a person, no time is free.
func TestNoPeople(t *testing.T) {
	t.Parallel()
	from := time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)
	o := booking.Offer{Zone: time.UTC, Length: time.Hour, Earliest: from, Latest: from.AddDate(0, 0, 7)}
	o.Week[time.Tuesday] = []slot.Break{{From: 9 * time.Hour, Until: 11 * time.Hour}}
	for _, o.Any = range []bool{true, false} {
		if got := len(o.Times(from, o.Latest, alone)); got != 3 {
			t.Errorf("one person: %d times", got)
		}
		if got := o.Times(from, o.Latest, booking.Taken{}); len(got) > 0 {
			t.Errorf("nobody is free at %v", got)
		}
	}
}

// A day of 23 or 25 hours offers what its clock shows: no time that is skipped, and none twice that is outside.
func TestClockChange(t *testing.T) {
	t.Parallel()
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		day  time.Time
		want string
	}{
		{time.Date(2026, 3, 29, 0, 0, 0, 0, berlin), "01:30 CET, 03:00 CEST, 03:30 CEST"},
		{
			time.Date(2026, 10, 25, 0, 0, 0, 0, berlin),
			"01:30 CEST, 02:00 CEST, 02:30 CEST, 02:00 CET, 02:30 CET, 03:00 CET, 03:30 CET",
		},
	} {
		o := booking.Offer{
			Zone: berlin, Length: 30 * time.Minute, Earliest: c.day, Latest: c.day.AddDate(0, 0, 1),
		}
		o.Week[time.Sunday] = []slot.Break{{From: 90 * time.Minute, Until: 4 * time.Hour}}
		var got string
		for i, s := range o.Times(c.day, c.day.AddDate(0, 0, 1), alone) {
			if i > 0 {
				got += ", "
			}
			got += s.Start.Format("15:04 MST")
		}
		if got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
}

// A month with the busy times of ten full calendars takes few milliseconds.
func BenchmarkMonth(b *testing.B) {
	from := time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)
	o := booking.Offer{Zone: time.UTC, Length: 30 * time.Minute, Earliest: from, Latest: from.AddDate(0, 1, 0)}
	for day := range o.Week {
		o.Week[day] = []slot.Break{{From: 9 * time.Hour, Until: 17 * time.Hour}}
	}
	taken := booking.Taken{People: make([][]freebusy.Period, 10)}
	for i := range 600 {
		start := from.Add(time.Duration(i) * 72 * time.Minute)
		taken.People[i%10] = append(taken.People[i%10], freebusy.Period{
			Start: start, End: start.Add(30 * time.Minute), Type: freebusy.Busy,
		})
	}
	for b.Loop() {
		if len(o.Times(from, from.AddDate(0, 1, 0), taken)) == 0 {
			b.Fatal("no times")
		}
	}
}

func TestSettings(t *testing.T) {
	t.Parallel()
	good := booking.Settings{
		Title: "Talk", Access: booking.Public, Minutes: []int{30}, HorizonDays: 30, Calendar: "c",
		Hours: map[string]string{"mon": "09:00-12:00, 13:00-17:00", "tue": ""},
		Dates: map[string]string{"2026-12-24": "", "2026-05-02": "10:00-12:00"},
	}
	if err := good.Check(); err != nil {
		t.Fatal(err)
	}
	data, err := good.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if again, err := booking.Decode(data); err != nil || fmt.Sprint(again) != fmt.Sprint(good) {
		t.Errorf("%+v, %v", again, err)
	}
	week, err := good.Week("", nil)
	if err != nil || len(week[time.Monday]) != 2 || len(week[time.Tuesday]) != 0 {
		t.Errorf("%v, %v", week, err)
	}
	good.Hours = nil
	if week, err = good.Week("08:00-10:00", []string{"wed"}); err != nil || len(week[time.Wednesday]) != 1 {
		t.Errorf("%v, %v", week, err)
	}
	for field, spoil := range map[string]func(*booking.Settings){
		"title":     func(s *booking.Settings) { s.Title = "" },
		"minutes":   func(s *booking.Settings) { s.Minutes = []int{1} },
		"hours":     func(s *booking.Settings) { s.Hours = map[string]string{"mon": "9 to 5"} },
		"dates":     func(s *booking.Settings) { s.Dates = map[string]string{"2026-02-30": ""} },
		"access":    func(s *booking.Settings) { s.Access = "" },
		"horizon":   func(s *booking.Settings) { s.HorizonDays = 0 },
		"questions": func(s *booking.Settings) { s.Questions = make([]booking.Question, 6) },
	} {
		bad := good
		spoil(&bad)
		if err, ok := bad.Check().(*booking.Error); !ok || err.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
}

func TestReadDates(t *testing.T) {
	t.Parallel()
	text := "2026-05-02 10:00-12:00, 13:00-14:00\n2026-12-24 -\n"
	dates, err := booking.ReadDates("\r\n 2026-12-24  –\r\n2026-05-02: 10:00-12:00,  13:00-14:00\r\n")
	if again := (booking.Settings{Dates: dates}).DatesText(); err != nil || again != text {
		t.Errorf("%q, %v", again, err)
	}
	for _, bad := range []string{
		"24.12.2026 -", "2026-02-30 -", "2026-12-24 12:00-10:00", "2026-12-24 closed", "2026-12-24\n2026-12-24 -",
	} {
		lines := strings.Split(bad, "\n")
		if _, err := booking.ReadDates(bad); err == nil || err.(*booking.Error).Text != lines[len(lines)-1] {
			t.Errorf("%q: %v", bad, err)
		}
	}
	many := booking.Settings{
		Title: "Talk", Access: booking.Public, Minutes: []int{30}, HorizonDays: 30, Dates: map[string]string{},
	}
	for n := range 61 {
		many.Dates[time.Date(2026, 1, n, 0, 0, 0, 0, time.UTC).Format(time.DateOnly)] = ""
	}
	if err, ok := many.Check().(*booking.Error); !ok || err.Field != "dates" || err.Most != 60 {
		t.Errorf("61 dates: %v", err)
	}
}
