package archive_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"caldav-mcp-server/calendar/archive"
	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/zone"
	"caldav-mcp-server/ical"
)

// opened is what becomes of a file with one object, which a calendar takes, and the report of it: the file's lines
// first.
func opened(t *testing.T, file string) (event string, report []string) {
	t.Helper()
	f, err := archive.Open([]byte(file))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range f.Mends() {
		report = append(report, fmt.Sprintf("%d %s", m.Line, m.How))
	}
	var rows []string
	if utf8.ValidString(file) && !strings.Contains(file, "\x00") && !strings.Contains(file, "VERSION:1.0") {
		rows = strings.Split(file, "\r\n")
	}
	data, more := mendingOf(t, rows, slices.Collect(f.Parts(berlin)))
	_, event, _ = strings.Cut(data[strings.Index(data, "UID:"):], "\r\n")
	event, _, _ = strings.Cut(event, "END:VCALENDAR")
	return event[:strings.LastIndex(event, "END:V")], append(report, more...)
}

// refusal is why the one object of a file is not taken.
func refusal(t *testing.T, file string) string {
	t.Helper()
	f, err := archive.Open([]byte(file))
	if err != nil {
		return err.Error()
	}
	parts := slices.Collect(f.Parts(berlin))
	if len(parts) != 1 {
		t.Fatalf("there are %d parts", len(parts))
	}
	if parts[0].Err != nil {
		return parts[0].Err.Error()
	}
	o, err := content.Read(parts[0].Data, ical.DefaultLimits())
	if err == nil {
		err = o.Check(t.Context(), content.Limits{}, zone.NewDB())
	}
	if err == nil {
		t.Fatalf("it is taken:\n%s", parts[0].Data)
	}
	return parts[0].InFile(err.Error())
}

func TestOpenMends(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ event, want, report []string }{
		"nothing": {[]string{nine, "SUMMARY:x"}, []string{nine, "SUMMARY:x"}, nil},
		"a text of several lines": {
			[]string{
				nine, "DESCRIPTION:Dear customer,", "", "your flight LH 123", "Terminal: 2",
				"https://example.com/a?b=c", "14:00 boarding", "  and an indented one", "PNR:ABC", "", "LOCATION:Gate",
				"",
			},
			[]string{
				nine, "DESCRIPTION:Dear customer,", ` \n`, ` \nyour flight LH 123`, ` \nTerminal: 2`,
				` \nhttps://example.com/a?b=c`, ` \n14:00 boarding`, "  and an indented one",
				` \nPNR:ABC`, "", "LOCATION:Gate", "",
			},
			[]string{"7 lines 7 to 13 are not indented: they were read as a continuation of the DESCRIPTION in line 6"},
		},
		"its first other line may be a property": {
			[]string{nine, "DESCRIPTION:x", "Status: confirmed", "LINK:x", "X-A: y"},
			[]string{nine, "DESCRIPTION:x", "Status: confirmed", "LINK:x", "X-A: y"},
			nil,
		},
		"a name in capitals that nobody has registered": {
			[]string{nine, "SUMMARY:x", "FOO:bar"}, []string{nine, "SUMMARY:x", "FOO:bar"}, nil,
		},
		"small letters throughout": {
			[]string{nine, "summary:x", "foo:bar", "dtend:20270101T100000Z"},
			[]string{nine, "summary:x", "foo:bar", "dtend:20270101T100000Z"},
			nil,
		},
		"no seconds": {
			[]string{"DTSTART:20270114T0600Z", "DTEND;TZID=Europe/Berlin:20270114T0800"},
			[]string{"DTSTART:20270114T060000Z", "DTEND;TZID=Europe/Berlin:20270114T080000"},
			[]string{
				"5 DTSTART:20270114T0600Z was read as DTSTART:20270114T060000Z",
				"6 DTEND;TZID=Europe/Berlin:20270114T0800 was read as DTEND;TZID=Europe/Berlin:20270114T080000",
			},
		},
		"ISO 8601": {
			[]string{
				"DTSTAMP:2027-01-01T10:00:00.123+02:00", "DTSTART:2027-01-14T06:00:00Z", "DTEND:2027-01-14T08:30+01:00",
				"CREATED:20270101T100000.5Z",
			},
			[]string{
				"DTSTAMP:20270101T080000Z", "DTSTART:20270114T060000Z", "DTEND:20270114T073000Z",
				"CREATED:20270101T100000Z",
			},
			[]string{
				"5 DTSTAMP:2027-01-01T10:00:00.123+02:00 was read as DTSTAMP:20270101T080000Z",
				"6 DTSTART:2027-01-14T06:00:00Z was read as DTSTART:20270114T060000Z",
				"7 DTEND:2027-01-14T08:30+01:00 was read as DTEND:20270114T073000Z",
				"8 CREATED:20270101T100000.5Z was read as CREATED:20270101T100000Z",
			},
		},
		"ISO days, and lists": {
			[]string{
				"DTSTART:2027-01-14", "RRULE:FREQ=DAILY;UNTIL=2027-01-20", "EXDATE;VALUE=DATE:20270115,2027-01-16",
			},
			[]string{
				"DTSTART;VALUE=DATE:20270114", "RRULE:FREQ=DAILY;UNTIL=20270120", "EXDATE;VALUE=DATE:20270115,20270116",
			},
			[]string{
				"5 DTSTART:2027-01-14 was read as DTSTART;VALUE=DATE:20270114",
				"6 RRULE:FREQ=DAILY;UNTIL=2027-01-20 was read as RRULE:FREQ=DAILY;UNTIL=20270120",
				"7 EXDATE;VALUE=DATE:20270115,2027-01-16 was read as EXDATE;VALUE=DATE:20270115,20270116",
			},
		},
		"Microsoft's UTC": {
			[]string{
				"DTSTART;TZID=tzone://Microsoft/Utc:20270114T060000",
				`DTEND;TZID="tzone://Microsoft/Utc":20270114T070000`,
			},
			[]string{"DTSTART:20270114T060000Z", `DTEND;TZID="tzone://Microsoft/Utc":20270114T070000`},
			[]string{"5 DTSTART;TZID=tzone://Microsoft/Utc:20270114T060000 was read as DTSTART:20270114T060000Z"},
		},
		"quoted-printable": {
			[]string{
				nine, "DESCRIPTION;ENCODING=QUOTED-PRINTABLE;CHARSET=UTF-8:Gr=C3=BC=C3=", "=9Fe=0D=0Aaus=20", "",
				"SUMMARY:x=", "LOCATION:y",
			},
			[]string{nine, `DESCRIPTION:Grüße\naus `, "", "SUMMARY:x=", "LOCATION:y"},
			[]string{"6 the quoted-printable text was decoded: DESCRIPTION:Grüße\\naus "},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := append([]string{"BEGIN:VCALENDAR", "VERSION:2.0", "BEGIN:VEVENT", "UID:a"}, test.event...)
			got, report := opened(t, lines(append(file, "END:VEVENT", "END:VCALENDAR")...))
			same(t, got, lines(test.want...))
			same(t, report, test.report)
		})
	}
}

func TestOpenRefusesWhatIsNotClear(t *testing.T) {
	t.Parallel()
	for want, event := range map[string][]string{
		"line 8: this line may be a property LOCATION, or continue the DESCRIPTION in line 6: indent it by a space " +
			"if it does": {nine, "DESCRIPTION:x", "more", "Location: y"},
		"line 7: the line has no colon":            {nine, "URL:https://example.com/", "more"},
		"line 5: DTSTART: ":                        {"DTSTART:2027-01-14T06:00:00+01:00", "RRULE:FREQ=DAILY"},
		"line 5: DTSTART: \"20270114T06\"":         {"DTSTART:20270114T06"},
		"line 6: it is in the charset":             {nine, "DESCRIPTION;ENCODING=QUOTED-PRINTABLE;CHARSET=X-MINE:a=FF"},
		"line 3: the VEVENT ends before it begins": {nine, "DTEND:2026-01-14T00:00:00Z"},
	} {
		file := append([]string{"BEGIN:VCALENDAR", "VERSION:2.0", "BEGIN:VEVENT", "UID:a"}, event...)
		if got := refusal(t, lines(append(file, "END:VEVENT", "END:VCALENDAR")...)); !strings.HasPrefix(got, want) {
			t.Errorf("%q: want %q", got, want)
		}
	}
}

// inUTF16 writes a text in UTF-16, with a byte order mark if it has one.
func inUTF16(text string, big bool) string {
	var all []byte
	for _, u := range utf16.Encode([]rune(text)) {
		low, high := byte(u), byte(u>>8)
		if big {
			low, high = high, low
		}
		all = append(all, low, high)
	}
	return string(all)
}

func TestOpenReadsOtherCharsets(t *testing.T) {
	t.Parallel()
	file := func(title string) string { return lines(wild(nil, nine, "SUMMARY:"+title)...) }
	const wide = "1 the file is UTF-16: it was read as such"
	for name, test := range map[string]struct{ file, title, report string }{
		"UTF-16, little end first": {inUTF16("\uFEFF"+file("Grüße 😀"), false), "Grüße 😀", wide},
		"UTF-16, big end first":    {inUTF16("\uFEFF"+file("Grüße 😀"), true), "Grüße 😀", wide},
		"UTF-16 without a mark":    {inUTF16(file("x"), false), "x", wide},
		"Latin-1": {
			file("Caf\xe9 cr\xe9\xe9e, 20 m\xb2"), "Café créée, 20 m²",
			"6 the file is not UTF-8: it was read as Windows-1252; check the letters in this line and others",
		},
		"Windows-1252": {
			file("\x84Gr\xfc\xdfe\x93 \x96 20 \x80"), "„Grüße“ – 20 €",
			"6 the file is not UTF-8: it was read as Windows-1252; check the letters in this line and others",
		},
		"a letter that a fold cuts": {file("Gr\xc3\r\n \xbc\xc3\x9fe"), "Gr\xc3\r\n \xbc\xc3\x9fe", ""},
	} {
		event, report := opened(t, test.file)
		if want := lines(nine, "SUMMARY:"+test.title); event != want || strings.Join(report, "; ") != test.report {
			t.Errorf("%s: %q, %q", name, event, report)
		}
	}
	for name, test := range map[string]struct{ file, why string }{
		"Cyrillic":                {file("\xcf\xf0\xe8\xe2\xe5\xf2"), "not UTF-8"},
		"Polish":                  {file("Wroc\xb3aw"), "not UTF-8"},
		"Czech":                   {file("p\xf8\xedjemn\xfd"), "not UTF-8"},
		"part of it is UTF-8":     {file("Gr\xc3\xbc\xdfe"), "not UTF-8"},
		"half a character":        {inUTF16("\uFEFF"+file("x"), false) + "x", "cut in two"},
		"half a pair":             {inUTF16("\uFEFF"+file("x"), true) + "\xd8\x00", "cut in two"},
		"UTF-32":                  {"\xff\xfe\x00\x00B\x00\x00\x00", "UTF-32"},
		"a vCalendar of Warsaw's": {lines(wild(nil, nine, "SUMMARY;CHARSET=ISO-8859-2:\xb1")...), "not UTF-8"},
	} {
		if got := refusal(t, test.file); !strings.Contains(got, test.why) {
			t.Errorf("%s: %q", name, got)
		}
	}
}
