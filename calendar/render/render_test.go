package render_test

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/filter"
	"caldav-mcp-server/calendar/recur"
	"caldav-mcp-server/calendar/render"
	"caldav-mcp-server/calendar/zone"
	"caldav-mcp-server/ical"
	"caldav-mcp-server/internal/goldentest"
)

// TestShapes holds the shapes to the files of testdata. An "object" is what is stored; each
// section behind it is named by the shape in which it must look like that:
// "expand FROM UNTIL [ZONE]", "recurrences FROM UNTIL", "freebusy FROM UNTIL".
func TestShapes(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no shapes: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			want, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := &txtar.Archive{Comment: want.Comment}
			stored := ""
			for _, section := range want.Files {
				if section.Name == "object" {
					stored = string(section.Data)
				} else {
					shape, in := read(t, section.Name)
					section.Data = []byte(apply(t, stored, shape, in))
				}
				got.Files = append(got.Files, section)
			}
			goldentest.Settle(t, file, want, got)
		})
	}
}

// read reads the name of a section.
func read(t *testing.T, name string) (render.Shape, filter.Context) {
	t.Helper()
	words := strings.Fields(name)
	in := filter.Context{Zones: zone.NewDB()}
	window := &filter.TimeRange{Start: moment(t, words[1]), End: moment(t, words[2])}
	if len(words) > 3 {
		z, err := zone.Lookup(words[3])
		if err != nil {
			t.Fatal(err)
		}
		in.Floating = z
	}
	shape, ok := map[string]render.Shape{
		"expand": {Expand: window}, "recurrences": {Recurrences: window}, "freebusy": {FreeBusy: window},
	}[words[0]]
	if !ok {
		t.Fatalf("no shape %q", name)
	}
	return shape, in
}

func moment(t *testing.T, text string) time.Time {
	t.Helper()
	for _, form := range []string{"20060102", "20060102T150405Z"} {
		if at, err := time.Parse(form, text); err == nil {
			return at
		}
	}
	t.Fatalf("no time: %q", text)
	return time.Time{}
}

func object(t testing.TB, text string) *content.Object {
	t.Helper()
	o, err := content.Read([]byte(text), ical.Limits{})
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return o
}

func apply(t *testing.T, text string, shape render.Shape, in filter.Context) string {
	t.Helper()
	o := object(t, text)
	if err := shape.Apply(t.Context(), o, in); err != nil {
		t.Fatalf("%+v: %v", shape, err)
	}
	return strings.ReplaceAll(o.Document.String(), "\r\n", "\n")
}

const selectable = `BEGIN:VCALENDAR
VERSION:2.0
PRODID:-//test//EN
BEGIN:VTIMEZONE
TZID:Nowhere
BEGIN:STANDARD
DTSTART:19700101T000000
TZOFFSETFROM:+0100
TZOFFSETTO:+0100
END:STANDARD
END:VTIMEZONE
BEGIN:VEVENT
UID:1
DTSTART:20260310T090000Z
summary:Lower
ATTACH;ENCODING=BASE64;VALUE=BINARY:AAAA
 AAAA
BEGIN:VALARM
ACTION:DISPLAY
TRIGGER:-PT5M
END:VALARM
END:VEVENT
END:VCALENDAR
`

func TestSelect(t *testing.T) {
	t.Parallel()
	type (
		comp = render.Component
		prop = render.Property
	)
	const begin, end = "BEGIN:VCALENDAR\n", "END:VCALENDAR\n"
	for name, c := range map[string]struct {
		ask  comp
		want string
	}{
		"nothing named is everything": {comp{Name: "VCALENDAR"}, selectable},
		"all of both":                 {comp{AllProperties: true, AllComponents: true}, selectable},
		"properties alone": {
			comp{AllProperties: true},
			begin + "VERSION:2.0\nPRODID:-//test//EN\n" + end,
		},
		"some of them, in any case": {
			comp{
				Properties: []prop{{Name: "version"}},
				Components: []comp{{Name: "vevent", Properties: []prop{{Name: "UID"}, {Name: "SUMMARY"}}}},
			},
			begin + "VERSION:2.0\nBEGIN:VEVENT\nUID:1\nsummary:Lower\nEND:VEVENT\n" + end,
		},
		"a name without its value": {
			comp{Components: []comp{{Name: "VEVENT", Properties: []prop{{Name: "ATTACH", WithoutValue: true}}}}},
			begin + "BEGIN:VEVENT\nATTACH;ENCODING=BASE64;VALUE=BINARY:\nEND:VEVENT\n" + end,
		},
		"alarms alone": {
			comp{Components: []comp{{Name: "VEVENT", Components: []comp{{Name: "VALARM"}}}}},
			begin + "BEGIN:VEVENT\nBEGIN:VALARM\nACTION:DISPLAY\nTRIGGER:-PT5M\nEND:VALARM\nEND:VEVENT\n" + end,
		},
		"what is not there": {comp{Components: []comp{{Name: "VTODO"}}}, begin + end},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := apply(t, selectable, render.Shape{Select: &c.ask}, filter.Context{Zones: zone.NewDB()})
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestWhole(t *testing.T) {
	t.Parallel()
	if !(render.Shape{}).Whole() {
		t.Error("the zero shape is not the whole")
	}
	for _, s := range []render.Shape{
		{Expand: &filter.TimeRange{}},
		{Recurrences: &filter.TimeRange{}},
		{FreeBusy: &filter.TimeRange{}},
		{Select: &render.Component{}},
	} {
		if s.Whole() {
			t.Errorf("%+v is the whole", s)
		}
	}
}

// TestWhatCannotBeExpanded: the reader is told, and does not get the series or a part of it.
func TestWhatCannotBeExpanded(t *testing.T) {
	t.Parallel()
	text := func(lines string) string {
		return "BEGIN:VCALENDAR\nBEGIN:VEVENT\nUID:1\n" + lines + "\nEND:VEVENT\nEND:VCALENDAR\n"
	}
	unknown := func(err error) bool {
		_, is := errors.AsType[*zone.UnknownError](err)
		return is
	}
	for name, c := range map[string]struct {
		text string
		is   func(error) bool
	}{
		"too often": {
			text("DTSTART:20260101T000000Z\nRRULE:FREQ=SECONDLY"),
			func(err error) bool { return errors.Is(err, recur.ErrBudget) },
		},
		"not ours": {
			text("DTSTART:20260101T000000Z\nRRULE:RSCALE=HEBREW;FREQ=YEARLY"),
			func(err error) bool { return errors.Is(err, recur.ErrUnsupported) },
		},
		"nowhere":     {text("DTSTART;TZID=Nowhere:20260101T000000"), unknown},
		"nowhere too": {text("DTSTART:20260101T000000Z\nX-SEEN;TZID=Nowhere:20260101T000000"), unknown},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			shape, in := read(t, "expand 20260101 20260201")
			if err := shape.Apply(t.Context(), object(t, c.text), in); !c.is(err) {
				t.Errorf("%v", err)
			}
		})
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	shape, in := read(t, "expand 20260101 20260201")
	if err := shape.Apply(gone, object(t, text("DTSTART:20260101T000000Z\nRRULE:FREQ=SECONDLY")), in); !errors.Is(err,
		context.Canceled) {
		t.Errorf("a request that has ended goes on: %v", err)
	}
}

func TestLegible(t *testing.T) {
	t.Parallel()
	whole := []byte("BEGIN:VCALENDAR\r\nX-A:Ärger\r\nEND:VCALENDAR\r\n")
	cut := bytes.Replace(whole, []byte("Ä"), []byte("\xc3\r\n \x84"), 1)
	if got := render.Legible(whole); &got[0] != &whole[0] {
		t.Error("what is legible was copied")
	}
	if got := render.Legible(cut); !bytes.Equal(got, whole) {
		t.Errorf("%q", got)
	}
	broken := []byte("BEGIN:VCALENDAR\xff")
	if got := render.Legible(broken); !bytes.Equal(got, broken) {
		t.Errorf("%q", got)
	}
}
