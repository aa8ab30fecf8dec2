package archive_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"caldav-mcp-server/calendar/archive"
	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/zone"
	"caldav-mcp-server/ical"
)

// berlin is the zone of the calendar that a test's file goes into.
func berlin(string) archive.Zone {
	return archive.Zone{Name: "Europe/Berlin", Of: "the zone of the calendar"}
}

// mending is what becomes of the components of a file: one part, which a calendar takes, and the report of it.
func mending(t *testing.T, file []string) (data string, report []string) {
	t.Helper()
	return mendingOf(t, file, slices.Collect(archive.Split([]byte(lines(file...)), berlin)))
}

// mendingOf is mending of parts. The file is nil if its lines are not those of the parts, as in another charset.
func mendingOf(t *testing.T, file []string, parts []archive.Part) (data string, report []string) {
	t.Helper()
	if len(parts) != 1 || parts[0].Err != nil {
		t.Fatalf("%v", outline(parts))
	}
	p := parts[0]
	o, err := content.Read(p.Data, ical.DefaultLimits())
	if err == nil {
		err = o.Check(t.Context(), content.Limits{}, zone.NewDB())
	}
	if err != nil {
		t.Errorf("it is refused: %v in\n%s", err, p.Data)
	}
	for _, m := range p.Mends {
		report = append(report, fmt.Sprintf("%d %s", m.Line, m.How))
	}
	// Every line that stayed as it was is known to be that of the file.
	for i, text := range strings.Split(strings.TrimSuffix(string(p.Data), "\r\n"), "\r\n") {
		mended := strings.HasPrefix(text, ` \n`) ||
			slices.ContainsFunc(p.Mends, func(m archive.Mend) bool { return m.Line == p.SourceLine(i+1) })
		if n := p.SourceLine(i + 1); n > 0 && !mended && file != nil && file[n-1] != text {
			t.Errorf("line %d %q is said to be line %d, %q", i+1, text, n, file[n-1])
		}
	}
	return string(p.Data), report
}

func wild(head []string, event ...string) []string {
	return slices.Concat([]string{"BEGIN:VCALENDAR", "VERSION:2.0"}, head, []string{"BEGIN:VEVENT", "UID:a"}, event,
		[]string{"END:VEVENT", "END:VCALENDAR"})
}

const nine = "DTSTART:20270101T090000Z"

func TestSplitMendsWhatProgramsWriteWrongly(t *testing.T) {
	t.Parallel()
	const lotus = "DTSTART;TZID=Western/Central Europe:20270101T090000"
	for name, test := range map[string]struct {
		file []string
		// event is what the event then consists of, behind its UID.
		event, report []string
	}{
		"a rule without a value": {
			wild(nil, nine, "RRULE:", "SUMMARY:x"),
			[]string{nine, "SUMMARY:x"},
			[]string{"6 RRULE has no value, and was left out"},
		},
		"no duration beside an end": {
			wild(nil, nine, "DTEND:20270101T100000Z", "DURATION:PT", " 0S", "SUMMARY:x"),
			[]string{nine, "DTEND:20270101T100000Z", "SUMMARY:x"},
			[]string{"7 DURATION:PT0S stands beside DTEND, and was left out"},
		},
		"no duration alone": {wild(nil, nine, "DURATION:PT0S"), []string{nine, "DURATION:PT0S"}, nil},
		"COUNT=-1": {
			wild(nil, nine, "RRULE:FREQ=WEEKLY;COUNT=-1;BYDAY=FR"),
			[]string{nine, "RRULE:FREQ=WEEKLY;BYDAY=FR"},
			[]string{"6 RRULE:FREQ=WEEKLY;COUNT=-1;BYDAY=FR was read as RRULE:FREQ=WEEKLY;BYDAY=FR"},
		},
		"UNTL": {
			wild(nil, nine, "RRULE:FREQ=DAILY;UNTL=20270201T090000Z"),
			[]string{nine, "RRULE:FREQ=DAILY;UNTIL=20270201T090000Z"},
			[]string{"6 RRULE:FREQ=DAILY;UNTL=20270201T090000Z was read as RRULE:FREQ=DAILY;UNTIL=20270201T090000Z"},
		},
		"UNTL of nothing": {
			wild(nil, nine, "RRULE:FREQ=DAILY;UNTL="),
			[]string{nine, "RRULE:FREQ=DAILY"},
			[]string{"6 RRULE:FREQ=DAILY;UNTL= was read as RRULE:FREQ=DAILY"},
		},
		"a zone of nowhere, in a file that says where it is": {
			wild([]string{"X-WR-TIMEZONE:America/New_York"}, lotus),
			[]string{"DTSTART;TZID=America/New_York:20270101T090000"},
			[]string{
				`6 DTSTART: the zone "Western/Central Europe" is not defined: it was read as America/New_York, the ` +
					`X-WR-TIMEZONE of the file`,
			},
		},
		"a zone of nowhere, in a file that does not": {
			wild([]string{"X-WR-TIMEZONE:Nowhere"}, lotus, "X-A;TZID=Odd:1"),
			[]string{"DTSTART;TZID=Europe/Berlin:20270101T090000", "X-A;TZID=Odd:1"},
			[]string{
				`6 DTSTART: the zone "Western/Central Europe" is not defined: it was read as Europe/Berlin, the zone ` +
					`of the calendar`,
			},
		},
		"two masters, the newer first": {
			wild(nil, nine, "SEQUENCE:10", "SUMMARY:new", "END:VEVENT", "BEGIN:VEVENT", "UID:a", nine, "SEQUENCE:9",
				"SUMMARY:old"),
			[]string{nine, "SEQUENCE:10", "SUMMARY:new"},
			[]string{"9 this VEVENT was left out: a newer version of it is at line 3"},
		},
		"two masters, the later stamp last": {
			wild(nil, nine, "DTSTAMP:20260101T000000Z", "SUMMARY:old", "END:VEVENT", "BEGIN:VEVENT", "UID:a", nine,
				"DTSTAMP:20260102T000000Z", "SUMMARY:new"),
			[]string{nine, "DTSTAMP:20260102T000000Z", "SUMMARY:new"},
			[]string{"3 this VEVENT was left out: a newer version of it is at line 9"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data, report := mending(t, test.file)
			_, event, _ := strings.Cut(data, "UID:a\r\n")
			same(t, event, lines(append(test.event, "END:VEVENT", "END:VCALENDAR")...))
			same(t, report, test.report)
		})
	}
}

// TestSplitMendsNothingThatCouldMeanTwoThings: it is left as it was, for the calendar to refuse with its line.
func TestSplitMendsNothingThatCouldMeanTwoThings(t *testing.T) {
	t.Parallel()
	for name, event := range map[string][]string{
		"a duration beside another end": {nine, "DTEND:20270101T100000Z", "DURATION:PT2H"},
		"a count of none":               {nine, "RRULE:FREQ=DAILY;COUNT=0"},
		"both ends":                     {nine, "RRULE:FREQ=DAILY;UNTL=20270101;UNTIL=20270102"},
		"no frequency":                  {nine, "RRULE:COUNT=-1"},
		"two of one age":                {nine, "SUMMARY:x", "END:VEVENT", "BEGIN:VEVENT", "UID:a", nine, "SUMMARY:y"},
	} {
		file := lines(wild(nil, event...)...)
		p := slices.Collect(archive.Split([]byte(file), berlin))[0]
		o, err := content.Read(p.Data, ical.DefaultLimits())
		if err == nil {
			err = o.Check(t.Context(), content.Limits{}, zone.NewDB())
		}
		_, want, _ := strings.Cut(file, "BEGIN:VEVENT")
		_, got, _ := strings.Cut(string(p.Data), "BEGIN:VEVENT")
		if err == nil || len(p.Mends) > 0 || got != want {
			t.Errorf("%s: %v, %v in\n%s", name, err, p.Mends, p.Data)
		}
	}
}
