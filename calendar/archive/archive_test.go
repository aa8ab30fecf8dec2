package archive_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"caldav-mcp-server/calendar/archive"
	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/zone"
	"caldav-mcp-server/ical"
)

// lines ends each line as RFC 5545 does.
func lines(all ...string) string { return strings.Join(all, "\r\n") + "\r\n" }

func split(file string) []archive.Part { return slices.Collect(archive.Split([]byte(file), nil)) }

// outline tells of each part where it begins and what became of it.
func outline(parts []archive.Part) []string {
	var all []string
	for _, p := range parts {
		line := fmt.Sprintf("%d %s %s", p.Line, p.Kind, p.UID)
		if p.Err != nil {
			line = fmt.Sprintf("%d %s: %v", p.Line, p.Kind, p.Err)
		}
		all = append(all, line)
	}
	return all
}

func same[T any](t *testing.T, got, want T) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

var mixed = lines(
	"BEGIN:VCALENDAR", "METHOD:PUBLISH", "PRODID:-//old", " //server//EN", "VERSION:2.0", "X-WR-CALNAME:Old",
	"BEGIN:VTIMEZONE", "TZID:Mine", "BEGIN:STANDARD", "DTSTART:19700101T000000", "TZOFFSETFROM:+0100",
	"TZOFFSETTO:+0100", "END:STANDARD", "END:VTIMEZONE",
	"BEGIN:VTIMEZONE", "TZID:Unused", "END:VTIMEZONE",
	"BEGIN:VEVENT", "UID:a", "DTSTART;TZID=Mine:20260301T100000", "RRULE:FREQ=DAILY", "SUMMARY:series", "END:VEVENT",
	"BEGIN:VTODO", "UID:b", "SUMMARY:task", "BEGIN:VALARM", "TRIGGER:-PT5M", "END:VALARM", "END:VTODO",
	"BEGIN:VEVENT", "UID:a", "RECURRENCE-ID;TZID=Mine:20260302T100000", "DTSTART:20260302T110000Z", "SUMMARY:moved",
	"END:VEVENT",
	"END:VCALENDAR",
)

func TestSplitKeepsTogetherWhatBelongsTogether(t *testing.T) {
	t.Parallel()
	parts := split(mixed)
	same(t, outline(parts), []string{"18 VEVENT a", "24 VTODO b"})
	same(t, string(parts[0].Data), lines(
		"BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//old", " //server//EN",
		"BEGIN:VTIMEZONE", "TZID:Mine", "BEGIN:STANDARD", "DTSTART:19700101T000000", "TZOFFSETFROM:+0100",
		"TZOFFSETTO:+0100", "END:STANDARD", "END:VTIMEZONE",
		"BEGIN:VEVENT", "UID:a", "DTSTART;TZID=Mine:20260301T100000", "RRULE:FREQ=DAILY", "SUMMARY:series",
		"END:VEVENT",
		"BEGIN:VEVENT", "UID:a", "RECURRENCE-ID;TZID=Mine:20260302T100000", "DTSTART:20260302T110000Z", "SUMMARY:moved",
		"END:VEVENT",
		"END:VCALENDAR",
	))
	same(t, string(parts[1].Data), lines(
		"BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//old", " //server//EN",
		"BEGIN:VTODO", "UID:b", "SUMMARY:task", "BEGIN:VALARM", "TRIGGER:-PT5M", "END:VALARM", "END:VTODO",
		"END:VCALENDAR",
	))
}

// Every line of an object knows the line of the file that it was.
func TestSplitKnowsWhereLinesComeFrom(t *testing.T) {
	t.Parallel()
	file := strings.Split(mixed, "\r\n")
	for _, p := range split(mixed) {
		found := 0
		for i, text := range strings.Split(string(p.Data), "\r\n") {
			n := p.SourceLine(i + 1)
			if n == 0 {
				continue
			}
			found++
			if file[n-1] != text {
				t.Errorf("%s: line %d %q is said to be line %d, %q", p.UID, i+1, text, n, file[n-1])
			}
		}
		if found < 7 {
			t.Errorf("%s: %d lines are known", p.UID, found)
		}
	}
}

func TestSplitTakesWhatProgramsWrite(t *testing.T) {
	t.Parallel()
	event := []string{"BEGIN:VEVENT", "UID:a", "DTSTART:20260301T100000Z", "END:VEVENT"}
	whole := append(append([]string{"BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:x"}, event...), "END:VCALENDAR")
	want := lines(whole...)
	for name, file := range map[string]string{
		"as it should be":         want,
		"line feeds":              strings.ReplaceAll(want, "\r\n", "\n"),
		"no last line end":        strings.TrimSuffix(want, "\r\n"),
		"byte order mark":         "\uFEFF" + want,
		"the same event twice":    lines(slices.Concat(whole[:3], event, event, whole[7:])...),
		"two calendars":           want + want,
		"mixed line ends":         strings.Replace(want, "\r\n", "\n", 2),
		"a method with parameter": strings.Replace(want, "PRODID", "METHOD;X=1:REQUEST\r\nPRODID", 1),
	} {
		parts := split(file)
		if len(parts) != 1 || parts[0].Err != nil || string(parts[0].Data) != want {
			t.Errorf("%s: %v", name, outline(parts))
		}
	}
}

// One fault costs one object.
func TestSplitGoesOnAfterAFault(t *testing.T) {
	t.Parallel()
	file := lines("BEGIN:VCALENDAR", "VERSION:2.0",
		"BEGIN:VEVENT", "UID:good-1", "END:VEVENT",
		"BEGIN:VEVENT", "UID:bad", "no colon here", "END:VEVENT",
		"BEGIN:VEVENT", "UID:lost its end",
		"BEGIN:VEVENT", "UID:good-2", "END:VALARM", "END:VEVENT",
		"BEGIN:VPOLL", "UID:poll", "END:VPOLL",
		"END:VCALENDAR",
		"BEGIN:VEVENT", "UID:outside", "END:VEVENT",
		"BEGIN:VCALENDAR", "BEGIN:VEVENT", "UID:good-3", "END:VEVENT", "BEGIN:VTODO", "UID:cut off")
	var good []string
	var bad []int
	for _, p := range split(file) {
		if p.Err != nil {
			bad = append(bad, p.Line)
			continue
		}
		good = append(good, p.UID)
		if _, err := ical.Parse(p.Data, ical.DefaultLimits()); err != nil {
			t.Errorf("%s: %v", p.UID, err)
		}
	}
	same(t, good, []string{"good-1", "good-3"})
	same(t, bad, []int{6, 10, 12, 16, 20, 27})
	for _, p := range split(file) {
		if p.Line == 6 && !strings.HasPrefix(p.Err.Error(), "line 8:") {
			t.Errorf("the fault of line 8 reads %q", p.Err)
		}
	}
}

// An event without a UID has the same one tomorrow, when the file was exported again.
// TestSplitLeavesWhatIsNestedWhereItIs: the options of a poll are no appointments. Where the poll has lost its
// end, what follows it stands by itself (time N3).
func TestSplitLeavesWhatIsNestedWhereItIs(t *testing.T) {
	t.Parallel()
	option := []string{"BEGIN:VEVENT", "UID:option", "DTSTART:20270301T090000Z", "END:VEVENT"}
	poll := append([]string{"BEGIN:VCALENDAR", "VERSION:2.0", "BEGIN:VPOLL", "UID:poll"}, option...)
	after := []string{"BEGIN:VEVENT", "UID:after", "DTSTART:20270301T090000Z", "END:VEVENT", "END:VCALENDAR"}
	whole := append(append(slices.Clone(poll), "END:VPOLL"), after...)
	same(t, outline(split(lines(whole...))), []string{"3 VPOLL: no calendar accepts a VPOLL", "10 VEVENT after"})
	same(t, outline(split(lines(append(slices.Clone(poll), after...)...))), []string{
		"3 VPOLL: the VPOLL cannot be read: it never ends", "5 VEVENT option", "9 VEVENT after",
	})
}

func TestSplitMakesStableUIDs(t *testing.T) {
	t.Parallel()
	file := func(stamp, title string) string {
		return lines("BEGIN:VCALENDAR", "VERSION:2.0",
			"BEGIN:VEVENT", "DTSTAMP:"+stamp, "DTSTART:20260301", "SUMMARY:"+title, "END:VEVENT",
			"BEGIN:VEVENT", "DTSTAMP:"+stamp, "DTSTART:20260301", "SUMMARY:"+title, "END:VEVENT", "END:VCALENDAR")
	}
	today, tomorrow, other := split(file("20260301T000000Z", "x")), split(file("20260302T000000Z", "x")),
		split(file("20260301T000000Z", "y"))
	if len(today) != 1 || today[0].Err != nil {
		t.Fatalf("%+v", today)
	}
	if uid := today[0].UID; len(uid) < 20 || uid != tomorrow[0].UID || uid == other[0].UID {
		t.Errorf("%q, %q and %q", uid, tomorrow[0].UID, other[0].UID)
	}
	o, err := content.Read(today[0].Data, ical.DefaultLimits())
	if err != nil || o.UID != today[0].UID {
		t.Errorf("%v, %v in\n%s", o, err, today[0].Data)
	}
	if got := today[0].SourceLine(6); got != 4 {
		t.Errorf("the line behind the UID is line %d of the file, want 4", got)
	}
}

func TestSplitOfNothing(t *testing.T) {
	t.Parallel()
	for _, file := range []string{
		"", "hello", "BEGIN:VCALENDAR\r\nEND:VCALENDAR\r\n", "\n\n", ":", "END:VEVENT\n", " x",
	} {
		if parts := split(file); len(parts) != 0 {
			t.Errorf("%q: %+v", file, parts)
		}
	}
}

func object(tzid, offset, uid string) string {
	return lines("BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:x",
		"BEGIN:VTIMEZONE", "TZID:"+tzid, "BEGIN:STANDARD", "DTSTART:19700101T000000", "TZOFFSETFROM:"+offset,
		"TZOFFSETTO:"+offset, "END:STANDARD", "END:VTIMEZONE",
		"BEGIN:VEVENT", "UID:"+uid, "DTSTART;TZID="+tzid+":20260301T100000", "END:VEVENT", "END:VCALENDAR")
}

func join(t *testing.T, objects ...string) string {
	t.Helper()
	var out strings.Builder
	w, err := archive.NewWriter(&out, archive.Header{Name: "Wörk, " + strings.Repeat("long ", 20), Color: "#112233"},
		zone.NewDB())
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range objects {
		if err := w.Add([]byte(o)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestJoinWritesEachZoneOnce(t *testing.T) {
	t.Parallel()
	file := join(t, object("Mine", "+0100", "a"), object("Mine", "+0100", "b"), object("Europe/Berlin", "+0100", "c"),
		object("Europe/Berlin", "+0101", "d"))
	if n := strings.Count(file, "TZID:Mine\r\n"); n != 1 {
		t.Errorf("Mine is defined %d times", n)
	}
	if n := strings.Count(file, "BEGIN:VTIMEZONE"); n != 2 {
		t.Errorf("there are %d zones in\n%s", n, file)
	}
}

// Two programs call different zones the same: each event must keep its own.
func TestJoinTellsZonesApart(t *testing.T) {
	t.Parallel()
	file := join(t, object("Mine", "+0100", "a"), object("Mine", "+0500", "b"), object("Mine", "+0100", "c"),
		object("Mine", "+0500", "d"))
	if n := strings.Count(file, "BEGIN:VTIMEZONE"); n != 2 {
		t.Errorf("there are %d zones in\n%s", n, file)
	}
	for _, p := range split(file) {
		want := map[string]string{"a": "+0100", "b": "+0500", "c": "+0100", "d": "+0500"}[p.UID]
		if !strings.Contains(string(p.Data), "TZOFFSETTO:"+want+"\r\n") {
			t.Errorf("%s is not at %s any more:\n%s", p.UID, want, p.Data)
		}
	}
}

// What is joined and split again is what it was.
func TestJoinAndSplitAgain(t *testing.T) {
	t.Parallel()
	a, b := object("Mine", "+0100", "a"), object("Yours", "+0200", "b")
	file := join(t, a, b)
	doc, err := ical.Parse([]byte(file), ical.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	root, err := doc.Calendar()
	if err != nil || content.TextOf(root, "X-WR-CALNAME") != "Wörk, "+strings.Repeat("long ", 20) {
		t.Errorf("%v in\n%s", err, file)
	}
	for i, p := range split(file) {
		_, want, _ := strings.Cut([]string{a, b}[i], "BEGIN:VTIMEZONE")
		_, got, _ := strings.Cut(string(p.Data), "BEGIN:VTIMEZONE")
		same(t, got, want)
	}
}

func TestJoinRefusesWhatItCannotRead(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	w, err := archive.NewWriter(&out, archive.Header{}, zone.NewDB())
	if err != nil {
		t.Fatal(err)
	}
	before := out.Len()
	if err := w.Add([]byte("BEGIN:VCALENDAR\r\nno colon\r\n")); !errors.Is(err, archive.ErrUnreadable) ||
		out.Len() != before {
		t.Errorf("%v, and wrote %q", err, out.String()[before:])
	}
}

func FuzzSplit(f *testing.F) {
	f.Add([]byte(mixed))
	f.Add([]byte("BEGIN:VCALENDAR\nBEGIN:VEVENT\nEND:VEVENT"))
	f.Fuzz(func(t *testing.T, file []byte) {
		for p := range archive.Split(file, nil) {
			if (p.Err == nil) != (p.Data != nil) {
				t.Errorf("%+v", p)
			}
			if p.Err == nil {
				if _, err := ical.Parse(p.Data, ical.Limits{}); err != nil {
					t.Errorf("%v in %q", err, p.Data)
				}
			}
		}
	})
}
