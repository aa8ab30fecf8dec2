package mcp

import (
	"fmt"
	"strings"
	"testing"

	"caldav-mcp-server/calendar"
)

// TestEventsHaveMore: the tools create, show, change and remove the rarer properties of events (mcp C4).
func TestEventsHaveMore(t *testing.T) {
	t.Parallel()
	eachHouse(t, func(t *testing.T, h *house, door string) {
		event := func(args params) (v fullView, text string) {
			t.Helper()
			var made createdView
			args["calendar_id"], args["title"] = work, "X"
			use(t, door, "alice", "create_event", args, &made)
			text = contentText(t, use(t, door, "alice", "get_event", params{
				"calendar_id": work,
				"event_uid":   made.UID,
			}, &v))
			return v, text
		}
		for _, tt := range []struct {
			args params
			says string
		}{
			{
				params{"start": "2026-03-05T09:00"},
				"DTSTART;TZID=Europe/Berlin:20260305T090000 DTEND;TZID=Europe/Berlin:20260305T100000",
			},
			{params{"start": "2026-03-05"}, "DTEND;VALUE=DATE:20260306"},
			{params{"start": "2026-03-05T09:00", "duration_minutes": 90}, "DTEND;TZID=Europe/Berlin:20260305T103000"},
			{params{"start": "2026-03-05", "duration_minutes": 2880}, "DTEND;VALUE=DATE:20260307"},
			{
				params{"start": "2026-03-05T13:00", "end": "2026-03-06T09:00", "end_timezone": "Asia/Tokyo"},
				`DTSTART;TZID=Europe/Berlin:20260305T130000 DTEND;TZID=Asia/Tokyo:20260306T090000 ` +
					`"end_timezone":"Asia/Tokyo"`,
			},
			{
				params{"start": "2026-03-05T13:00", "end": "2026-03-05T12:00", "end_timezone": "America/Los_Angeles"},
				"DTEND;TZID=America/Los_Angeles:20260305T120000",
			},
			{
				params{"start": "2026-03-05T13:00", "duration_minutes": 60, "end_timezone": "Asia/Tokyo"},
				"DTEND;TZID=Asia/Tokyo:20260305T220000",
			},
			{
				params{"start": "2026-03-05T08:00", "timezone": "floating"},
				`DTSTART:20260305T080000\r\n DTEND:20260305T090000\r\n "event_timezone":"floating"`,
			},
			{
				params{"start": "2026-03-05T08:00", "class": "PRIVATE", "color": "Teal"},
				`CLASS:PRIVATE COLOR:teal "class":"PRIVATE" "color":"teal"`,
			},
			{
				params{"start": "2026-03-05T08:00", "alarms": []any{
					10, "1 hour before end", "at 2026-03-04T09:00",
					"1 day 2 hours after start",
				}},
				`TRIGGER:-PT10M TRIGGER;RELATED=END:-PT1H TRIGGER;VALUE=DATE-TIME:20260304T080000Z "alarms":[10,` +
					`-1560] "1 hour before end" "at 2026-03-04T09:00:00+01:00"`,
			},
			{
				params{"start": "2026-03-05T08:00", "rrule": "FREQ=DAILY;COUNT=4", "exdate": []string{
					"2026-03-06",
					"2026-03-07T08:00",
				}, "rdate": []string{"2026-03-20"}},
				`EXDATE;TZID=Europe/Berlin:20260306T080000,20260307T080000 ` +
					`RDATE;TZID=Europe/Berlin:20260320T080000 "exdate":["20260306T080000","20260307T080000"]`,
			},
		} {
			_, text := event(tt.args)
			for word := range strings.FieldsSeq(tt.says) {
				if text = strings.ReplaceAll(text, `\r\n `, ""); !strings.Contains(strings.Join(strings.Fields(text),
					""), word) {
					t.Errorf("%v: no %s in %s", tt.args, word, text)
				}
			}
		}
		for _, tt := range [...]struct{ args, want string }{
			{`"start":"2026-03-05","duration_minutes":90`, "not a whole number of days"},
			{`"start":"2026-03-05T09:00","end":"2026-03-05T10:00","duration_minutes":90`, "not both"},
			{`"start":"2026-03-05T09:00Z","timezone":"floating"`, "has an offset"},
			{`"start":"2026-03-05","end_timezone":"Asia/Tokyo"`, "whole days"},
			{`"start":"2026-03-05T13:00","end":"2026-03-05T13:00","end_timezone":"Asia/Tokyo"`, "must be after"},
			{`"start":"2026-03-05T09:00","alarms":["soon"]`, "cannot be read"},
			{`"start":"2026-03-05T09:00","rrule":"FREQ=DAILY","exdate":["2026-03-05T10:00"]`, "no instance"},
			{`"start":"2026-03-05T09:00","color":"#ff0000"`, "no colour"},
			{`"start":"2026-03-05T09:00","exdate":["2026-03-05"]`, "does not repeat"},
		} {
			if said := refusalOf(t, door, "alice", "create_event", fmt.Sprintf(`{"calendar_id":%q,"title":"X",%s}`,
				work, tt.args)); !strings.Contains(said, tt.want) {
				t.Errorf("%s: %s, want %s", tt.args, said, tt.want)
			}
		}
	})
}

// TestAttendeesOfSingleDatesAreRemoved: a change of all of a series removes attendees who are invited to some of its
// dates.
func TestAttendeesOfSingleDatesAreRemoved(t *testing.T) {
	t.Parallel()
	eachHouse(t, func(t *testing.T, h *house, door string) {
		h.put(t, work, "a", wrapped(calendar.Event, "a", "DTSTART:20260305T120000Z", "DTEND:20260305T130000Z",
			"SUMMARY:Talk", "RRULE:FREQ=DAILY;COUNT=3", "ATTENDEE:mailto:zoe@example.com",
			"END:VEVENT", "BEGIN:VEVENT", "UID:a", "DTSTAMP:20260301T080000Z", "RECURRENCE-ID:20260306T120000Z",
			"DTSTART:20260306T120000Z", "DTEND:20260306T130000Z", "SUMMARY:Talk",
			"ATTENDEE:mailto:zoe@example.com", "ATTENDEE;CN=Bob Ray:mailto:bob@example.com"))
		one := fmt.Sprintf(`{"calendar_id":%q,"event_uid":"a","remove_attendees":["Bob Ray"],"scope":"this",`+
			`"recurrence_id":"20260307T120000Z"}`, work)
		if said := refusalOf(t, door, "alice", "patch_event", one); !strings.Contains(said, "0 attendees are called") {
			t.Errorf("another date: %s", said)
		}
		use(t, door, "alice", "patch_event", params{
			"calendar_id": work, "event_uid": "a",
			"remove_attendees": []string{"bob ray"}, "scope": "all",
		}, &struct{}{})
		h.expectText(t, work, "a",
			"SUMMARY:Talk\r\nATTENDEE:mailto:zoe@example.com\r\nSEQUENCE:1\r\nEND:VEVENT\r\nEND:VCALENDAR")
	})
}

// TestPatchesOfMore: each field that a patch gives changes by itself.
func TestPatchesOfMore(t *testing.T) {
	t.Parallel()
	eachHouse(t, func(t *testing.T, h *house, door string) {
		h.put(t, work, "a", wrapped(calendar.Event, "a", "DTSTART;TZID=Europe/Berlin:20260305T130000",
			"DTEND;TZID=Europe/Berlin:20260305T140000", "SUMMARY:Flight",
			"ATTENDEE;CN=Zoë;PARTSTAT=ACCEPTED:mailto:zoe@example.com", "ATTENDEE;CN=Bob Ray:mailto:bob@example.com"))
		for _, tt := range []struct {
			args params
			want []string
		}{
			{params{"duration_minutes": 90}, []string{"DTEND;TZID=Europe/Berlin:20260305T143000"}},
			{params{"end_timezone": "Asia/Tokyo"}, []string{
				"DTSTART;TZID=Europe/Berlin:20260305T130000",
				"DTEND;TZID=Asia/Tokyo:20260305T223000",
			}},
			{params{"start": "2026-03-05T14:00"}, []string{"DTEND;TZID=Asia/Tokyo:20260305T233000"}},
			{
				params{"start": "2026-03-05T14:00", "duration_minutes": 60},
				[]string{"DTEND;TZID=Asia/Tokyo:20260305T230000"},
			},
			{
				params{"add_attendees": []string{"Dave <dave@example.com>"}, "remove_attendees": []string{"bob ray"}},
				[]string{
					"ATTENDEE;CN=Zoë;PARTSTAT=ACCEPTED:mailto:zoe@example.com",
					"ATTENDEE;CN=Dave;ROLE=REQ-PARTICIPANT;PARTSTAT=NEEDS-ACTION;RSVP=TRUE:mailt",
				},
			},
			{
				params{"start": "2026-03-05T08:00", "end": "2026-03-05T09:00", "timezone": "floating"},
				[]string{"DTSTART:20260305T080000", "DTEND:20260305T090000"},
			},
			{params{"class": "CONFIDENTIAL", "color": "red"}, []string{"CLASS:CONFIDENTIAL", "COLOR:red"}},
		} {
			tt.args["calendar_id"], tt.args["event_uid"] = work, "a"
			use(t, door, "alice", "patch_event", tt.args, &struct{}{})
			h.expectText(t, work, "a", tt.want...)
		}
		if text := contentText(t, use(t, door, "alice", "list_events", params{"date_range": "2026-03-05"},
			&struct{}{})); !strings.Contains(text, "colour red") {
			t.Errorf("no colour in %s", text)
		}
		if said := refusalOf(t, door, "alice", "patch_event",
			fmt.Sprintf(`{"calendar_id":%q,"event_uid":"a","remove_attendees":["Eve"]}`, work)); !strings.Contains(said,
			"0 attendees are called") || !strings.Contains(said, "zoe@example.com") {
			t.Errorf("nobody: %s", said)
		}
	})
}
