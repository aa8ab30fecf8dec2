package slot_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"caldav-mcp-server/calendar/freebusy"
	"caldav-mcp-server/calendar/slot"
)

// ask is for an hour in the working week of Monday, March 2nd 2026, in Berlin.
func ask(t *testing.T) slot.Ask {
	t.Helper()
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	return slot.Ask{
		From: time.Date(2026, 3, 2, 0, 0, 0, 0, berlin), Until: time.Date(2026, 3, 9, 0, 0, 0, 0, berlin),
		Length: time.Hour, Limit: 3,
		Hours: slot.Hours{Zone: berlin, Opens: 9 * time.Hour, Closes: 17 * time.Hour, Days: map[time.Weekday]bool{
			time.Monday: true, time.Tuesday: true, time.Wednesday: true, time.Thursday: true, time.Friday: true,
		}},
	}
}

// busy reads "2 09:00-10:30", with a ? behind what is tentative; the day is that of March.
func busy(t *testing.T, a slot.Ask, text string) []freebusy.Period {
	t.Helper()
	var list []freebusy.Period
	for part := range strings.SplitSeq(text, ", ") {
		var day, h1, m1, h2, m2 int
		if _, err := fmt.Sscanf(part, "%d %d:%d-%d:%d", &day, &h1, &m1, &h2, &m2); err != nil && text != "" {
			t.Fatal(err)
		} else if err == nil {
			p := freebusy.Period{
				Start: time.Date(2026, 3, day, h1, m1, 0, 0, a.Hours.Zone),
				End:   time.Date(2026, 3, day, h2, m2, 0, 0, a.Hours.Zone), Type: freebusy.Busy,
			}
			if strings.HasSuffix(part, "?") {
				p.Type = freebusy.Tentative
			}
			list = append(list, p)
		}
	}
	return list
}

// elsewhere are the same hours on other clocks.
func elsewhere(a *slot.Ask, zone string) slot.Hours {
	h := a.Hours
	h.Zone, _ = time.LoadLocation(zone) // nil is the error's, and would panic
	return h
}

func written(a slot.Ask, slots []slot.Slot) string {
	var list []string
	for _, s := range slots {
		text := s.Start.In(a.Hours.Zone).Format("2 15:04-") + s.End.In(a.Hours.Zone).Format("15:04")
		if s.Tentative {
			text += "?"
		}
		list = append(list, text)
	}
	return strings.Join(list, ", ")
}

func TestFind(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, busy, want string
		change           func(*slot.Ask)
	}{
		{"an empty week", "", "2 09:00-10:00, 3 09:00-10:00, 4 09:00-10:00", nil},
		{
			"an empty week, many slots", "",
			"2 09:00-10:00, 2 10:00-11:00, 3 09:00-10:00, 3 10:00-11:00, 4 09:00-10:00",
			func(a *slot.Ask) { a.Limit = 5 },
		},
		{
			"one day", "", "2 09:00-10:00, 2 10:00-11:00, 2 11:00-12:00",
			func(a *slot.Ask) { a.Until = a.From.AddDate(0, 0, 1) },
		},
		{
			"from now on", "", "2 16:00-17:00, 3 09:00-10:00, 4 09:00-10:00",
			func(a *slot.Ask) { a.From = a.From.Add(15*time.Hour + 50*time.Minute) },
		},
		{"no splinters", "2 09:00-10:15, 2 12:00-17:00", "2 11:00-12:00, 3 09:00-10:00, 4 09:00-10:00", nil},
		{"a gap that just fits", "2 09:00-13:15, 2 14:15-17:00", "2 13:15-14:15, 3 09:00-10:00, 4 09:00-10:00", nil},
		{
			"a gap that is a minute short", "2 09:00-13:16, 2 14:15-17:00",
			"3 09:00-10:00, 4 09:00-10:00, 5 09:00-10:00", nil,
		},
		{
			"somebody in New York", "", "2 15:00-16:00, 3 15:00-16:00, 4 15:00-16:00",
			func(a *slot.Ask) { a.Others = []slot.Hours{elsewhere(a, "America/New_York")} },
		},
		{"nobody is at work in both", "", "", func(a *slot.Ask) {
			a.Others = []slot.Hours{elsewhere(a, "Asia/Tokyo"), elsewhere(a, "America/New_York")}
		}},
		{
			"what is not settled comes last",
			"2 09:00-17:00?, 3 09:00-17:00, 4 09:00-17:00, 5 09:00-17:00, 6 09:00-16:00",
			"6 16:00-17:00, 2 09:00-10:00?, 2 10:00-11:00?", nil,
		},
		{
			"busy from before to after", "1 10:00-12:00, 2 00:00-23:59, 3 00:00-23:59, 4 00:00-23:59, 5 00:00-23:59",
			"6 09:00-10:00, 6 10:00-11:00, 6 11:00-12:00", nil,
		},
		{"never", "2 00:00-23:59, 3 00:00-23:59, 4 00:00-23:59, 5 00:00-23:59, 6 00:00-23:59", "", nil},
		{"longer than the day", "", "", func(a *slot.Ask) { a.Length = 9 * time.Hour }},
		{
			"as long as the day", "", "2 09:00-17:00, 3 09:00-17:00, 4 09:00-17:00",
			func(a *slot.Ask) { a.Length = 8 * time.Hour },
		},
		{"round the clock", "", "7 00:00-00:00", func(a *slot.Ask) {
			a.Hours.Opens, a.Hours.Closes, a.Length = 0, 24*time.Hour, 24*time.Hour
			a.Hours.Days = map[time.Weekday]bool{time.Saturday: true}
		}},
		{"no day", "", "", func(a *slot.Ask) { a.Hours.Days = nil }},
		{
			"a buffer around busy times", "2 10:00-11:00, 2 12:30-13:00", "2 13:30-14:30, 3 09:00-10:00, 4 09:00-10:00",
			func(a *slot.Ask) { a.Buffer = 30 * time.Minute },
		},
		{
			"no buffer at the ends of the day", "2 11:00-17:00", "2 09:00-10:00, 3 09:00-10:00, 4 09:00-10:00",
			func(a *slot.Ask) { a.Buffer = time.Hour },
		},
	} {
		a := ask(t)
		if c.change != nil {
			c.change(&a)
		}
		if got := written(a, slot.Find(a, busy(t, a, c.busy))); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// TestFindAcrossClockChanges: the working day is on the clock, also when that was put forward
// in the night.
func TestFindAcrossClockChanges(t *testing.T) {
	t.Parallel()
	a := ask(t)
	a.From = time.Date(2026, 3, 29, 0, 0, 0, 0, a.Hours.Zone)
	a.Until = a.From.AddDate(0, 0, 1)
	a.Hours.Days = map[time.Weekday]bool{time.Sunday: true}
	if got := written(a, slot.Find(a, nil)); got != "29 09:00-10:00, 29 10:00-11:00, 29 11:00-12:00" {
		t.Error(got)
	}
}

// TestFindAgainstTheRule tries random weeks: what is found is free, within hours, and apart;
// and something is found whenever there is something on the grid.
func TestFindAgainstTheRule(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		a := ask(t)
		a.Length = time.Duration(1+random.IntN(16)) * 15 * time.Minute
		a.Limit = 1 + random.IntN(8)
		if random.IntN(2) == 0 {
			a.Hours.Breaks = []slot.Break{
				{From: 12 * time.Hour, Until: 13 * time.Hour},
				{From: 15 * time.Hour, Until: 15*time.Hour + 15*time.Minute},
			}
		}
		var taken []freebusy.Period
		for at := a.From; at.Before(a.Until); {
			at = at.Add(time.Duration(random.IntN(400)) * time.Minute)
			end := at.Add(time.Duration(1+random.IntN(300)) * time.Minute)
			taken = append(taken,
				freebusy.Period{Start: at, End: end, Type: freebusy.Tentative + freebusy.Type(random.IntN(3))})
			at = end
		}
		free := func(s slot.Slot) bool {
			local := s.Start.In(a.Hours.Zone)
			since := time.Duration(local.Hour())*time.Hour + time.Duration(local.Minute())*time.Minute
			for _, p := range taken {
				if p.Type != freebusy.Tentative && p.Start.Before(s.End) && s.Start.Before(p.End) {
					return false
				}
			}
			for _, b := range a.Hours.Breaks {
				if since < b.Until && b.From < since+a.Length {
					return false
				}
			}
			return a.Hours.Days[local.Weekday()] && since >= a.Hours.Opens && since+a.Length <= a.Hours.Closes &&
				!s.End.After(a.Until)
		}
		got := slot.Find(a, taken)
		for i, s := range got {
			if !free(s) {
				t.Fatalf("%v is not free", s)
			}
			for _, other := range got[:i] {
				if other.Start.Before(s.End) && s.Start.Before(other.End) {
					t.Fatalf("%v and %v overlap", other, s)
				}
			}
		}
		some := false
		for at := a.From; at.Before(a.Until); at = at.Add(15 * time.Minute) {
			some = some || free(slot.Slot{Start: at, End: at.Add(a.Length)})
		}
		if some != (len(got) > 0) {
			t.Fatalf("found %d slots; that there are any is %v", len(got), some)
		}
	}
}

// TestCompromise: the fewest are busy, and required people are free.
func TestCompromise(t *testing.T) {
	t.Parallel()
	a := ask(t)
	a.Until = a.From.AddDate(0, 0, 1)
	each := [][]freebusy.Period{busy(t, a, "2 09:00-13:00"), busy(t, a, "2 10:00-17:00"), busy(t, a, "2 13:00-17:00")}
	show := func(required ...int) string {
		var list []string
		for _, s := range slot.Compromise(a, each, required...) {
			list = append(list, fmt.Sprint(s.Start.Format("15:04"), s.Busy))
		}
		return strings.Join(list, " ")
	}
	if got := show(); got != "09:00[0] 10:00[0 1] 11:00[0 1]" {
		t.Error(got)
	}
	if got := show(0); got != "13:00[1 2] 14:00[1 2] 15:00[1 2]" {
		t.Error(got)
	}
	if got := show(0, 1); got != "" {
		t.Error(got)
	}
}

// The steps that a search is charged with are a few times its real work at most: a step is about 100 ns.
func TestSteps(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)
	all := map[time.Weekday]bool{0: true, 1: true, 2: true, 3: true, 4: true, 5: true, 6: true}
	a := slot.Ask{
		From: at, Until: at.AddDate(0, 0, 92), Length: time.Hour, Lenient: true, Limit: 5,
		Hours: slot.Hours{Zone: time.UTC, Closes: 24 * time.Hour, Days: all},
	}
	for range 49 {
		a.Others = append(a.Others, slot.Hours{Zone: time.UTC, Opens: 9 * time.Hour, Closes: 17 * time.Hour, Days: all})
	}
	each := make([][]freebusy.Period, 50)
	began := time.Now()
	slot.Compromise(a, each)
	took := time.Since(began)
	charged := time.Duration(a.Steps(len(each))) * 100 * time.Nanosecond
	t.Logf("charged %v, took %v", charged, took)
	if took > 20*charged {
		t.Errorf("the search took %v, but is charged %v", took, charged)
	}
	if short := (slot.Ask{From: at, Until: at}); short.Steps(1) < 1 || short.Steps(1) > 10 {
		t.Errorf("an empty search costs %d steps", short.Steps(1))
	}
}
