package google

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"golang.org/x/tools/txtar"

	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/mirror"
	"caldav-mcp-server/calendar/zone"
	"caldav-mcp-server/ical"
	"caldav-mcp-server/internal/goldentest"
	"caldav-mcp-server/linked/rest"
)

var (
	zones = zone.NewDB()
	home  = Calendar{Zone: "Europe/Berlin", Reminders: []Reminder{{popup, 10}, {email, 60}}, Self: "alice@example.com"}
)

func seriesOf(t *testing.T, text string) *Series {
	t.Helper()
	var events []*Event
	if err := json.Unmarshal([]byte(text), &events); err != nil {
		t.Fatal(err)
	}
	s := &Series{}
	for _, e := range events {
		if e.SeriesID == "" {
			s.Master = e
		} else {
			s.Exceptions = append(s.Exceptions, e)
		}
	}
	return s
}

func jsonOf(t *testing.T, s *Series) string {
	t.Helper()
	var events []*Event
	if s.Master != nil {
		events = append(events, s.Master)
	}
	data, err := rest.Text(append(events, s.Exceptions...))
	if err != nil {
		t.Fatal(err)
	}
	var pretty any
	if err := json.Unmarshal(data, &pretty); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	if err := enc.Encode(pretty); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestOut holds what Google's events are in iCalendar, and that nothing is lost on the way there and back.
func TestOut(t *testing.T) {
	goldentest.Archives(t, "out", 60, func(t *testing.T, a *txtar.Archive) {
		source := goldentest.Part(a, "google.json")
		s := seriesOf(t, source)
		data, err := Text(s, home, zones)
		if err != nil {
			goldentest.Golden(t, a, "fault.txt", err.Error()+"\n")
			return
		}
		goldentest.Golden(t, a, "event.ics", goldentest.LF(data))
		valid(t, data)
		back, err := Read(data, seriesOf(t, source), home, zones)
		if err != nil {
			t.Fatalf("back: %v", err)
		}
		sameSeries(t, s, back)
	})
}

// TestIn holds what events of calendar programs are at Google, and that they come back as they were.
func TestIn(t *testing.T) {
	goldentest.Archives(t, "in", 40, func(t *testing.T, a *txtar.Archive) {
		source := goldentest.Part(a, "event.ics")
		s, err := Read(goldentest.CRLF(source), nil, home, zones)
		if err != nil {
			if _, refused := errors.AsType[*mirror.Refusal](err); !refused {
				t.Errorf("an error that is no refusal: %v", err)
			}
			goldentest.Golden(t, a, "refusal.txt", err.Error()+"\n")
			return
		}
		goldentest.Golden(t, a, "google.json", jsonOf(t, s))
		data, err := Text(s, home, zones)
		if err != nil {
			t.Fatal(err)
		}
		goldentest.Golden(t, a, "again.ics", goldentest.LF(data))
		valid(t, data)
		again, err := Read(data, nil, home, zones)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(jsonOf(t, s), jsonOf(t, again)); diff != "" {
			t.Errorf("there and back (-there +back):\n%s", diff)
		}
	})
}

// valid holds that a text keeps the rules for objects.
func valid(t *testing.T, data []byte) {
	t.Helper()
	object, err := content.Read(data, ical.DefaultLimits())
	if err == nil {
		err = object.Check(t.Context(), content.Limits{}, zones)
	}
	if err != nil {
		t.Errorf("%v in\n%s", err, data)
	}
}

// sameSeries compares what can be written at Google.
func sameSeries(t *testing.T, want, got *Series) {
	t.Helper()
	opts := cmp.Options{cmpopts.EquateEmpty(), cmpopts.IgnoreFields(Attendee{}, "Self", "Organizer")}
	if diff := cmp.Diff(plainSeries(want), plainSeries(got), opts); diff != "" {
		t.Errorf("there and back (-there +back):\n%s", diff)
	}
}

func plainSeries(s *Series) (list []*Event) {
	if s.Master != nil {
		list = append(list, plainOf(s.Master))
	}
	for _, e := range sorted(s.Exceptions) {
		if e.Status == cancelled && s.Master == nil {
			continue
		}
		list = append(list, plainOf(e))
	}
	return list
}

// plainOf drops what only Google writes, and says what it leaves unsaid.
func plainOf(from *Event) *Event {
	e := *from
	e.Kind, e.ETag, e.ID, e.HTMLLink, e.Created, e.Updated, e.Creator, e.Locked = "", "", "", "", "", "", nil, false
	if e.Status == cancelled {
		return &Event{Status: cancelled, Original: instantOf(e.Original)}
	}
	if e.Status == "" {
		e.Status = confirmed
	}
	if e.Type == "" {
		e.Type = usualEvent
	}
	if len(e.Attendees) == 0 && !e.Omitted {
		e.Organizer = nil
	}
	if e.Organizer != nil {
		e.Organizer = &Person{Email: e.Organizer.Email, Name: e.Organizer.Name}
	}
	e.Reminders = remindersOf(e.Reminders)
	e.Start, e.End, e.Original = instantOf(e.Start), instantOf(e.End), instantOf(e.Original)
	if e.Original != nil {
		// An instance is named by the moment, in whatever zone.
		e.Original = &Moment{Date: e.Original.Date, DateTime: e.Original.DateTime}
	}
	// What we keep there of ourselves is TestIn's.
	e.Extended = e.Extended.foreign()
	e.Recurrence = slices.DeleteFunc(slices.Clone(e.Recurrence), func(line string) bool {
		return strings.TrimSpace(line) == ""
	})
	return &e
}

func remindersOf(r *Reminders) *Reminders {
	if r == nil {
		return &Reminders{}
	}
	return r
}

// instantOf says a time in its zone.
func instantOf(m *Moment) *Moment {
	if m == nil || m.Date != "" {
		return m
	}
	name := m.Zone
	if name == "" {
		name = home.Zone
	}
	z, err := zones.Lookup(name)
	if err != nil {
		z = zone.UTC()
	}
	at, err := moment(m.DateTime, z)
	if err != nil {
		return m
	}
	return &Moment{DateTime: at.UTC().Format(time.RFC3339), Zone: name}
}
