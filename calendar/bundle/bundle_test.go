package bundle_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"caldav-mcp-server/calendar/bundle"
	"caldav-mcp-server/ical"
)

func crlf(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") }

const zone = `BEGIN:VTIMEZONE
TZID:Berlin
X-FROM:%
BEGIN:STANDARD
DTSTART:19701025T030000
TZOFFSETFROM:+0200
TZOFFSETTO:+0100
END:STANDARD
END:VTIMEZONE
`

func object(parts ...string) string {
	return "BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:-//a//EN\nX-OF-ONE:gone\n" + strings.Join(parts, "") + "END:VCALENDAR\n"
}

func event(uid string) string {
	return "BEGIN:VEVENT\nUID:" + uid + "\nDTSTART;TZID=Berlin:20261124T090000\nSUMMARY:long\n  folded\nEND:VEVENT\n"
}

// TestBundle: every component comes as it was, each zone once, and the whole can be read.
func TestBundle(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	w, err := bundle.NewWriter(&out, bundle.Head{ProductID: "-//b//EN", Name: "Büro, 2", Color: "#112233"})
	if err != nil {
		t.Fatal(err)
	}
	first, second := strings.ReplaceAll(zone, "%", "first"), strings.ReplaceAll(zone, "%", "second")
	for _, o := range []string{
		crlf(object(first, event("a"), event("a"))),
		object(second, event("b")), // with plain line ends
		"\uFEFF" + crlf(object(strings.ReplaceAll(second, "Berlin", "Paris"), event("c"))),
	} {
		if err := w.Add([]byte(o)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	want := crlf("BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:-//b//EN\nNAME:Büro\\, 2\nX-WR-CALNAME:Büro\\, 2\nX-APPLE-CALENDAR-COLOR:#112233\n" +
		first + event("a") + event("a") + event("b") + strings.ReplaceAll(second, "Berlin", "Paris") + event("c") + "END:VCALENDAR\n")
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("bundle (-want +got):\n%s", diff)
	}
	doc, err := ical.Parse([]byte(out.String()), ical.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := doc.Calendar(); err != nil {
		t.Error(err)
	}
}

func TestEmptyBundle(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	w, err := bundle.NewWriter(&out, bundle.Head{ProductID: "x"})
	if err != nil || w.Close() != nil {
		t.Fatal(err)
	}
	if want := crlf("BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:x\nEND:VCALENDAR\n"); out.String() != want {
		t.Errorf("%q", out.String())
	}
}

// full is a disk without room.
type full struct{}

var errFull = errors.New("full")

func (full) Write([]byte) (int, error) { return 0, errFull }

func TestBundleErrors(t *testing.T) {
	t.Parallel()
	if _, err := bundle.NewWriter(full{}, bundle.Head{}); !errors.Is(err, errFull) {
		t.Errorf("a full disk: %v", err)
	}
	w, err := bundle.NewWriter(&strings.Builder{}, bundle.Head{})
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"", "hello", "BEGIN:VEVENT\r\nEND:VEVENT\r\n", "BEGIN:VCALENDAR\r\n"} {
		if err := w.Add([]byte(bad)); err == nil {
			t.Errorf("%q is taken for an object", bad)
		}
	}
}
