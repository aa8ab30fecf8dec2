package google

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

func (d dice) times(e *Event, whole bool) {
	day := time.Date(2026, 1, 1+d.IntN(700), d.IntN(24), 15*d.IntN(4), 0, 0, time.UTC)
	if whole {
		e.Start = &Moment{Date: day.Format(time.DateOnly)}
		e.End = &Moment{Date: day.AddDate(0, 0, 1+d.IntN(4)).Format(time.DateOnly)}
		return
	}
	name := d.one("Europe/Berlin", "America/New_York", "Asia/Kolkata", "UTC", "Australia/Lord_Howe", "America/St_Johns")
	z, _ := time.LoadLocation(name)
	e.Start = &Moment{DateTime: day.In(z).Format(time.RFC3339), Zone: name}
	e.End = &Moment{
		DateTime: day.Add(time.Duration(1+d.IntN(9)) * 15 * time.Minute).In(z).Format(time.RFC3339), Zone: name,
	}
}

func (d dice) event() *Event {
	e := &Event{
		ID: "e1", UID: "u1", Status: d.one(confirmed, "tentative"), Summary: d.text(), Description: d.text(),
		Location: d.text(),
		Color:    d.one("", "1", "5", "11"), Transparency: d.one("", transparent),
		Visibility: d.one("", "private", "public", "confidential"),
		Type:       d.one(usualEvent, usualEvent, "focusTime"), Sequence: d.IntN(3),
	}
	e.Reminders = &Reminders{Default: d.IntN(2) == 0}
	for i := 0; !e.Reminders.Default && i < d.IntN(4); i++ {
		e.Reminders.Overrides = append(e.Reminders.Overrides, Reminder{d.one(popup, email), 7*i + d.IntN(7)})
	}
	for i := range d.IntN(4) {
		e.Attendees = append(e.Attendees, Attendee{
			Email: fmt.Sprintf("g%d@example.org", i), Name: d.one("", "Bob", "Bauer, \"Bob\"; ^1", d.text()),
			Answer: d.one("needsAction", "declined", "tentative", "accepted"), Optional: d.IntN(2) == 0,
			Resource: d.IntN(3) == 0, Guests: d.IntN(2),
			Comment: d.one("", "no; \"sorry\",\nreally"),
		})
		e.Organizer = &Person{Email: "g0@example.org"}
	}
	return e
}

// TestThereAndBack holds for events that nobody thought of: what both sides can hold comes back.
func TestThereAndBack(t *testing.T) {
	for seed := range uint64(slowtest.Rounds(t, slowtest.Random, 150, 10_000)) {
		d := dice{rand.New(rand.NewPCG(seed, 1))}
		s := d.series()
		data, err := Text(s, home, zones)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		back, err := Read(data, s, home, zones)
		if err != nil {
			t.Fatalf("seed %d: %v in\n%s", seed, err, data)
		}
		sameSeries(t, s, back)
		again, err := Text(back, home, zones)
		if err != nil {
			t.Fatal(err)
		}
		twice, err := Read(again, s, home, zones)
		if err != nil {
			t.Fatal(err)
		}
		sameSeries(t, back, twice)
		if t.Failed() {
			t.Fatalf("seed %d\n%s", seed, data)
		}
	}
}

func (d dice) series() *Series {
	whole := d.IntN(3) == 0
	s := &Series{Master: d.event()}
	d.times(s.Master, whole)
	if d.IntN(2) == 0 {
		return s
	}
	s.Master.Recurrence = []string{
		d.one("RRULE:FREQ=DAILY", "RRULE:FREQ=WEEKLY;COUNT=20;BYDAY=MO,TU,WE", "RRULE:FREQ=MONTHLY"),
	}
	for i := range d.IntN(4) {
		e := d.event()
		d.times(e, whole)
		e.ID, e.SeriesID = fmt.Sprintf("e1_%d", i), "e1"
		e.Original = later(s.Master.Start, 7*(i+1))
		if d.IntN(3) == 0 {
			e = &Event{ID: e.ID, SeriesID: "e1", Status: cancelled, Original: e.Original}
		}
		s.Exceptions = append(s.Exceptions, e)
	}
	return s
}

// later is a moment some days later, at the same time on the wall.
func later(m *Moment, days int) *Moment {
	if m.Date != "" {
		day, _ := time.Parse(time.DateOnly, m.Date)
		return &Moment{Date: day.AddDate(0, 0, days).Format(time.DateOnly)}
	}
	z, _ := zones.Lookup(m.Zone)
	at, _ := moment(m.DateTime, z)
	found, _ := z.Resolve(z.Civil(at).AddDays(days))
	return &Moment{DateTime: found.In(z.Location()).Format(time.RFC3339), Zone: m.Zone}
}
