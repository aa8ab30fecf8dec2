package service_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/query"
	"caldav-mcp-server/calendar/service"
	"caldav-mcp-server/calendar/zone"
	"caldav-mcp-server/internal/slowtest"
)

// TestRecurrenceIndexHidesNothing compares lists with the recurrence index, with the cache and while an older index is
// rebuilt with lists without an index. The series have moved instances, THISANDFUTURE, lengths of weeks, days and
// floating times in the zones that are farthest off, rules that end, and rules that exceed the indexed instances.
func TestRecurrenceIndexHidesNothing(t *testing.T) {
	series, windows := slowtest.Rounds(t, slowtest.Random, 60, 600), slowtest.Rounds(t, slowtest.Random, 40, 300)
	const seed = 41
	each(t, func(h *house) {
		random := rand.New(rand.NewPCG(seed, 3))
		work := h.calendar(h.alice, "work")
		for n := range series {
			h.put(h.alice, work, calendar.ObjectName(fmt.Sprint(n, ".ics")), randomSeries(random, n))
		}
		questions := make([]query.AgendaQuery, windows)
		for n := range questions {
			questions[n] = randomWindow(h.t, random)
		}
		lists := func(imageBytes int64) []string {
			config := h.config
			config.ImageBytes = imageBytes
			s := service.New(config)
			all := make([]string, len(questions))
			for n, q := range questions {
				a, err := s.Agenda(h.ctx, h.alice, q)
				h.must(err)
				for _, o := range a.Occurrences {
					all[n] += fmt.Sprint(o.Object.UID, " ", o.Start.Time.Unix(), " ", o.End.Time.Unix(), "\n")
				}
				all[n] += fmt.Sprint(a.More, a.Unread)
			}
			return all
		}
		rederive := func(older func(calendar.Object) *calendar.RecurrenceIndex) {
			_, err := h.Store.Rederive(h.ctx, calendar.Walk{}, func(o calendar.Object) calendar.Derived {
				o.Recurrence = older(o)
				return o.Derived
			})
			h.must(err)
		}
		indexed, held := lists(0), lists(64<<20)
		rederive(func(o calendar.Object) *calendar.RecurrenceIndex {
			if o.Recurrence == nil || random.IntN(3) == 0 {
				return nil
			}
			older := *o.Recurrence
			older.FirstHour *= random.Int64N(2)
			return &older
		})
		mixed := lists(0)
		rederive(func(calendar.Object) *calendar.RecurrenceIndex { return nil })
		found := 0
		for n, want := range lists(0) {
			found += strings.Count(want, "\n")
			if indexed[n] != want || held[n] != want || mixed[n] != want {
				h.t.Fatalf("seed %d, from %s to %s: with the index\n%s\nin memory\n%s\nby rules of several ages\n%s\n"+
					"without\n%s", seed, questions[n].From, questions[n].Until, indexed[n], held[n], mixed[n], want)
			}
		}
		if found < windows {
			h.t.Errorf("only %d instances were found in %d windows", found, windows)
		}
	})
}

// farZones are those in which dates and floating times are read.
var farZones = []string{"Pacific/Kiritimati", "Etc/GMT+12", "Europe/Berlin", "Antarctica/Troll", "UTC"}

func randomWindow(t testing.TB, random *rand.Rand) query.AgendaQuery {
	t.Helper()
	z, err := zone.Lookup(farZones[random.IntN(len(farZones))])
	if err != nil {
		t.Fatal(err)
	}
	const day = 24 * 60
	from := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).
		Add(time.Duration(random.IntN([]int{60, 900, 5000}[random.IntN(3)]*day)) * time.Minute)
	return query.AgendaQuery{
		From: from, Until: from.Add(time.Duration(random.IntN([]int{1, 1, 30}[random.IntN(3)]*day)+1) * time.Minute),
		Timezone: z, Limit: 100_000,
	}
}

// randomSeries is an event that repeats, with a day or a time in some zone, or in none.
func randomSeries(random *rand.Rand, n int) string {
	one := func(of ...string) string { return of[random.IntN(len(of))] }
	form, head := "20060102T150405", one("", ";TZID=Europe/Berlin", ";TZID=America/New_York", ";TZID=Pacific/Apia",
		";TZID=Australia/Lord_Howe", ";VALUE=DATE")
	length := one("PT30M", "PT26H", "P1DT2H", "P40D", "PT0S")
	if head == ";VALUE=DATE" {
		form, length = "20060102", one("P1D", "P3D", "P40D")
	}
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(random.IntN(200*48)) * 30 * time.Minute)
	at := func(days, hours int) string {
		return start.AddDate(0, 0, days).Add(time.Duration(hours) * time.Hour).Format(form)
	}
	step := random.IntN(5) + 1
	rule := "FREQ=" + one("DAILY", "DAILY", "WEEKLY", "MONTHLY", "YEARLY") + fmt.Sprint(";INTERVAL=", step)
	rule += one("", fmt.Sprint(";COUNT=", random.IntN(700)+1), ";UNTIL="+at(random.IntN(900), 0))
	if strings.Contains(rule, "UNTIL") && strings.HasPrefix(head, ";TZID") {
		rule += "Z" // an end is in UTC where its start has a zone
	}
	lines := []string{
		"BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//test//EN", "BEGIN:VEVENT", fmt.Sprint("UID:s", n),
		"DTSTAMP:20260101T000000Z",
		"DTSTART" + head + ":" + at(0, 0), "DURATION:" + length, "RRULE:" + rule,
	}
	if random.IntN(3) == 0 {
		lines = append(lines, "RDATE"+head+":"+at(random.IntN(2000)-100, random.IntN(30)))
	}
	if random.IntN(3) == 0 {
		lines = append(lines, "EXDATE"+head+":"+at(step, 0))
	}
	lines = append(lines, "END:VEVENT")
	for k := range random.IntN(3) {
		following := one("", "", ";RANGE=THISANDFUTURE")
		lines = append(lines, "BEGIN:VEVENT", fmt.Sprint("UID:s", n), "DTSTAMP:20260101T000000Z",
			"RECURRENCE-ID"+following+head+":"+at(step*(k*7+2), 0),
			"DTSTART"+head+":"+at(step*(k*7+2)+random.IntN(80)*random.IntN(2)-1, random.IntN(40)-20),
			"DURATION:"+length, "END:VEVENT")
	}
	return strings.Join(append(lines, "END:VCALENDAR", ""), "\r\n")
}
