package publish_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"caldav-mcp-server/calendar/freebusy"
	"caldav-mcp-server/calendar/publish"
	zonedb "caldav-mcp-server/calendar/zone"
	"caldav-mcp-server/ical"
)

// published returns the lines that are left of an object, which is written without its VCALENDAR.
func published(t *testing.T, lines ...string) string {
	t.Helper()
	text := "BEGIN:VCALENDAR\nVERSION:2.0\n" + strings.Join(lines, "\n") + "\nEND:VCALENDAR\n"
	doc, err := ical.Parse([]byte(text), ical.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	if err := publish.Object(doc, zonedb.NewDB(), func(uid string) string {
		return "hidden-" + strings.ToUpper(uid)
	}); err != nil {
		t.Fatal(err)
	}
	_, left, _ := strings.Cut(strings.ReplaceAll(doc.String(), "\r\n", "\n"), "VERSION:2.0\n")
	return strings.TrimSpace(strings.TrimSuffix(left, "END:VCALENDAR\n"))
}

var zone = []string{
	"BEGIN:VTIMEZONE", "TZID:Europe/Berlin", "BEGIN:STANDARD", "DTSTART:19700101T000000",
	"TZOFFSETFROM:+0100", "TZOFFSETTO:+0100", "END:STANDARD", "END:VTIMEZONE",
}

// TestObject shows of an object what strangers may see (security L7, security L8).
func TestObject(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ of, want []string }{
		"an event keeps what tells what it is": {
			[]string{
				"BEGIN:VEVENT", "UID:a", "DTSTART:20260301T100000Z", "SUMMARY;LANGUAGE=de;X-WHO=bob:Fest",
				"LOCATION:Halle", "DESCRIPTION:Kommt alle",
				"ORGANIZER;CN=Alice:mailto:alice@example.com", "ATTENDEE:mailto:bob@example.com", "COMMENT:from Bob",
				"CONTACT:Bob",
				"CONFERENCE;VALUE=URI:https://meet.example/secret", "ATTACH:https://files.example/secret",
				"X-OWN:secret",
				"BEGIN:VALARM", "TRIGGER:-PT5M", "ACTION:DISPLAY", "DESCRIPTION:ring", "END:VALARM", "END:VEVENT",
				"BEGIN:X-OTHER", "X-B:secret", "END:X-OTHER",
			},
			[]string{
				"BEGIN:VEVENT", "UID:a", "DTSTART:20260301T100000Z", "SUMMARY;LANGUAGE=de:Fest", "LOCATION:Halle",
				"DESCRIPTION:Kommt alle", "END:VEVENT",
			},
		},
		"a private series keeps its times": {
			append(slices.Clip(zone),
				"BEGIN:VEVENT", "UID:a", "DTSTART;TZID=Europe/Berlin;X-P=secret:20260301T100000", "RRULE:FREQ=DAILY",
				"CLASS:private", "SUMMARY:secret", "URL:x", "END:VEVENT",
				"BEGIN:VEVENT", "UID:a", "RECURRENCE-ID;TZID=Europe/Berlin:20260302T100000",
				"DTSTART;TZID=Europe/Berlin:20260302T110000", "SUMMARY:secret, too", "END:VEVENT"),
			append(slices.Clip(zone),
				"BEGIN:VEVENT", "UID:hidden-A", "DTSTART;TZID=Europe/Berlin:20260301T100000", "RRULE:FREQ=DAILY",
				"SUMMARY:Busy", "END:VEVENT",
				"BEGIN:VEVENT", "UID:hidden-A", "RECURRENCE-ID;TZID=Europe/Berlin:20260302T100000",
				"DTSTART;TZID=Europe/Berlin:20260302T110000", "SUMMARY:Busy", "END:VEVENT"),
		},
		"one private instance hides the series": {
			[]string{
				"BEGIN:VEVENT", "UID:a", "DTSTART:20260301T100000Z", "RRULE:FREQ=DAILY", "SUMMARY:x", "END:VEVENT",
				"BEGIN:VEVENT", "UID:a", "RECURRENCE-ID:20260302T100000Z", "DTSTART:20260302T110000Z",
				"CLASS:CONFIDENTIAL", "SUMMARY:x", "END:VEVENT",
			},
			[]string{
				"BEGIN:VEVENT", "UID:hidden-A", "DTSTART:20260301T100000Z", "RRULE:FREQ=DAILY", "SUMMARY:Busy",
				"END:VEVENT",
				"BEGIN:VEVENT", "UID:hidden-A", "RECURRENCE-ID:20260302T100000Z", "DTSTART:20260302T110000Z",
				"SUMMARY:Busy", "END:VEVENT",
			},
		},
		"an unknown class is private": {
			[]string{"BEGIN:VEVENT", "UID:a", "DTSTART:20260301T100000Z", "CLASS:X-FAMILY", "SUMMARY:x", "END:VEVENT"},
			[]string{"BEGIN:VEVENT", "UID:hidden-A", "DTSTART:20260301T100000Z", "SUMMARY:Busy", "END:VEVENT"},
		},
		"the strictest of two classes counts": {
			[]string{
				"BEGIN:VEVENT", "UID:a", "DTSTART:20260301T100000Z", "CLASS:PUBLIC", "CLASS:PRIVATE", "SUMMARY:x",
				"END:VEVENT",
			},
			[]string{"BEGIN:VEVENT", "UID:hidden-A", "DTSTART:20260301T100000Z", "SUMMARY:Busy", "END:VEVENT"},
		},
		"the times of what is private are written anew": {
			[]string{
				"BEGIN:VTIMEZONE", "TZID:Fertility Clinic", "TZURL:https://clinic.example", "X-LIC-LOCATION:Clinic",
				"BEGIN:STANDARD", "TZNAME:Clinic",
				"COMMENT:Clinic", "DTSTART:19700101T000000", "TZOFFSETFROM;X-A=Clinic:+0130", "TZOFFSETTO:+01:30",
				"END:STANDARD", "BEGIN:X-CLINIC", "END:X-CLINIC", "END:VTIMEZONE",
				"BEGIN:VEVENT", "UID:a", "DTSTART;TZID=Fertility Clinic;LANGUAGE=clinic:20260301T100000",
				"RRULE:FREQ=DAILY;X-CLINIC=1;COUNT=2",
				"DURATION:PT1H", "STATUS:CLINIC", "TRANSP:opaque", "SEQUENCE:2", "EXDATE:clinic",
				"RDATE;VALUE=PERIOD;TZID=Fertility Clinic:20260305T100000/PT2H",
				"CLASS:PRIVATE", "END:VEVENT",
			},
			[]string{
				"BEGIN:VTIMEZONE", "TZID:Zone-hidden-FERTILITY CLINIC", "BEGIN:STANDARD", "DTSTART:19700101T000000",
				"TZOFFSETFROM:+0130", "TZOFFSETTO:+0130", "END:STANDARD", "END:VTIMEZONE",
				"BEGIN:VEVENT", "UID:hidden-A", "DTSTART;TZID=Zone-hidden-FERTILITY CLINIC:20260301T100000",
				"RRULE:FREQ=DAILY;COUNT=2",
				"DURATION:PT1H", "TRANSP:OPAQUE", "SEQUENCE:2",
				"RDATE;VALUE=PERIOD;TZID=Zone-hidden-FERTILITY CLINIC:20260305T100000/PT2H",
				"SUMMARY:Busy", "END:VEVENT",
			},
		},
		"a zone that is known has its own name": {
			[]string{
				"BEGIN:VTIMEZONE", "TZID:/clinic/Europe/Berlin", "COMMENT:Clinic", "BEGIN:STANDARD", "TZNAME:Clinic",
				"DTSTART:19700101T000000", "TZOFFSETFROM:+0100", "TZOFFSETTO:+0100", "END:STANDARD", "END:VTIMEZONE",
				"BEGIN:VEVENT", "UID:a", "DTSTART;TZID=/clinic/Europe/Berlin:20260301T100000", "END:VEVENT",
			},
			[]string{
				"BEGIN:VTIMEZONE", "TZID:Europe/Berlin", "BEGIN:STANDARD", "DTSTART:19700101T000000",
				"TZOFFSETFROM:+0100", "TZOFFSETTO:+0100",
				"END:STANDARD", "END:VTIMEZONE", "BEGIN:VEVENT", "UID:a", "DTSTART;TZID=Europe/Berlin:20260301T100000",
				"END:VEVENT",
			},
		},
		"a private event without a title gets one": {
			[]string{"BEGIN:VEVENT", "UID:a", "DTSTART:20260301T100000Z", "CLASS:PRIVATE", "END:VEVENT"},
			[]string{"BEGIN:VEVENT", "UID:hidden-A", "DTSTART:20260301T100000Z", "SUMMARY:Busy", "END:VEVENT"},
		},
		"private events that take no time are left out": {
			append(slices.Clip(zone),
				"BEGIN:VEVENT", "UID:a", "DTSTART:20260301T100000Z", "CLASS:PRIVATE", "TRANSP:TRANSPARENT",
				"END:VEVENT"), nil,
		},
		"a public task is shown": {
			[]string{
				"BEGIN:VTODO", "UID:a", "DUE:20260301T100000Z", "SUMMARY:x", "CLASS:PUBLIC", "RELATED-TO:b",
				"END:VTODO",
			},
			[]string{"BEGIN:VTODO", "UID:a", "DUE:20260301T100000Z", "SUMMARY:x", "CLASS:PUBLIC", "END:VTODO"},
		},
		"a private task is not": {
			[]string{"BEGIN:VTODO", "UID:a", "DUE:20260301T100000Z", "SUMMARY:x", "CLASS:PRIVATE", "END:VTODO"}, nil,
		},
		"links to join a call are removed": {
			[]string{
				"BEGIN:VEVENT", "UID:a", "DTSTART:20260301T100000Z", "SUMMARY:Yoga", "URL:https://zoom.us/j/1",
				"LOCATION:Hall 3 or https://us02web.zoom.us/j/999?pwd=x",
				`DESCRIPTION:Join (https://teams.microsoft.com/l/meetup-join/abc) at ten\nBring a mat\n` +
					`Meeting ID: 812 3456\nPasscode: 1234\nPasswort:\n\nabcd\nPin board`,
				"END:VEVENT",
			},
			[]string{
				"BEGIN:VEVENT", "UID:a", "DTSTART:20260301T100000Z", "SUMMARY:Yoga", "LOCATION:Hall 3 or",
				`DESCRIPTION:Join at ten\nBring a mat\n\nPin board`, "END:VEVENT",
			},
		},
		"a place that is only a call is removed": {
			[]string{
				"BEGIN:VEVENT", "UID:a", "DTSTART:20260301T100000Z", "LOCATION:https://zoom.us/j/999?pwd=x",
				"END:VEVENT",
			},
			[]string{"BEGIN:VEVENT", "UID:a", "DTSTART:20260301T100000Z", "END:VEVENT"},
		},
		"the password of a call elsewhere in the series is removed": {
			[]string{
				"BEGIN:VEVENT", "UID:a", "DTSTART:20260301T100000Z", "RRULE:FREQ=DAILY",
				"CONFERENCE;VALUE=URI:https://calls.example/1", "END:VEVENT",
				"BEGIN:VEVENT", "UID:a", "RECURRENCE-ID:20260302T100000Z", "DTSTART:20260302T110000Z",
				`DESCRIPTION:Later\nPassword: secret`, "END:VEVENT",
			},
			[]string{
				"BEGIN:VEVENT", "UID:a", "DTSTART:20260301T100000Z", "RRULE:FREQ=DAILY", "END:VEVENT",
				"BEGIN:VEVENT", "UID:a", "RECURRENCE-ID:20260302T100000Z", "DTSTART:20260302T110000Z",
				"DESCRIPTION:Later", "END:VEVENT",
			},
		},
		"text without a call is kept": {
			[]string{
				"BEGIN:VEVENT", "UID:a", "DTSTART:20260301T100000Z", "URL:https://club.example/meeting/2",
				`LOCATION:Meeting room 3`, `DESCRIPTION:Password of the Wi-Fi: guest\nTeams of five`, "END:VEVENT",
			},
			[]string{
				"BEGIN:VEVENT", "UID:a", "DTSTART:20260301T100000Z", "URL:https://club.example/meeting/2",
				`LOCATION:Meeting room 3`, `DESCRIPTION:Password of the Wi-Fi: guest\nTeams of five`, "END:VEVENT",
			},
		},
		"availability is not": {
			[]string{"BEGIN:VAVAILABILITY", "UID:a", "DTSTART:20260301T100000Z", "SUMMARY:x", "END:VAVAILABILITY"}, nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(strings.Join(c.want, "\n"), published(t, c.of...)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestObjectRefusesWhatItCannotRead(t *testing.T) {
	t.Parallel()
	doc, err := ical.Parse([]byte("BEGIN:VCALENDAR\nBEGIN:VEVENT\nEND:VEVENT\nEND:VCALENDAR\n"), ical.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	if publish.Object(doc, zonedb.NewDB(), strings.ToUpper) == nil {
		t.Error("an event without a UID is shown")
	}
}

// TestObjectKeepsSecrets: whatever is written into a private event beside its times is not shown (security L7).
func TestObjectKeepsSecrets(t *testing.T) {
	t.Parallel()
	const mark = "SECRET"
	random := rand.New(rand.NewPCG(1, 2))
	names := []string{
		"SUMMARY", "DESCRIPTION", "LOCATION", "URL", "CATEGORIES", "COLOR", "GEO", "ORGANIZER", "ATTENDEE", "CONTACT",
		"COMMENT", "ATTACH",
		"CONFERENCE", "IMAGE", "RESOURCES", "RELATED-TO", "STRUCTURED-DATA", "X-ALT-DESC",
		"X-APPLE-STRUCTURED-LOCATION", "REQUEST-STATUS",
	}
	classes := []string{"PRIVATE", "CONFIDENTIAL", "private", "X-MINE"}
	for range 500 {
		lines := []string{
			"BEGIN:VEVENT", "UID:" + mark, "DTSTAMP:20260301T100000Z", "DTSTART;X-A=" + mark + ":20260301T100000Z",
		}
		for range random.IntN(12) {
			name := names[random.IntN(len(names))]
			switch random.IntN(3) {
			case 0:
				lines = append(lines, name+";X-P="+mark+":"+mark)
			case 1:
				lines = append(lines, strings.ToLower(name)+":"+mark)
			case 2:
				lines = append(lines, "BEGIN:VALARM", "ACTION:DISPLAY", "TRIGGER:PT0S", name+":"+mark, "END:VALARM")
			}
		}
		lines = append(lines, "CLASS:"+classes[random.IntN(len(classes))], "END:VEVENT", "BEGIN:X-MORE", "X-A:"+mark,
			"END:X-MORE")
		got := strings.ReplaceAll(published(t, lines...), "UID:hidden-"+mark, "")
		if strings.Contains(got, mark) || !strings.Contains(got, "SUMMARY:Busy") {
			t.Fatalf("of\n%s\nis shown\n%s", strings.Join(lines, "\n"), got)
		}
	}
}

// TestObjectHidesEveryCall has the links that people write, each as a place, as a URL and within a description.
func TestObjectHidesEveryCall(t *testing.T) {
	t.Parallel()
	for _, link := range []string{
		"https://zoom.us/j/8123?pwd=abc", "HTTPS://US02WEB.ZOOM.US/j/8123", "zoom.us/j/8123",
		"https://teams.microsoft.com/l/meetup-join/19%3ameeting", "https://teams.live.com/meet/93",
		"https://aka.ms/JoinTeamsMeeting?omkt=de-DE", "https://meet.google.com/abc-defg-hij",
		"https://tel.meet/abc?pin=1",
		"https://acme.webex.com/acme/j.php?MTID=m1", "https://meet.jit.si/Room", "https://jitsi.club.example/room",
		"https://meet.club.example/room", "https://meet.goto.com/123", "https://global.gotomeeting.com/join/123",
		"https://whereby.com/room", "https://cloud.example/index.php/call/abcd", "https://cloud.example/call/abcd",
		"https://bbb.school.example/b/abc-def", "https://bluejeans.com/123", "https://chime.aws/123",
		"https://www.google.com/url?q=https://zoom.us/j/8123&sa=D", "https://calls.example/1?pwd=abc",
		"https://eur01.safelinks.protection.outlook.com/?url=https%3A%2F%2Fteams.microsoft.com%2Fl%2Fmeetup-join%2F1",
		"sip:8123@zoomcrc.com", "tel:+16694449171,,8123#",
	} {
		got := published(t, "BEGIN:VEVENT", "UID:a", "DTSTART:20260301T100000Z", "LOCATION:"+link, "URL:"+link,
			"DESCRIPTION:<a href=\""+link+"\">Join</a>", "SUMMARY:Talk", "END:VEVENT")
		want := "BEGIN:VEVENT\nUID:a\nDTSTART:20260301T100000Z\nDESCRIPTION:<a href=\"\">Join</a>\n" +
			"SUMMARY:Talk\nEND:VEVENT"
		if strings.HasPrefix(link, "tel:") {
			want = strings.ReplaceAll(want, "DESCRIPTION:<a href=\"\">Join</a>\n", "")
		}
		if got != want {
			t.Errorf("of %s is shown\n%s", link, got)
		}
	}
}

func TestBusy(t *testing.T) {
	t.Parallel()
	from := time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)
	for kind, want := range map[freebusy.Type]string{
		freebusy.Busy: "SUMMARY:Busy\r\nSTATUS:CONFIRMED", freebusy.Tentative: "SUMMARY:Tentative\r\nSTATUS:TENTATIVE",
		freebusy.Unavailable: "SUMMARY:Unavailable\r\nSTATUS:CONFIRMED",
	} {
		c := publish.Busy(freebusy.Period{Start: from, End: from.Add(time.Hour), Type: kind}, "uid",
			from.Add(-time.Hour))
		want = "BEGIN:VEVENT\r\nUID:uid\r\nDTSTAMP:20260301T090000Z\r\nDTSTART:20260301T100000Z\r\n" +
			"DTEND:20260301T110000Z\r\n" + want +
			"\r\nTRANSP:OPAQUE\r\nEND:VEVENT\r\n"
		if diff := cmp.Diff(want, ical.NewDocument(c).String()); diff != "" {
			t.Errorf("%v (-want +got):\n%s", kind, diff)
		}
	}
}
