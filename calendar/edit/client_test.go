package edit_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/edit"
	"caldav-mcp-server/ical"
)

// client reads an object as a client writes it.
func client(t *testing.T, name string) (string, *content.Object) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "ical", "testdata", "clients", name+".ics"))
	if err != nil {
		t.Fatal(err)
	}
	o, err := content.Read(data, ical.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	return string(data), o
}

// TestClientsKeepTheirBytes edits what Apple, Google, Outlook and others write. The lines that
// differ afterwards are those that were asked for, and the books: DTSTAMP, LAST-MODIFIED
// where there is one, SEQUENCE where RFC 5546 §2.1.4 raises it.
func TestClientsKeepTheirBytes(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, file string
		change     func(t *testing.T) edit.Change
		want       string
	}{
		{"a title", "apple-event", func(*testing.T) edit.Change {
			return edit.Change{Fields: edit.Fields{Summary: edit.To("Zahnarzt")}}
		}, `
-DTSTAMP:20260301T081512Z
+DTSTAMP:20260301T120000Z
-SUMMARY:Zahnarzt – Kontrolle
-LAST-MODIFIED:20260301T081511Z
+SUMMARY:Zahnarzt
+LAST-MODIFIED:20260301T120000Z
`},
		{"a time, given in UTC", "apple-event", func(t *testing.T) edit.Change {
			return edit.Change{Times: edit.Times{Start: to(t, "20260401T090000Z")}}
		}, `
-DTEND;TZID=Europe/Berlin:20260312T103000
+DTEND;TZID=Europe/Berlin:20260401T113000
-DTSTAMP:20260301T081512Z
+DTSTAMP:20260301T120000Z
-SEQUENCE:1
+SEQUENCE:2
-LAST-MODIFIED:20260301T081511Z
-DTSTART;TZID=Europe/Berlin:20260312T100000
+LAST-MODIFIED:20260301T120000Z
+DTSTART;TZID=Europe/Berlin:20260401T110000
`},
		{"the same again", "apple-event", func(t *testing.T) edit.Change {
			return edit.Change{
				Fields: edit.Fields{
					Summary: edit.To("Zahnarzt – Kontrolle"), Transparency: edit.To(edit.Opaque),
					Alarms: edit.To([]edit.Alarm{{Minutes: 30}}),
				},
				Times: edit.Times{Start: to(t, "2026-03-12T10:00"), End: to(t, "20260312T093000Z")},
			}
		}, ""},
		{"a place that Apple has on a map", "apple-event", func(*testing.T) edit.Change {
			return edit.Change{Fields: edit.Fields{Location: edit.To("Markt 1")}}
		}, `
-X-APPLE-STRUCTURED-LOCATION;VALUE=URI;X-APPLE-MAPKIT-HANDLE=CAESgAEIrk0QoLf
- ;X-APPLE-RADIUS=70.58735;X-ADDRESS="Lindenallee 4\n04109 Leipzig\nDeutschl
- and";X-TITLE="Praxis am Park, 2. Stock":geo:51.339695,12.373075
-DTSTAMP:20260301T081512Z
-LOCATION:Praxis am Park\nLindenallee 4\, 04109 Leipzig
+DTSTAMP:20260301T120000Z
+LOCATION:Markt 1
-LAST-MODIFIED:20260301T081511Z
+LAST-MODIFIED:20260301T120000Z
`},
		{"another reminder beside Apple's placeholder", "apple-default-alarm", func(*testing.T) edit.Change {
			return edit.Change{Fields: edit.Fields{Alarms: edit.To([]edit.Alarm{{Minutes: 15 * 60}, {Minutes: 0}})}}
		}, `
-DTSTAMP:20260105T201502Z
+DTSTAMP:20260301T120000Z
-LAST-MODIFIED:20260105T201501Z
+LAST-MODIFIED:20260301T120000Z
+BEGIN:VALARM
+ACTION:DISPLAY
+DESCRIPTION:Geburtstag von Zoë 🎂🎈 und ihrer Zwillingsschwester Anaï
+ s – Blumen nicht vergessen
+TRIGGER:PT0S
+END:VALARM
`},
		{"the length of Outlook's meeting", "outlook-meeting", func(t *testing.T) edit.Change {
			return edit.Change{Times: edit.Times{End: to(t, "2026-02-17T15:30")}}
		}, `
-DTEND;TZID="W. Europe Standard Time":20260217T150000
-DTSTAMP:20260209T103355Z
+DTEND;TZID=W. Europe Standard Time:20260217T153000
+DTSTAMP:20260301T120000Z
-LAST-MODIFIED:20260209T103355Z
+LAST-MODIFIED:20260301T120000Z
-SEQUENCE:0
+SEQUENCE:1
`},
		{"the notes of Outlook's meeting", "outlook-meeting", func(*testing.T) edit.Change {
			return edit.Change{Fields: edit.Fields{Description: edit.To("Neu")}}
		}, `
-DESCRIPTION:Guten Tag\,\n\nanbei der Termin.\n\n___________________________
-	_____________________________________________________\nMicrosoft Teams-Bes
-	prechung\n
+DESCRIPTION:Neu
-DTSTAMP:20260209T103355Z
+DTSTAMP:20260301T120000Z
-LAST-MODIFIED:20260209T103355Z
+LAST-MODIFIED:20260301T120000Z
-X-ALT-DESC;FMTTYPE=text/html:<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 3.2//E
-	N">\n<HTML>\n<BODY>\n<P DIR=LTR>Guten Tag\,</P>\n</BODY>\n</HTML>
`},
		{"another attendee", "google-invitation", func(*testing.T) edit.Change {
			return edit.Change{Fields: edit.Fields{Attendees: edit.To([]edit.Attendee{
				{Address: "C_188room@resource.calendar.google.com"},
				{Address: "sam@example.net", Name: `Sam "S", Jr.`, Role: "opt-participant"},
			})}}
		}, `
-DTSTAMP:20260415T111213Z
+DTSTAMP:20260301T120000Z
-SEQUENCE:0
+SEQUENCE:1
+ATTENDEE;CN="Sam ^'S^', Jr.";ROLE=OPT-PARTICIPANT;PARTSTAT=NEEDS-ACTION;RSV
+ P=TRUE:mailto:sam@example.net
`},
		{"an instance that Google's series had as the others", "google-series", func(t *testing.T) edit.Change {
			return edit.Change{
				Target: edit.Target{Instance: at(t, "20260311T133000Z"), Scope: edit.This},
				Fields: edit.Fields{Summary: edit.To("Stand-up (in the park)")},
			}
		}, `
+BEGIN:VEVENT
+DTSTART;TZID=America/New_York:20260311T093000
+DTEND;TZID=America/New_York:20260311T094500
+DTSTAMP:20260301T120000Z
+ORGANIZER;CN=Morgan Lee:mailto:morgan@example.com
+UID:3o2u5f8k1a9c7e0g4i6m8q2s4u@google.com
+ATTENDEE;CUTYPE=INDIVIDUAL;ROLE=REQ-PARTICIPANT;PARTSTAT=ACCEPTED;RSVP=TRUE
+ ;CN=Morgan Lee;X-NUM-GUESTS=0:mailto:morgan@example.com
+ATTENDEE;CUTYPE=INDIVIDUAL;ROLE=REQ-PARTICIPANT;PARTSTAT=NEEDS-ACTION;RSVP=
+ TRUE;CN=sam@example.net;X-NUM-GUESTS=0:mailto:sam@example.net
+X-GOOGLE-CONFERENCE:https://meet.example.com/abc-defg-hij
+CREATED:20260301T120000Z
+DESCRIPTION:Quick round: what moved\, what is stuck.\n\nNotes: https://docs
+ .example.com/d/1a2b3c4d5e6f/edit?usp=sharing\n\n-::~:~::~:~:~:~:~:~:~:~:~:
+ ~:~:~:~:~:~:~:~:~:~:~::-\nPlease do not edit this section.
+LAST-MODIFIED:20260301T120000Z
+LOCATION:
+SEQUENCE:3
+STATUS:CONFIRMED
+SUMMARY:Stand-up (in the park)
+TRANSP:OPAQUE
+RECURRENCE-ID;TZID=America/New_York:20260311T093000
+BEGIN:VALARM
+ACTION:DISPLAY
+DESCRIPTION:This is an event reminder
+TRIGGER:-P0DT0H10M0S
+END:VALARM
+END:VEVENT
`},
		{
			"Google's series an hour later, said of an instance in summer", "google-series",
			func(t *testing.T) edit.Change {
				return edit.Change{
					Target: edit.Target{Instance: at(t, "20260401T133000Z"), Scope: edit.All},
					Times:  edit.Times{Start: to(t, "20260401T143000Z")},
				}
			}, `
-DTSTART;TZID=America/New_York:20260105T093000
-DTEND;TZID=America/New_York:20260105T094500
-RRULE:FREQ=WEEKLY;WKST=SU;UNTIL=20260629T035959Z;BYDAY=MO,WE,FR
-EXDATE;TZID=America/New_York:20260119T093000
-EXDATE;TZID=America/New_York:20260216T093000
-DTSTAMP:20260104T170000Z
+DTSTART;TZID=America/New_York:20260105T103000
+DTEND;TZID=America/New_York:20260105T104500
+RRULE:FREQ=WEEKLY;WKST=SU;UNTIL=20260629T045959Z;BYDAY=MO,WE,FR
+EXDATE;TZID=America/New_York:20260119T103000
+EXDATE;TZID=America/New_York:20260216T103000
+DTSTAMP:20260301T120000Z
-LAST-MODIFIED:20260104T165959Z
+LAST-MODIFIED:20260301T120000Z
-SEQUENCE:3
+SEQUENCE:4
-DTSTART;TZID=America/New_York:20260107T110000
-DTEND;TZID=America/New_York:20260107T111500
-DTSTAMP:20260104T170000Z
+DTSTART;TZID=America/New_York:20260107T120000
+DTEND;TZID=America/New_York:20260107T121500
+DTSTAMP:20260301T120000Z
-RECURRENCE-ID;TZID=America/New_York:20260107T093000
+RECURRENCE-ID;TZID=America/New_York:20260107T103000
-LAST-MODIFIED:20260104T165959Z
-SEQUENCE:4
+LAST-MODIFIED:20260301T120000Z
+SEQUENCE:5
`,
		},
		{"whole days", "davx5-exception", func(t *testing.T) edit.Change {
			return edit.Change{
				Target: edit.Target{Instance: at(t, "2026-01-26"), Scope: edit.This},
				Times:  edit.Times{Start: to(t, "2026-01-28")},
			}
		}, `
-DTSTAMP:20260118T150000Z
+DTSTAMP:20260301T120000Z
-SEQUENCE:2
+SEQUENCE:3
-DTSTART;VALUE=DATE:20260127
-DTEND;VALUE=DATE:20260128
+DTSTART;VALUE=DATE:20260128
+DTEND;VALUE=DATE:20260129
`},
		{"a reminder that was done is to do again", "apple-reminder", func(*testing.T) edit.Change {
			return edit.Change{Fields: edit.Fields{Completed: edit.Clear[time.Time]()}}
		}, `
-COMPLETED:20260211T090321Z
-DTSTAMP:20260211T090322Z
+DTSTAMP:20260301T120000Z
-LAST-MODIFIED:20260211T090321Z
-PERCENT-COMPLETE:100
+LAST-MODIFIED:20260301T120000Z
-SEQUENCE:2
-STATUS:COMPLETED
+SEQUENCE:3
+STATUS:NEEDS-ACTION
`},
	} {
		before, o := client(t, tt.file)
		got, err := editor().Change(t.Context(), o, tt.change(t))
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if diff := cmp.Diff(strings.TrimPrefix(tt.want, "\n"), changed(before, got.Document.String())); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

// TestClientsSeries ends, splits and empties the series of clients.
func TestClientsSeries(t *testing.T) {
	t.Parallel()
	t.Run("one instance less", func(t *testing.T) {
		t.Parallel()
		before, o := client(t, "davx5-exception")
		got, err := editor().Cancel(t.Context(), o, edit.Target{Instance: at(t, "2026-01-26"), Scope: edit.This})
		if err != nil {
			t.Fatal(err)
		}
		want := `
-DTSTAMP:20260118T150000Z
+DTSTAMP:20260301T120000Z
-SEQUENCE:2
+SEQUENCE:3
-END:VEVENT
-BEGIN:VEVENT
-DTSTAMP:20260118T150000Z
-UID:0a1b2c3d-4e5f-4061-8273-94a5b6c7d8e9
-RECURRENCE-ID;VALUE=DATE:20260126
-SEQUENCE:2
-SUMMARY:Yoga (outdoors)
-DTSTART;VALUE=DATE:20260127
-DTEND;VALUE=DATE:20260128
+EXDATE;VALUE=DATE:20260126
`
		if diff := cmp.Diff(strings.TrimPrefix(want, "\n"), changed(before, got.Document.String())); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
	t.Run("split", func(t *testing.T) {
		t.Parallel()
		before, o := client(t, "google-series")
		got, err := editor().Change(t.Context(), o, edit.Change{
			Target: edit.Target{Instance: at(t, "20260202T143000Z"), Scope: edit.Following},
			Fields: edit.Fields{Summary: edit.To("Stand-up, shorter")},
			Times:  edit.Times{Start: to(t, "20260202T144500Z"), End: to(t, "20260202T145000Z")},
		})
		if err != nil {
			t.Fatal(err)
		}
		left := `
-RRULE:FREQ=WEEKLY;WKST=SU;UNTIL=20260629T035959Z;BYDAY=MO,WE,FR
+RRULE:FREQ=WEEKLY;WKST=SU;UNTIL=20260202T142959Z;BYDAY=MO,WE,FR
-EXDATE;TZID=America/New_York:20260216T093000
-DTSTAMP:20260104T170000Z
+DTSTAMP:20260301T120000Z
-LAST-MODIFIED:20260104T165959Z
+LAST-MODIFIED:20260301T120000Z
-SEQUENCE:3
+SEQUENCE:4
`
		if diff := cmp.Diff(strings.TrimPrefix(left, "\n"), changed(before, got.Document.String())); diff != "" {
			t.Errorf("the old part (-want +got):\n%s", diff)
		}
		right := `
-DTSTART;TZID=America/New_York:20260105T093000
-DTEND;TZID=America/New_York:20260105T094500
-RRULE:FREQ=WEEKLY;WKST=SU;UNTIL=20260629T035959Z;BYDAY=MO,WE,FR
-EXDATE;TZID=America/New_York:20260119T093000
-EXDATE;TZID=America/New_York:20260216T093000
-DTSTAMP:20260104T170000Z
+DTSTART;TZID=America/New_York:20260202T094500
+DTEND;TZID=America/New_York:20260202T095000
+RRULE:FREQ=WEEKLY;WKST=SU;UNTIL=20260629T041459Z;BYDAY=MO,WE,FR
+EXDATE;TZID=America/New_York:20260216T094500
+DTSTAMP:20260301T120000Z
-UID:3o2u5f8k1a9c7e0g4i6m8q2s4u@google.com
+UID:second
-CREATED:20251219T101112Z
+CREATED:20260301T120000Z
-LAST-MODIFIED:20260104T165959Z
+LAST-MODIFIED:20260301T120000Z
-SEQUENCE:3
+SEQUENCE:0
-SUMMARY:Stand-up
+SUMMARY:Stand-up\, shorter
+RELATED-TO;RELTYPE=SIBLING:3o2u5f8k1a9c7e0g4i6m8q2s4u@google.com
-BEGIN:VEVENT
-DTSTART;TZID=America/New_York:20260107T110000
-DTEND;TZID=America/New_York:20260107T111500
-DTSTAMP:20260104T170000Z
-ORGANIZER;CN=Morgan Lee:mailto:morgan@example.com
-UID:3o2u5f8k1a9c7e0g4i6m8q2s4u@google.com
-RECURRENCE-ID;TZID=America/New_York:20260107T093000
-CREATED:20251219T101112Z
-DESCRIPTION:
-LAST-MODIFIED:20260104T165959Z
-SEQUENCE:4
-STATUS:CONFIRMED
-SUMMARY:Stand-up (late)
-TRANSP:OPAQUE
-END:VEVENT
`
		if diff := cmp.Diff(strings.TrimPrefix(right, "\n"), changed(before, got.Split.String())); diff != "" {
			t.Errorf("the new part (-want +got):\n%s", diff)
		}
	})
}
