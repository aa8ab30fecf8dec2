package microsoft

import (
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"golang.org/x/tools/txtar"

	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/mirror"
	"caldav-mcp-server/calendar/zone"
	"caldav-mcp-server/ical"
	"caldav-mcp-server/internal/goldentest"
	"caldav-mcp-server/linked/rest"
)

var zones = zone.NewDB()

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
			s.Cancelled = daysGone(e)
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
		m := *s.Master
		for _, day := range s.Cancelled {
			m.Gone = append(m.Gone, "OID."+m.ID+"."+day)
		}
		events = append(events, &m)
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

// TestOut holds what Microsoft's events are in iCalendar, and that nothing is lost on the way there and back.
func TestOut(t *testing.T) {
	goldentest.Archives(t, "out", 60, func(t *testing.T, a *txtar.Archive) {
		source := goldentest.Part(a, "graph.json")
		s := seriesOf(t, source)
		data, err := Text(s, zones)
		if err != nil {
			goldentest.Golden(t, a, "fault.txt", err.Error()+"\n")
			return
		}
		goldentest.Golden(t, a, "event.ics", goldentest.LF(data))
		valid(t, data)
		back, err := Read(data, zones)
		if err != nil {
			t.Fatalf("back: %v", err)
		}
		sameSeries(t, s, back)
	})
}

// TestIn holds what events of calendar programs are at Microsoft, and that they come back as they were.
func TestIn(t *testing.T) {
	goldentest.Archives(t, "in", 40, func(t *testing.T, a *txtar.Archive) {
		source := goldentest.Part(a, "event.ics")
		s, err := Read(goldentest.CRLF(source), zones)
		if err != nil {
			if _, refused := errors.AsType[*mirror.Refusal](err); !refused {
				t.Errorf("an error that is no refusal: %v", err)
			}
			goldentest.Golden(t, a, "refusal.txt", err.Error()+"\n")
			return
		}
		goldentest.Golden(t, a, "graph.json", jsonOf(t, s))
		data, err := Text(s, zones)
		if err != nil {
			t.Fatal(err)
		}
		goldentest.Golden(t, a, "again.ics", goldentest.LF(data))
		valid(t, data)
		again, err := Read(data, zones)
		if err != nil {
			t.Fatal(err)
		}
		if diff := gocmp.Diff(jsonOf(t, s), jsonOf(t, again)); diff != "" {
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

// sameSeries compares what can be written at Microsoft.
func sameSeries(t *testing.T, want, got *Series) {
	t.Helper()
	if diff := gocmp.Diff(plainSeries(want), plainSeries(got), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("there and back (-there +back):\n%s", diff)
	}
	if diff := gocmp.Diff(slices.Sorted(slices.Values(want.Cancelled)), got.Cancelled, cmpopts.EquateEmpty()); diff !=
		"" {
		t.Errorf("there and back (-there +back):\n%s", diff)
	}
}

func plainSeries(s *Series) (list []*Event) {
	w := writer{zones: zones}
	if s.Master != nil {
		list = append(list, w.plainOf(s.Master))
	}
	for _, e := range sorted(s.Exceptions) {
		list = append(list, w.plainOf(e))
	}
	return list
}

// plainOf drops what only Microsoft writes, and says what it leaves unsaid.
func (w writer) plainOf(from *Event) *Event {
	e := *from
	e.ETag, e.ID, e.UID, e.Created, e.Modified, e.WebLink, e.Preview, e.ChangeKey, e.Gone = "", "", "", "", "", "", "",
		"", nil
	e.Extensions, e.Kept = nil, ""
	e.Transaction, e.Type, e.SeriesID, e.IsOrganizer, e.Answer, e.HasFiles, e.Draft, e.OccurrenceID = "", "", "", false,
		nil, false, false, ""
	e.Sensitivity, e.ShowAs, e.Importance = cmp.Or(e.Sensitivity, normal), cmp.Or(e.ShowAs, busy), cmp.Or(e.Importance,
		normal)
	if !e.ReminderOn {
		e.Minutes = 0
	}
	if len(e.Attendees) == 0 {
		e.Organizer = nil
	}
	e.Attendees = slices.Clone(e.Attendees)
	for i, a := range e.Attendees {
		e.Attendees[i].Status = &Answer{Response: responses.In(responses.Out(a.Status.Response))}
	}
	if e.Body != nil {
		// iCalendar has one kind of line break, and Graph adds some at the end of a text.
		content := strings.ReplaceAll(e.Body.Content, "\r\n", "\n")
		if !e.Body.isHTML() {
			content = strings.TrimRight(content, " \t\n")
		}
		if e.Body = (&Body{Type: e.Body.Type, Content: content}); content == "" {
			e.Body = nil
		}
	}
	if placeName(e.Place) == "" && strings.Count(string(e.Place), ":") <= 1 {
		e.Place = nil
	}
	e.Start, e.End = w.plainMoment(e.Start, e.AllDay), w.plainMoment(e.End, e.AllDay)
	e.StartZone, e.EndZone = w.plainZone(e.StartZone, e.AllDay), w.plainZone(e.EndZone, e.AllDay)
	if at, err := time.Parse(time.RFC3339, e.Original); err == nil {
		e.Original = at.UTC().Format(time.RFC3339)
	}
	if e.Recurrence != nil {
		e.Recurrence = w.plainPattern(*e.Recurrence)
	}
	return &e
}

func (w writer) plainPattern(r Recurrence) *Recurrence {
	r.Range.Zone = ""
	switch r.Range.Type {
	case "noEnd":
		r.Range.End, r.Range.Count = "", 0
	case "numbered":
		r.Range.End = ""
	default:
		r.Range.Count = 0
	}
	p := r.Pattern
	r.Pattern = Pattern{Type: p.Type, Interval: max(p.Interval, 1)}
	if p.Type == "weekly" {
		r.Pattern.Days, r.Pattern.FirstDay = p.Days, cmp.Or(p.FirstDay, "sunday")
	}
	if strings.HasPrefix(p.Type, "relative") {
		r.Pattern.Days, r.Pattern.Index = p.Days, cmp.Or(p.Index, "first")
	}
	if strings.HasPrefix(p.Type, "absolute") {
		r.Pattern.DayOfMonth = p.DayOfMonth
	}
	if strings.HasSuffix(p.Type, "Yearly") {
		r.Pattern.Month = p.Month
	}
	return &r
}

func (w writer) plainZone(name string, day bool) string {
	if day || name == "" {
		return ""
	}
	if _, err := zones.Lookup(name); err != nil {
		return name
	}
	return w.zone(name).Name()
}

func (w writer) plainMoment(m *Moment, day bool) *Moment {
	if day {
		return &Moment{DateTime: strip(m.DateTime)}
	}
	at, err := w.instant(m)
	if err != nil {
		return m
	}
	return &Moment{DateTime: at.UTC().Format(time.RFC3339)}
}
