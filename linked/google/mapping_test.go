package google

import (
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
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
	"caldav-mcp-server/linked/rest"
)

var update = flag.Bool("update", false, "write the answers into testdata")

var (
	zones = zone.NewDB()
	home  = Calendar{Zone: "Europe/Berlin", Reminders: []Reminder{{popup, 10}, {email, 60}}, Self: "alice@example.com"}
)

func part(a *txtar.Archive, name string) string {
	for _, f := range a.Files {
		if f.Name == name {
			return string(f.Data)
		}
	}
	return ""
}

func setPart(a *txtar.Archive, name, data string) {
	for i := range a.Files {
		if a.Files[i].Name == name {
			a.Files[i].Data = []byte(data)
			return
		}
	}
	a.Files = append(a.Files, txtar.File{Name: name, Data: []byte(data)})
}

// archives runs a test for each golden pair and writes what it changed, if asked to.
func archives(t *testing.T, dir string, least int, check func(t *testing.T, a *txtar.Archive)) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", dir, "*.txtar"))
	if err != nil || len(files) < least {
		t.Fatalf("%d pairs, want %d: %v", len(files), least, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			check(t, a)
			if *update {
				if err := os.WriteFile(file, txtar.Format(a), 0o600); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// golden compares a part with what it should be, or writes it.
func golden(t *testing.T, a *txtar.Archive, name, got string) {
	t.Helper()
	if *update {
		setPart(a, name, got)
		return
	}
	want := part(a, name)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

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

// lf is a text as a golden file holds it; crlf as it travels. VTIMEZONEs have tests of their own.
func lf(data []byte) string {
	text := strings.ReplaceAll(string(data), "\r\n", "\n")
	for {
		from, to := strings.Index(text, "BEGIN:VTIMEZONE\n"), strings.Index(text, "END:VTIMEZONE\n")
		if from < 0 {
			return text
		}
		text = text[:from] + text[to+len("END:VTIMEZONE\n"):]
	}
}

func crlf(text string) []byte { return []byte(strings.ReplaceAll(text, "\n", "\r\n")) }

// TestOut holds what Google's events are in iCalendar, and that nothing is lost on the way there and back.
func TestOut(t *testing.T) {
	archives(t, "out", 60, func(t *testing.T, a *txtar.Archive) {
		source := part(a, "google.json")
		s := seriesOf(t, source)
		data, err := Text(s, home, zones)
		if err != nil {
			golden(t, a, "fault.txt", err.Error()+"\n")
			return
		}
		golden(t, a, "event.ics", lf(data))
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
	archives(t, "in", 40, func(t *testing.T, a *txtar.Archive) {
		source := part(a, "event.ics")
		s, err := Read(crlf(source), nil, home, zones)
		if err != nil {
			if _, refused := errors.AsType[*mirror.Refusal](err); !refused {
				t.Errorf("an error that is no refusal: %v", err)
			}
			golden(t, a, "refusal.txt", err.Error()+"\n")
			return
		}
		golden(t, a, "google.json", jsonOf(t, s))
		data, err := Text(s, home, zones)
		if err != nil {
			t.Fatal(err)
		}
		golden(t, a, "again.ics", lf(data))
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
