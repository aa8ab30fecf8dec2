package content_test

import (
	"errors"
	"strings"
	"testing"

	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/zone"
	"caldav-mcp-server/ical"
)

// event wraps lines into a VEVENT with a UID, and that into a calendar.
func event(lines ...string) string {
	return wrap("BEGIN:VEVENT\nUID:one\n" + strings.Join(lines, "\n") + "\nEND:VEVENT")
}

func wrap(components string) string {
	return "BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:-//test//EN\n" + components + "\nEND:VCALENDAR\n"
}

func read(t *testing.T, text string) *content.Object {
	t.Helper()
	o, err := content.Read([]byte(text), ical.DefaultLimits())
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return o
}

func TestReadFindsTheParts(t *testing.T) {
	t.Parallel()
	o := read(t, wrap(`BEGIN:X-NOTE
END:X-NOTE
BEGIN:VEVENT
UID:one
RECURRENCE-ID:20260302T090000Z
DTSTART:20260302T100000Z
END:VEVENT
BEGIN:VEVENT
UID:one
DTSTART:20260301T090000Z
RRULE:FREQ=DAILY
SUMMARY:Master
END:VEVENT`))
	if o.Kind != content.Event || o.UID != "one" || o.Master == nil || len(o.Overrides) != 1 {
		t.Errorf("kind %s, UID %s, master %v, %d overrides", o.Kind, o.UID, o.Master, len(o.Overrides))
	}
	if o.Summary() != "Master" || !o.Recurring() {
		t.Errorf("summary %q, recurring %v", o.Summary(), o.Recurring())
	}
}

// TestTaken holds what clients send against the letter of the RFCs, or at its edge.
func TestTaken(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"overrides alone":     event("RECURRENCE-ID:20260302T090000Z", "DTSTART:20260302T100000Z"),
		"equal start and end": event("DTSTART:20260302T100000Z", "DTEND:20260302T100000Z"),
		"no DTSTAMP, VERSION or PRODID": "BEGIN:VCALENDAR\nBEGIN:VEVENT\nUID:one\nDTSTART:20260302T100000Z\n" +
			"END:VEVENT\nEND:VCALENDAR",
		"a byte order mark":           "\ufeff" + event("DTSTART:20260302T100000Z"),
		"a date without VALUE=DATE":   event("DTSTART:20260302"),
		"Apple's year of no birthday": event("DTSTART;VALUE=DATE:16040302"),
		"Apple's alarm without " +
			"trigger": event("DTSTART:20260302T100000Z", "BEGIN:VALARM", "ACTION:NONE", "END:VALARM"),
		"a task without any time": wrap("BEGIN:VTODO\nUID:one\nEND:VTODO"),
		"a task that recurs by its " +
			"DUE": wrap("BEGIN:VTODO\nUID:one\nDUE:20260302T100000Z\nRRULE:FREQ=WEEKLY\nEND:VTODO"),
		"a task that recurs without any time": wrap("BEGIN:VTODO\nUID:one\nRRULE:FREQ=WEEKLY\nEND:VTODO"),
		"a task that is due before its " +
			"start": wrap("BEGIN:VTODO\nUID:one\nDTSTART:20260302T100000Z\nDUE:20260302T090000Z\nEND:VTODO"),
		"a time, and a date as its end":        event("DTSTART:20260302T100000Z", "DTEND;VALUE=DATE:20260303"),
		"a date, and a time as its end":        event("DTSTART;VALUE=DATE:20260302", "DTEND:20260303T100000Z"),
		"a T with nothing behind it":           event("DTSTART:20260302T100000Z", "DURATION:P1DT"),
		"a journal entry without a time":       wrap("BEGIN:VJOURNAL\nUID:one\nEND:VJOURNAL"),
		"Outlook's zone without its VTIMEZONE": event("DTSTART;TZID=W. Europe Standard Time:20260302T100000"),
		"Evolution's zone without " +
			"one": event("DTSTART;TZID=/freeassociation.sourceforge.net/Europe/Berlin:20260302T100000"),
		"a zone of its " +
			"own": wrap("BEGIN:VTIMEZONE\nTZID:Here\nBEGIN:STANDARD\nDTSTART:19700101T000000\nTZOFFSETFROM:+0130\n" +
			"TZOFFSETTO:+0130\nEND:STANDARD\nEND:VTIMEZONE\n" +
			"BEGIN:VEVENT\nUID:one\nDTSTART;TZID=Here:20260302T100000\nEND:VEVENT"),
		"every three hours for ever":       event("DTSTART:20260302T100000Z", "RRULE:FREQ=HOURLY;INTERVAL=3"),
		"every minute of a morning":        event("DTSTART:20260302T100000Z", "RRULE:FREQ=MINUTELY;COUNT=120"),
		"a calendar that we cannot expand": event("DTSTART:20260302T100000Z", "RRULE:RSCALE=HEBREW;FREQ=HOURLY"),
		"a rule in lower case":             event("DTSTART:20260302T100000Z", "RRULE:freq=daily;x-note=1"),
		"calcurse's event, twice the " +
			"same": wrap("BEGIN:VEVENT\nUID:one\nDTSTART:20260302T100000\nEND:VEVENT\nBEGIN:VEVENT\nUID:one\n" +
			"DTSTART:20260302T100000\nEND:VEVENT"),
		"an availability": wrap("BEGIN:VAVAILABILITY\nUID:one\nEND:VAVAILABILITY"),
	} {
		o := read(t, text)
		if err := o.Check(t.Context(), content.Limits{Attendees: 10, Instances: 3000}, zone.NewDB()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestRepetitionCountsOnce(t *testing.T) {
	t.Parallel()
	const task, other = "BEGIN:VTODO\nUID:one\nEND:VTODO\n", "BEGIN:VTODO\nUID:one\nRECURRENCE-ID:20260101\nEND:VTODO\n"
	got := read(t, wrap(task+other+task+task)).Document.Bytes()
	if want := wrap(task + strings.TrimSpace(other)); string(got) != want {
		t.Errorf("the object is read as:\n%s\nwant:\n%s", got, want)
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	const start = "DTSTART:20260302T100000Z"
	for _, c := range []struct{ name, rule, says, text string }{
		{"no iCalendar", content.RuleValidData, "line 1", "hello"},
		{"two calendars", content.RuleValidData, "2 components", event(start) + event(start)},
		{"no calendar", content.RuleValidData, "not a VCALENDAR", "BEGIN:VEVENT\nUID:one\nEND:VEVENT"},
		{"empty", content.RuleValidObject, "empty", wrap("BEGIN:VTIMEZONE\nTZID:x\nEND:VTIMEZONE")},
		{"an unknown kind alone", content.RuleSupportedKind, "X-NOTE", wrap("BEGIN:X-NOTE\nEND:X-NOTE")},
		{
			"two kinds", content.RuleValidObject, "both VEVENT and VTODO",
			wrap("BEGIN:VEVENT\nUID:one\n" + start + "\nEND:VEVENT\nBEGIN:VTODO\nUID:one\nEND:VTODO"),
		},
		{
			"two UIDs", content.RuleValidObject, `"one" and "two"`,
			wrap("BEGIN:VTODO\nUID:one\nEND:VTODO\nBEGIN:VTODO\nUID:two\nRECURRENCE-ID:20260101\nEND:VTODO"),
		},
		{"no UID", content.RuleValidObject, "no UID", wrap("BEGIN:VTODO\nEND:VTODO")},
		{
			"two masters", content.RuleValidObject, "without a RECURRENCE-ID",
			wrap("BEGIN:VTODO\nUID:one\nEND:VTODO\nBEGIN:VTODO\nUID:one\nSUMMARY:Other\nEND:VTODO"),
		},
		{
			"a message", content.RuleValidObject, "METHOD",
			strings.Replace(event(start), "VERSION:2.0", "VERSION:2.0\nMETHOD:REQUEST", 1),
		},
		{
			"vCalendar 1.0", content.RuleValidData, `"1.0"`,
			strings.Replace(event(start), "VERSION:2.0", "VERSION:1.0", 1),
		},
		{"an event without a start", content.RuleValidObject, "no DTSTART", event("SUMMARY:x")},
		{
			"a journal entry that repeats without a start", content.RuleValidObject, "no DTSTART",
			wrap("BEGIN:VJOURNAL\nUID:one\nRRULE:FREQ=DAILY\nEND:VJOURNAL"),
		},
		{
			"a dense series without a start", content.RuleMaxInstances, "more than",
			wrap("BEGIN:VTODO\nUID:one\nDUE:20260302T100000Z\nRRULE:FREQ=SECONDLY\nEND:VTODO"),
		},
		{"two starts", content.RuleValidObject, "second DTSTART", event(start, start)},
		{"an unreadable start", content.RuleValidData, "DTSTART", event("DTSTART:tomorrow")},
		{
			"an end before the start", content.RuleValidData, "ends before it begins",
			event(start, "DTEND:20260302T090000Z"),
		},
		{
			"end and duration", content.RuleValidData, "both DTEND and DURATION",
			event(start, "DTEND:20260302T110000Z", "DURATION:PT1H"),
		},
		{"a negative duration", content.RuleValidData, "negative", event(start, "DURATION:-PT1H")},
		{"long ago", content.RuleMinDate, "before the year 1000", event("DTSTART:09991231T235959Z")},
		{
			"two overrides of one instance", content.RuleValidObject, "second override",
			wrap("BEGIN:VTODO\nUID:one\nRECURRENCE-ID:20260101\nEND:VTODO\nBEGIN:VTODO\nUID:one\n" +
				"RECURRENCE-ID:20260101\nEND:VTODO"),
		},
		{
			"an unknown zone", content.RuleValidData, "did you mean Europe/Berlin",
			event("DTSTART;TZID=Europe/Berlim:20260302T100000"),
		},
		{"an unreadable rule", content.RuleValidData, "RRULE", event(start, "RRULE:FREQ=SOMETIMES")},
		{
			"a flood of instances", content.RuleMaxInstances, "more than 3000 instances",
			event(start, "RRULE:FREQ=MINUTELY"),
		},
		{"an unreadable exception", content.RuleValidData, "EXDATE", event(start, "RRULE:FREQ=DAILY", "EXDATE:never")},
		{
			"a crowd", content.RuleMaxAttendees, "3 attendees",
			event(start, "ATTENDEE:mailto:a@x", "ATTENDEE:mailto:b@x", "ATTENDEE:mailto:c@x"),
		},
	} {
		o, err := content.Read([]byte(c.text), ical.DefaultLimits())
		if err == nil {
			err = o.Check(t.Context(), content.Limits{Attendees: 2, Instances: 3000}, zone.NewDB())
		}
		var f *content.RuleError
		if !errors.As(err, &f) || f.Rule != c.rule || !strings.Contains(f.Message, c.says) {
			t.Errorf("%s: %v, want %s with %q", c.name, err, c.rule, c.says)
		}
	}
}

func TestLimitsAreNamedAsSuch(t *testing.T) {
	t.Parallel()
	lim := ical.DefaultLimits()
	lim.Lines = 5
	_, err := content.Read([]byte(event("DTSTART:20260302T100000Z")), lim)
	var f *content.RuleError
	if !errors.As(err, &f) || f.Rule != content.RuleMaxSize {
		t.Errorf("%v, want %s", err, content.RuleMaxSize)
	}
}

func TestWords(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                           "",
		" -- !":                      "",
		"Plan; then, ACT\n(2nd)":     "plan then act 2nd",
		"Größe ÆØÅ Łódź İstanbul ıı": "grosse aeoa lodz istanbul ii",
		"Cafe\u0301 Ｆｕｌｌ ﬁne":        "cafe full fine",
		"don't bob@example.com":      "don t bob example com",
		"会議室A 予約":                    "会 議 室 a 予 約",
		"회의 שלום":                    "\u1112\u116c\u110b\u1174 שלום",
		"\xff\xfebroken":             "broken",
		strings.Repeat("é", 100):     strings.Repeat("e", 64),
	} {
		if got := strings.Join(content.Words(text), " "); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestFound(t *testing.T) {
	t.Parallel()
	words := content.Words("Quarterly planning with Zoë")
	for query, want := range map[string]bool{
		"plan quarter": true, "ZOE": true, "": true, "planning zoo": false, "lanning": false,
	} {
		if got := content.Found(content.Words(query), words); got != want {
			t.Errorf("%q: %v", query, got)
		}
	}
}

func TestSearchText(t *testing.T) {
	t.Parallel()
	o := read(t, event("DTSTART:20260302T100000Z", `SUMMARY:Größe  WEIT\, breit`, "LOCATION:Room 5",
		"ATTENDEE;CN=Bob Example:MAILTO:Bob@Example.com", "X-SECRET:hidden"))
	want := "grosse weit breit room 5 bob example com"
	if got := o.SearchText(); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	long := read(t, event("DTSTART:20260302T100000Z", "SUMMARY:"+strings.Repeat("ä", 5000)))
	if s := long.Summary(); len(s) > 1024 || strings.ContainsRune(s, '\ufffd') {
		t.Errorf("a summary of %d bytes, or cut within a rune", len(s))
	}
}
