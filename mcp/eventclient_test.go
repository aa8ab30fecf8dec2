package mcp

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/internal/testdb"
)

// Events as calendar apps write them, with proprietary properties.
const (
	appleEvent = `BEGIN:VCALENDAR
VERSION:2.0
PRODID:-//Apple Inc.//iOS 19.2//EN
CALSCALE:GREGORIAN
BEGIN:VTIMEZONE
TZID:Europe/Berlin
BEGIN:DAYLIGHT
TZOFFSETFROM:+0100
RRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=-1SU
DTSTART:19810329T020000
TZNAME:MESZ
TZOFFSETTO:+0200
END:DAYLIGHT
BEGIN:STANDARD
TZOFFSETFROM:+0200
RRULE:FREQ=YEARLY;BYMONTH=10;BYDAY=-1SU
DTSTART:19961027T030000
TZNAME:MEZ
TZOFFSETTO:+0100
END:STANDARD
END:VTIMEZONE
BEGIN:VEVENT
CREATED:20260201T101010Z
UID:event
DTEND;TZID=Europe/Berlin:20260306T110000
SUMMARY:Dentist
LAST-MODIFIED:20260201T101011Z
DTSTAMP:20260201T101012Z
DTSTART;TZID=Europe/Berlin:20260306T100000
LOCATION:Main St 1\nBerlin
X-APPLE-STRUCTURED-LOCATION;VALUE=URI;X-ADDRESS="Main St 1";X-APPLE-RADIUS=7
 0;X-TITLE=Dentist:geo:52.5,13.4
X-APPLE-TRAVEL-ADVISORY-BEHAVIOR:AUTOMATIC
SEQUENCE:1
BEGIN:VALARM
X-WR-ALARMUID:A1
UID:A1
TRIGGER:-PT1H
ACTION:DISPLAY
DESCRIPTION:Reminder
X-APPLE-DEFAULT-ALARM:TRUE
END:VALARM
END:VEVENT
END:VCALENDAR
`
	googleEvent = `BEGIN:VCALENDAR
PRODID:-//Google Inc//Google Calendar 70.9054//EN
VERSION:2.0
BEGIN:VEVENT
DTSTART:20260306T090000Z
DTEND:20260306T100000Z
DTSTAMP:20260201T101012Z
ORGANIZER;CN=Team:mailto:team@group.calendar.google.com
UID:event
ATTENDEE;CUTYPE=INDIVIDUAL;ROLE=REQ-PARTICIPANT;PARTSTAT=ACCEPTED;CN=Bob;X-
 NUM-GUESTS=0:mailto:bob@example.com
X-GOOGLE-CONFERENCE:https://meet.google.com/abc-defg-hij
DESCRIPTION:Agenda
SUMMARY:Sync
SEQUENCE:2
END:VEVENT
END:VCALENDAR
`
	outlookEvent = `BEGIN:VCALENDAR
PRODID:-//Microsoft Corporation//Outlook 16.0 MIMEDIR//EN
VERSION:2.0
BEGIN:VTIMEZONE
TZID:W. Europe Standard Time
BEGIN:STANDARD
DTSTART:16010101T030000
TZOFFSETFROM:+0200
TZOFFSETTO:+0100
RRULE:FREQ=YEARLY;BYDAY=-1SU;BYMONTH=10
END:STANDARD
BEGIN:DAYLIGHT
DTSTART:16010101T020000
TZOFFSETFROM:+0100
TZOFFSETTO:+0200
RRULE:FREQ=YEARLY;BYDAY=-1SU;BYMONTH=3
END:DAYLIGHT
END:VTIMEZONE
BEGIN:VEVENT
CLASS:PUBLIC
DTSTAMP:20260201T101012Z
RRULE:FREQ=WEEKLY;COUNT=6;BYDAY=FR
DTSTART;TZID="W. Europe Standard Time":20260306T100000
DTEND;TZID="W. Europe Standard Time":20260306T110000
EXDATE;TZID="W. Europe Standard Time":20260313T100000
SEQUENCE:0
SUMMARY;LANGUAGE=de:Runde
TRANSP:OPAQUE
UID:event
X-MICROSOFT-CDO-BUSYSTATUS:BUSY
X-ALT-DESC;FMTTYPE=text/html:<b>Thema</b>
BEGIN:VALARM
TRIGGER:-PT15M
ACTION:DISPLAY
DESCRIPTION:Reminder
END:VALARM
END:VEVENT
END:VCALENDAR
`
)

// TestClientsKeepTheirWords: only the requested properties of an app's event change, and those that RFC 5545 requires
// to change with them.
func TestClientsKeepTheirWords(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, text, tool string
		args             map[string]any
		want             string
	}{
		{"Apple, replaced", appleEvent, "update_event", map[string]any{
			"title": "Dentist", "start": "2026-03-06T10:00",
			"end": "2026-03-06T11:30", "location": "Main St 1\nBerlin",
		}, `
-DTEND;TZID=Europe/Berlin:20260306T110000
-LAST-MODIFIED:20260201T101011Z
-DTSTAMP:20260201T101012Z
-SEQUENCE:1
+DTEND;TZID=Europe/Berlin:20260306T113000
+LAST-MODIFIED:20260301T120000Z
+DTSTAMP:20260301T120000Z
+SEQUENCE:2
`},
		{"Apple, moved from another zone", appleEvent, "move_event", map[string]any{
			"new_start": "2026-03-06T08:00",
			"timezone":  "America/New_York",
		}, `
-DTEND;TZID=Europe/Berlin:20260306T110000
-LAST-MODIFIED:20260201T101011Z
-DTSTAMP:20260201T101012Z
-DTSTART;TZID=Europe/Berlin:20260306T100000
-SEQUENCE:1
+DTEND;TZID=Europe/Berlin:20260306T150000
+LAST-MODIFIED:20260301T120000Z
+DTSTAMP:20260301T120000Z
+DTSTART;TZID=Europe/Berlin:20260306T140000
+SEQUENCE:2
`},
		{"Google, its title", googleEvent, "patch_event", map[string]any{"title": "Weekly sync"}, `
-DTSTAMP:20260201T101012Z
-SUMMARY:Sync
+DTSTAMP:20260301T120000Z
+SUMMARY:Weekly sync
`},
		{
			"Google, one more guest", googleEvent, "patch_event",
			map[string]any{"attendees": []string{"Bob <bob@example.com> (ACCEPTED)", "Eve <eve@example.com>"}},
			`
-DTSTAMP:20260201T101012Z
-SEQUENCE:2
+DTSTAMP:20260301T120000Z
+SEQUENCE:3
+ATTENDEE;CN=Eve;ROLE=REQ-PARTICIPANT;PARTSTAT=NEEDS-ACTION;RSVP=TRUE:mailto
+ :eve@example.com
`,
		},
		{"Outlook, all an hour later", outlookEvent, "move_event", map[string]any{
			"new_start": "2026-03-06T11:00",
			"scope":     "all",
		}, `
-DTSTAMP:20260201T101012Z
-DTSTART;TZID="W. Europe Standard Time":20260306T100000
-DTEND;TZID="W. Europe Standard Time":20260306T110000
-EXDATE;TZID="W. Europe Standard Time":20260313T100000
-SEQUENCE:0
+DTSTAMP:20260301T120000Z
+DTSTART;TZID=W. Europe Standard Time:20260306T110000
+DTEND;TZID=W. Europe Standard Time:20260306T120000
+EXDATE;TZID=W. Europe Standard Time:20260313T110000
+SEQUENCE:1
`},
		{"Outlook, one is deleted", outlookEvent, "delete_event", map[string]any{
			"recurrence_id": "2026-03-20",
			"scope":         "this",
		}, `
-DTSTAMP:20260201T101012Z
-SEQUENCE:0
+DTSTAMP:20260301T120000Z
+SEQUENCE:1
+EXDATE;TZID=W. Europe Standard Time:20260320T100000
`},
		{"Apple, elsewhere", appleEvent, "patch_event", map[string]any{"location": "Side St 2"}, `
-LAST-MODIFIED:20260201T101011Z
-DTSTAMP:20260201T101012Z
-LOCATION:Main St 1\nBerlin
-X-APPLE-STRUCTURED-LOCATION;VALUE=URI;X-ADDRESS="Main St 1";X-APPLE-RADIUS=7
- 0;X-TITLE=Dentist:geo:52.5,13.4
+LAST-MODIFIED:20260301T120000Z
+DTSTAMP:20260301T120000Z
+LOCATION:Side St 2
`},
		{"Outlook, one is called otherwise", outlookEvent, "patch_event", map[string]any{
			"title":         "Große Runde",
			"recurrence_id": "2026-03-20", "scope": "this",
		}, `
+BEGIN:VEVENT
+CLASS:PUBLIC
+DTSTAMP:20260301T120000Z
+DTSTART;TZID=W. Europe Standard Time:20260320T100000
+DTEND;TZID=W. Europe Standard Time:20260320T110000
+SEQUENCE:0
+SUMMARY;LANGUAGE=de:Große Runde
+TRANSP:OPAQUE
+UID:event
+X-MICROSOFT-CDO-BUSYSTATUS:BUSY
+X-ALT-DESC;FMTTYPE=text/html:<b>Thema</b>
+RECURRENCE-ID;TZID=W. Europe Standard Time:20260320T100000
+BEGIN:VALARM
+TRIGGER:-PT15M
+ACTION:DISPLAY
+DESCRIPTION:Reminder
+END:VALARM
+END:VEVENT
`},
		{"Outlook, without reminders", outlookEvent, "update_event", map[string]any{
			"title": "Runde",
			"start": "2026-03-06T10:00", "end": "2026-03-06T11:00", "scope": "all", "alarms": []int{},
		}, `
-DTSTAMP:20260201T101012Z
-BEGIN:VALARM
-TRIGGER:-PT15M
-ACTION:DISPLAY
-DESCRIPTION:Reminder
-END:VALARM
+DTSTAMP:20260301T120000Z
`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t, testdb.SQLite(t))
			before := h.put(t, work, "event", tt.text)
			since := h.token(t)
			tt.args["calendar_id"], tt.args["event_uid"] = work, "event"
			if got := h.say(t, h.open(t, h.config()), "alice", tt.tool, tt.args); !strings.Contains(got, `"result"`) {
				t.Fatal(got)
			}
			after := h.changedSince(t, since)
			if diff := cmp.Diff(strings.TrimPrefix(tt.want, "\n"), lineDiff(string(before.Data),
				string(after.Data))); diff != "" {
				t.Errorf("what changed (-want +got):\n%s", diff)
			}
		})
	}
}

// token is where a CalDAV client that has seen all of Work stands.
func (h *house) token(t *testing.T) calendar.SyncToken {
	t.Helper()
	return h.work(t).SyncToken()
}

func (h *house) work(t *testing.T) calendar.Calendar {
	t.Helper()
	cal, err := h.service.Calendar(t.Context(), h.callers["alice"], work)
	if err != nil {
		t.Fatal(err)
	}
	return cal
}

// changedSince is the one object that a CalDAV client finds changed, as it then reads it.
func (h *house) changedSince(t *testing.T, since calendar.SyncToken) calendar.Object {
	t.Helper()
	cal := h.work(t)
	var names []calendar.ObjectName
	var tag calendar.ETag
	for o, err := range h.service.Changes(t.Context(), nil, h.callers["alice"], cal, since) {
		if err != nil {
			t.Fatal(err)
		}
		names, tag = append(names, o.Name), o.ETag
	}
	if diff := cmp.Diff([]calendar.ObjectName{"event.ics"}, names); diff != "" {
		t.Fatalf("changed (-want +got):\n%s", diff)
	}
	o, err := h.service.Object(t.Context(), nil, h.callers["alice"], cal, "event.ics")
	if err != nil {
		t.Fatal(err)
	}
	if o.ETag != tag {
		t.Errorf("the sync report has the etag %s, the object %s", tag, o.ETag)
	}
	return o
}

// lineDiff lists the lines that only one of the texts has, those of the first one first.
func lineDiff(before, after string) string {
	var b strings.Builder
	for _, side := range [...]struct{ sign, text, other string }{{"-", before, after}, {"+", after, before}} {
		others := strings.Split(side.other, "\r\n")
		for line := range strings.SplitSeq(side.text, "\r\n") {
			i := slices.Index(others, line)
			if i < 0 {
				b.WriteString(side.sign + line + "\n")
				continue
			}
			others = slices.Delete(others, i, i+1)
		}
	}
	return b.String()
}
