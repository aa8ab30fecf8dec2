package filter_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/filter"
	"caldav-mcp-server/calendar/zone"
	"caldav-mcp-server/ical"
)

// object reads the components of a test, in which lines are apart by spaces or by line
// ends, with their UID put in.
func object(t testing.TB, components string) *content.Object {
	t.Helper()
	var b strings.Builder
	b.WriteString("BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//test//EN\r\n")
	for line := range strings.SplitSeq(strings.TrimSpace(components), "\n") {
		line = strings.TrimSpace(line)
		b.WriteString(line + "\r\n")
		if kind, ok := strings.CutPrefix(line, "BEGIN:"); ok && kind != "VALARM" && kind != "AVAILABLE" &&
			kind != "VTIMEZONE" {
			b.WriteString("UID:1\r\n")
		}
	}
	b.WriteString("END:VCALENDAR\r\n")
	o, err := content.Read([]byte(b.String()), ical.DefaultLimits())
	if err != nil {
		t.Fatalf("%v in\n%s", err, b.String())
	}
	return o
}

// component makes an object of one component with some lines.
func component(t testing.TB, kind string, lines ...string) *content.Object {
	t.Helper()
	return object(t, "BEGIN:"+kind+"\n"+strings.Join(lines, "\n")+"\nEND:"+kind)
}

// moment reads a time as "20260310T120000Z", or "" for an open end.
func moment(t testing.TB, value string) time.Time {
	t.Helper()
	if value == "" {
		return time.Time{}
	}
	at, err := time.Parse("20060102T150405Z", value)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// during makes a time range of "start/end", either of which may be missing.
func during(t testing.TB, window string) *filter.TimeRange {
	t.Helper()
	start, end, ok := strings.Cut(window, "/")
	if !ok {
		t.Fatalf("%q is no window", window)
	}
	return &filter.TimeRange{Start: moment(t, start), End: moment(t, end)}
}

// under asks something of the components of a VCALENDAR.
func under(list ...filter.CompFilter) filter.Filter {
	return filter.Filter{{Name: "VCALENDAR", Components: list}}
}

// takesPlace asks for a component in a time range.
func takesPlace(t testing.TB, kind filter.ComponentName, window string) filter.Filter {
	t.Helper()
	return under(filter.CompFilter{Name: kind, TimeRange: during(t, window)})
}

// zones is shared: it remembers zones, and several goroutines may use it.
var zones = zone.NewDB() // a memory that every test may fill

func match(t testing.TB, f filter.Filter, o *content.Object) bool {
	t.Helper()
	return matchIn(t, f, o, "UTC")
}

func matchIn(t testing.TB, f filter.Filter, o *content.Object, floating string) bool {
	t.Helper()
	z, err := zones.Lookup(floating)
	if err != nil {
		t.Fatal(err)
	}
	ok, err := f.Match(t.Context(), o, filter.Context{Zones: zones, Floating: z})
	if err != nil {
		t.Fatal(err)
	}
	if ok {
		selected(t, f.Prefilter(), o)
	}
	return ok
}

// selected checks that the index gives what matches: a prefilter may be wide, never narrow.
func selected(t testing.TB, s filter.Selection, o *content.Object) {
	t.Helper()
	start, end := o.Span(zones)
	switch {
	case s.Kinds != nil && !slices.Contains(s.Kinds, o.Kind):
		t.Errorf("the object matches, but of the kinds %v is no %s", s.Kinds, o.Kind)
	case s.Until != nil && start != nil && *start >= *s.Until:
		t.Errorf("the object matches, but begins at %s, not before %s", time.Unix(*start, 0).UTC(),
			time.Unix(*s.Until, 0).UTC())
	case s.From != nil && end != nil && *end < *s.From:
		t.Errorf("the object matches, but ends at %s, before %s", time.Unix(*end, 0).UTC(), time.Unix(*s.From, 0).UTC())
	}
}
