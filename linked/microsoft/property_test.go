package microsoft

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"caldav-mcp-server/internal/slowtest"
)

// dice throws one event after the other.
type dice struct{ *rand.Rand }

func (d dice) one(of ...string) string { return of[d.IntN(len(of))] }

func (d dice) text() string {
	alphabet := []rune("ab zÄß漢🚣,;:\\\"'<>&%^=\n\t#-.")
	out := make([]rune, d.IntN(30))
	for i := range out {
		out[i] = alphabet[d.IntN(len(alphabet))]
	}
	return string(out)
}

func (d dice) event(start time.Time, whole bool) *Event {
	e := &Event{
		ID: "e1", UID: "u1", Subject: d.text(), ShowAs: d.one(free, tentative, busy, "oof", elsewhere, "unknown"),
		Sensitivity: d.one(normal, "personal", "private", "confidential"), Importance: d.one(normal, "high", "low"),
		ReminderOn: d.IntN(2) == 0, Minutes: d.IntN(3000), AllDay: whole,
		StartZone: d.one("W. Europe Standard Time", "America/New_York", "Tokyo Standard Time", "UTC"),
	}
	if content := d.text(); content != "" {
		e.Body = &Body{Type: d.one(textBody, htmlBody), Content: content}
	}
	for i := range d.IntN(3) {
		e.Categories = append(e.Categories, fmt.Sprintf("c%d, %s", i, d.text()))
	}
	for i := range d.IntN(3) {
		e.Organizer = &Person{Address: Address{Address: "host@example.org"}}
		e.Attendees = append(e.Attendees, Attendee{
			Type:    d.one(required, "optional", "resource"),
			Status:  &Answer{Response: d.one("none", "accepted", "declined", "tentativelyAccepted")},
			Address: Address{Address: fmt.Sprintf("g%d@example.org", i), Name: d.one("", "Bauer, \"Bob\"; ^1")},
		})
	}
	e.EndZone = e.StartZone
	length := time.Duration(1+d.IntN(9)) * 15 * time.Minute
	if whole {
		start, length = start.Truncate(24*time.Hour), time.Duration(1+d.IntN(3))*24*time.Hour
	}
	e.Start = &Moment{DateTime: start.Format(wall) + ".0000000", Zone: "UTC"}
	e.End = &Moment{DateTime: start.Add(length).Format(wall) + ".0000000", Zone: "UTC"}
	return e
}

// recur gives an event a rule that has its start.
func (d dice) recur(e *Event) {
	w := writer{zones: zones}
	p, err := w.time("DTSTART", e.Start, e.StartZone, e.AllDay)
	if err != nil {
		return
	}
	start, _ := p.Time()
	day, today := start.Civil, weekdays[start.Civil.Weekday()]
	r := &Recurrence{
		Pattern: Pattern{Interval: 1 + d.IntN(3)},
		Range:   Range{Type: d.one("noEnd", "numbered", "endDate"), Start: dayOf(day)},
	}
	r.Range.Count, r.Range.End = 1+d.IntN(20), dayOf(day.AddDays(d.IntN(400)))
	pattern := &r.Pattern
	pattern.Type = d.one("daily", "weekly", "absoluteMonthly", "absoluteYearly", "relativeMonthly", "relativeYearly")
	pattern.Month, pattern.DayOfMonth, pattern.FirstDay = int(day.Month), day.Day, d.one("sunday", "monday")
	pattern.Days, pattern.Index = []string{today}, indexes[min((day.Day-1)/7, 3)]
	if day.Day > 28 {
		pattern.Index = "last"
	}
	e.Recurrence = r
}

// TestThereAndBack holds for events that nobody thought of: what both sides can hold comes back.
func TestThereAndBack(t *testing.T) {
	for seed := range uint64(slowtest.Rounds(t, slowtest.Random, 200, 20_000)) {
		d := dice{rand.New(rand.NewPCG(seed, 1))}
		start := time.Date(2026, 1, 1+d.IntN(700), d.IntN(24), 15*d.IntN(4), 0, 0, time.UTC)
		s := &Series{Master: d.event(start, d.IntN(3) == 0)}
		if d.IntN(2) == 0 {
			d.recur(s.Master)
		}
		if s.Master.Recurrence != nil && d.IntN(2) == 0 {
			e := d.event(start.AddDate(0, 0, 8), s.Master.AllDay)
			e.ID, e.SeriesID, e.Original = "e2", "e1", start.AddDate(0, 0, 7).Format(time.RFC3339)
			if e.AllDay {
				e.Original = start.AddDate(0, 0, 7).Truncate(24 * time.Hour).Format(time.RFC3339)
			}
			s.Exceptions = append(s.Exceptions, e)
		}
		data, err := Text(s, zones)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		back, err := Read(data, zones)
		if err != nil {
			t.Fatalf("seed %d: %v in\n%s", seed, err, data)
		}
		if sameSeries(t, s, back); t.Failed() {
			t.Fatalf("seed %d\n%s", seed, data)
		}
	}
}
