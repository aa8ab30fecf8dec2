package edit_test

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/edit"
	"caldav-mcp-server/calendar/recur"
	"caldav-mcp-server/calendar/timetext"
	"caldav-mcp-server/calendar/zone"
	"caldav-mcp-server/ical"
)

// editor is one whose clock stands at noon of 2026-03-01, and whose second objects are "second".
func editor() edit.Editor {
	return edit.Editor{
		Zones: zone.NewDB(), Now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC),
		NewUID: func() string { return "second" },
	}
}

// crlf writes a text as iCalendar wants it.
func crlf(text string) string {
	return strings.ReplaceAll(strings.TrimLeft(text, "\n"), "\n", "\r\n")
}

// calendarOf puts components into a VCALENDAR.
func calendarOf(components ...string) string {
	return "BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:-//test//EN\n" + strings.Join(components, "") + "END:VCALENDAR\n"
}

// eventOf makes a VEVENT of lines.
func eventOf(lines ...string) string {
	return "BEGIN:VEVENT\nUID:first\nDTSTAMP:20260101T000000Z\n" + strings.Join(lines, "\n") + "\nEND:VEVENT\n"
}

func read(t *testing.T, text string) *content.Object {
	t.Helper()
	o, err := content.Read([]byte(crlf(text)), ical.DefaultLimits())
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return o
}

// at reads a time in Berlin.
func at(t *testing.T, text string) ical.Time {
	t.Helper()
	if text == "" {
		return ical.Time{}
	}
	z, err := zone.Lookup("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := timetext.Parse(text, z)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

func to(t *testing.T, text string) edit.Field[ical.Time] {
	t.Helper()
	if text == "" {
		return edit.Field[ical.Time]{}
	}
	return edit.To(at(t, text))
}

// valid reads what an edit wrote, as save would.
func valid(t *testing.T, doc *ical.Document) *content.Object {
	t.Helper()
	o, err := content.Read(doc.Bytes(), ical.DefaultLimits())
	if err == nil {
		err = o.Check(t.Context(), content.Limits{}, zone.NewDB())
	}
	if err != nil {
		t.Fatalf("%v in\n%s", err, doc)
	}
	return o
}

// refused checks the code of a refusal and what it says.
func refused(t *testing.T, err error, code edit.Code, says string) {
	t.Helper()
	var f *edit.Error
	if !errors.As(err, &f) || f.Code != code || !strings.Contains(f.Error(), says) {
		t.Errorf("%v, want %s with %q", err, code, says)
	}
}

// changed lists the lines that differ, "-" those of before and "+" those of after.
func changed(before, after string) string {
	a, b := strings.Split(strings.TrimSpace(before), "\n"), strings.Split(strings.TrimSpace(after), "\n")
	// same[i][j] is how many lines a[i:] and b[j:] have in common.
	same := make([][]int, len(a)+1)
	for i := range same {
		same[i] = make([]int, len(b)+1)
	}
	for i, line := range slices.Backward(a) {
		for j, other := range slices.Backward(b) {
			if same[i][j] = max(same[i+1][j], same[i][j+1]); line == other {
				same[i][j] = same[i+1][j+1] + 1
			}
		}
	}
	var out strings.Builder
	for i, j := 0, 0; i < len(a) || j < len(b); {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			i, j = i+1, j+1
		case j == len(b) || i < len(a) && same[i+1][j] >= same[i][j+1]:
			out.WriteString("-" + strings.TrimRight(a[i], "\r") + "\n")
			i++
		default:
			out.WriteString("+" + strings.TrimRight(b[j], "\r") + "\n")
			j++
		}
	}
	return out.String()
}

// seen is an instance as a reader sees it.
type seen struct {
	ID, Start, End int64
	Wall           ical.Civil
	Summary        string
}

func (s seen) String() string {
	return fmt.Sprintf("%s %s +%ds %s", time.Unix(s.ID, 0).UTC().Format("20060102T150405Z"), s.Wall, s.End-s.Start,
		s.Summary)
}

// most is how many instances of an endless series are looked at.
const most = 40

// expand lists the first instances of an object by their recurrence id.
func expand(t *testing.T, o *content.Object) []seen {
	t.Helper()
	set, err := recur.FromComponents(o.Master, o.Overrides, zone.FromDocument(o.Calendar), time.UTC)
	if err != nil {
		t.Fatal(err)
	}
	var list []seen
	// An instance that was moved can come later than others that are named after it.
	const slack = 20
	for i, err := range set.Between(t.Context(), time.Time{}, time.Time{}, recur.DefaultBudget()) {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, seen{
			i.RecurrenceID.Time.Unix(), i.Start.Time.Unix(), i.End.Time.Unix(), i.Start.Civil(),
			content.TextOf(i.Component, "SUMMARY"),
		})
		if len(list) == most+slack {
			break
		}
	}
	slices.SortFunc(list, func(a, b seen) int { return cmp.Compare(a.ID, b.ID) })
	return list[:min(most, len(list))]
}

// lines writes instances one a line.
func lines(list []seen) string {
	var b strings.Builder
	for _, s := range list {
		b.WriteString(s.String() + "\n")
	}
	return b.String()
}

// splitLines cuts a text into its lines.
func splitLines(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == '\n' })
}
