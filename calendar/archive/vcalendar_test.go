package archive_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"caldav-mcp-server/calendar/archive"
	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/recur"
	"caldav-mcp-server/calendar/zone"
	"caldav-mcp-server/ical"
)

const oldReport = "2 this is a vCalendar 1.0, and was read as such: its encoded texts are decoded, and times without " +
	"Z are local times"

// vcalendar is a file of vCalendar 1.0 with one component.
func vcalendar(kind string, rows ...string) string {
	return lines(slices.Concat([]string{"BEGIN:VCALENDAR", "VERSION:1.0", "TZ:+01", "BEGIN:" + kind, "UID:a"}, rows,
		[]string{"END:" + kind, "END:VCALENDAR"})...)
}

func TestOpenReadsVCalendar(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		kind               string
		rows, want, report []string
	}{
		"an event of a telephone": {
			"VEVENT",
			[]string{
				"DALARM;TYPE=X:20270114T054500;PT5M;2;Wake\\; up", "DTSTART:20270114T060000", "DTEND:20270114T070000",
				"SUMMARY;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:Fr=C3=BCh, kurz; =", "=C3=BC=0D=0Aber",
				"DESCRIPTION;QUOTED-PRINTABLE;CHARSET=ISO-8859-1:=FCber",
				"CATEGORIES:MEETING;BUSINESS\\;MORE;", "TRANSP:0", "STATUS:TENTATIVE", "DCREATED:20270101T000000Z",
				"X-EPOC:1", "CLASS:PRIVATE", "PRIORITY:2",
			},
			[]string{
				"DTSTART:20270114T060000", "DTEND:20270114T070000", `SUMMARY:Früh\, kurz\; ü\nber`, "DESCRIPTION:über",
				"CATEGORIES:MEETING,BUSINESS\\;MORE",
				"TRANSP:OPAQUE", "STATUS:TENTATIVE", "CREATED:20270101T000000Z", "X-EPOC:1", "CLASS:PRIVATE",
				"PRIORITY:2",
				"BEGIN:VALARM", "ACTION:DISPLAY", "TRIGGER:-PT15M", `DESCRIPTION:Wake\; up`, "DURATION:PT5M",
				"REPEAT:2", "END:VALARM",
			},
			[]string{oldReport, "6 DALARM:20270114T054500;PT5M;2;Wake\\; up was read as an alarm at -PT15M"},
		},
		"a task": {
			"VTODO",
			[]string{
				"DUE:20270114T060000Z", "STATUS:NEEDS ACTION",
				"AALARM;TYPE=WAVE;VALUE=URL:20270114T060000Z;;;file:///ring.wav", "SUMMARY:x",
			},
			[]string{
				"DUE:20270114T060000Z", "STATUS:NEEDS-ACTION", "SUMMARY:x", "BEGIN:VALARM", "ACTION:AUDIO",
				"TRIGGER;RELATED=END:PT0S", "END:VALARM",
			},
			[]string{oldReport, "8 AALARM:20270114T060000Z;;;file:///ring.wav was read as an alarm at PT0S"},
		},
		"people, and what has no place": {
			"VEVENT",
			[]string{
				"DTSTART:20270114T060000Z", "ATTENDEE;ROLE=OWNER:Ann <ann@example.com>",
				"ATTENDEE;STATUS=NEEDS ACTION;RSVP=YES:bob@example.com", "ATTENDEE:The boss",
				"MALARM:20270114T050000Z;;;x@example.com;y", "STATUS:SENT", "TRANSP:7", "DCREATED:20270101T000000",
				"RNUM:3", "ATTACH;VALUE=CONTENT-ID:<1@x>", "ATTACH;VALUE=URL:http://x/",
			},
			[]string{
				"DTSTART:20270114T060000Z", "ORGANIZER;CN=Ann:mailto:ann@example.com",
				"ATTENDEE;PARTSTAT=NEEDS-ACTION;RSVP=TRUE:mailto:bob@example.com", "ATTACH:CID:1@x", "ATTACH:http://x/",
			},
			[]string{
				oldReport, `9 "ATTENDEE:The boss" was left out`,
				`10 "MALARM:20270114T050000Z;;;x@example.com;y" was left out`, `11 "STATUS:SENT" was left out`,
				`12 "TRANSP:7" was left out`, `13 "DCREATED:20270101T000000" was left out`,
			},
		},
		"a series": {
			"VEVENT",
			[]string{
				"RRULE:W1 TH #0", "DTSTART:20270114T060000", "EXDATE:20270121T060000;20270128",
				"RDATE:20270123T060000;20270124T060000",
			},
			[]string{
				"RRULE:FREQ=WEEKLY;BYDAY=TH", "DTSTART:20270114T060000", "EXDATE:20270121T060000,20270128T060000",
				"RDATE:20270123T060000,20270124T060000",
			},
			[]string{oldReport, "6 RRULE:W1 TH #0 was read as FREQ=WEEKLY;BYDAY=TH"},
		},
		"a text of lines that are not indented": {
			"VEVENT",
			[]string{"DTSTART:20270114T060000", "DESCRIPTION:a", "b", "c", "SUMMARY:x"},
			[]string{"DTSTART:20270114T060000", `DESCRIPTION:a\nb\nc`, "SUMMARY:x"},
			[]string{
				oldReport,
				"8 lines 8 to 9 are not indented: they were read as a continuation of the DESCRIPTION in line 7",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, report := opened(t, vcalendar(test.kind, test.rows...))
			same(t, got, lines(test.want...))
			same(t, report, test.report)
		})
	}
}

// TestOldRules: the days were counted by hand, from the examples of the vCalendar 1.0 specification with other dates.
func TestOldRules(t *testing.T) {
	t.Parallel()
	for rule, test := range map[string]struct{ start, days string }{
		"D1 #3":                             {"20270114T060000", "01-14 01-15 01-16"},
		"D2 20270118T060000":                {"20270114T060000", "01-14 01-16 01-18"},
		"D10 20270203":                      {"20270114T060000", "01-14 01-24 02-03"},
		"W1 #2":                             {"20270114T060000", "01-14 01-21"},
		"W2 TU TH 20270131T000000Z":         {"20270112T060000Z", "01-12 01-14 01-26 01-28"},
		"W1 MO TU WE TH FR 20270119T235959": {"20270114T060000", "01-14 01-15 01-18 01-19"},
		"MP1 1+ FR #3":                      {"20270101T060000", "01-01 02-05 03-05"},
		"MP1 #3":                            {"20270112T060000", "01-12 02-09 03-09"},
		"MP2 1+ SU 1- SU 20270331T000000":   {"20270103T060000", "01-03 01-31 03-07 03-28"},
		"MP1 2- MO #3":                      {"20270118T060000", "01-18 02-15 03-22"},
		"MP1 1+ 3+ TU TH 20270201":          {"20270105T060000", "01-05 01-07 01-19 01-21"},
		"MD1 3- #3":                         {"20270129T060000", "01-29 02-26 03-29"},
		"MD1 LD #3":                         {"20270131T060000", "01-31 02-28 03-31"},
		"MD1 15 #2":                         {"20270115T060000", "01-15 02-15"},
		"MD1 2 15 20270220":                 {"20270102T060000", "01-02 01-15 02-02 02-15"},
		"MD18 #2":                           {"20270115T060000", "01-15 07-15"},
		"YM1 1 6 20270701":                  {"20270114T060000", "01-14 06-14"},
		"YM1 #2":                            {"20270114T060000", "01-14 01-14"},
		"YD1 #2":                            {"20270114T060000", "01-14 01-14"},
		"YD1 14 100 20270501T000000":        {"20270114T060000", "01-14 04-10"},
	} {
		event, report := opened(t, vcalendar("VEVENT", "DTSTART:"+test.start, "RRULE:"+rule))
		if got := days(t, event); got != test.days || len(report) != 2 {
			t.Errorf("%s: %s, want %s in\n%s", rule, got, test.days, event)
		}
	}
}

// days are those of an event.
func days(t *testing.T, event string) string {
	t.Helper()
	o, err := content.Read([]byte("BEGIN:VCALENDAR\r\nVERSION:2.0\r\nBEGIN:VEVENT\r\nUID:a\r\n"+event+
		"END:VEVENT\r\nEND:VCALENDAR\r\n"), ical.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	set, err := recur.FromComponents(o.Master, nil, zone.FromDocument(o.Calendar), nil)
	if err != nil {
		t.Fatal(err)
	}
	all, err := set.Instances(t.Context(), time.Time{}, time.Time{}, recur.DefaultBudget())
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, i := range all {
		list = append(list, i.Start.Time.Format("01-02"))
	}
	return strings.Join(list, " ")
}

func TestOldRulesThatAreNotClear(t *testing.T) {
	t.Parallel()
	for rule, why := range map[string]string{
		"W1": "how often", "W1 TH": "how often", "W1 TH 0": "how often", "W1 TH #x": "how often",
		"M5 #3": "not a frequency", "W0 TH #0": "interval", "X": "how often",
		"W1 TH FR #5": "counts days", "MD1 31 #3": "its start is not", "MP1 5+ TH #3": "its start is not",
		"W1 FR #0": "its start is not", "W2 SU TH #0": "Sunday",
		"D1 0600 0900 #3": "times of day", "W1 TH 0600 #0": "times of day", "MP1 TH 2+ #0": "times of day",
		"MP1 2+ #0": "no weekday", "D1 20270301T000000Z": "differ in kind", "YM1 13 #0": "times of day",
		"YD1 367 #0": "times of day", "D1 #0 #0": "times of day",
	} {
		got := refusal(t, vcalendar("VEVENT", "DTSTART:20270114T060000", "RRULE:"+rule))
		if want := fmt.Sprintf("line 7: %q: ", "RRULE:"+rule); !strings.HasPrefix(got, want) ||
			!strings.Contains(got, why) {
			t.Errorf("%s: %q, want %q", rule, got, why)
		}
	}
	for _, row := range []string{
		"EXDATE:20270121T000000", "EXDATE:20270121T060000Z", "EXRULE:W1 #0", "DTEND:tomorrow", "RDATE:x",
	} {
		if got := refusal(t, vcalendar("VEVENT", "DTSTART:20270114T060000", row)); !strings.HasPrefix(got, "line 7: ") {
			t.Errorf("%s: %q", row, got)
		}
	}
}

// FuzzOpen: whatever is in a file, its parts can be read, and each line that is said to be one of the file is within
// it.
func FuzzOpen(f *testing.F) {
	f.Add([]byte(mixed))
	f.Add([]byte(vcalendar("VEVENT", "DTSTART:20270114T060000", "RRULE:W1 TH #0", "DALARM:20270114T0545",
		"SUMMARY;ENCODING=QUOTED-PRINTABLE:a=", "b", "DESCRIPTION:x", "y")))
	f.Add([]byte(lines(wild(nil, "DTSTART:2027-01-14", "DESCRIPTION:x", "", "Status: y", "z",
		"DTEND;TZID=tzone://Microsoft/Utc:20270114T060000")...)))
	f.Add([]byte("\xff\xfeB\x00E\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := archive.Open(data)
		if err != nil {
			return
		}
		last := strings.Count(string(data), "\n") + 1
		for p := range file.Parts(berlin) {
			if p.Err == nil {
				if _, err := ical.Parse(p.Data, ical.Limits{}); err != nil {
					t.Errorf("%v in %q", err, p.Data)
				}
			}
			for _, m := range p.Mends {
				if m.Line < 1 || m.Line > last && !strings.Contains(string(data), "\x00") {
					t.Errorf("%+v of %d lines", m, last)
				}
			}
		}
	})
}
