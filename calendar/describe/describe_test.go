package describe_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/describe"
)

// object is an event in Berlin, or whatever else the lines make of it.
func object(lines ...string) []byte {
	text := strings.Join(lines, "\n")
	if !strings.HasPrefix(text, "BEGIN:") {
		text = "BEGIN:VEVENT\n" + text + "\nEND:VEVENT"
	}
	text = "BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:-//x//EN\n" + text + "\nEND:VCALENDAR\n"
	return []byte(strings.ReplaceAll(text, "\n", "\r\n"))
}

const (
	ten   = "UID:a\nDTSTART;TZID=Europe/Berlin:20261103T100000\nDTEND;TZID=Europe/Berlin:20261103T110000\n"
	daily = "BEGIN:VEVENT\nUID:a\nDTSTART:20261103T090000Z\nDURATION:PT1H\nRRULE:FREQ=DAILY\nSUMMARY:Lunch\n" +
		"END:VEVENT\n"
	another = "BEGIN:VEVENT\nUID:a\nRECURRENCE-ID:20261104T090000Z\n"
)

func TestChange(t *testing.T) {
	t.Parallel()
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	work := calendar.Calendar{Properties: calendar.Properties{Name: "Work"}}
	color := "#ff0000"
	settings := func(p calendar.Properties) []byte {
		return calendar.SettingsOf(calendar.Calendar{Segment: "work", Properties: p}, nil).Encode()
	}
	modified := func(before, after []byte) calendar.Change {
		return calendar.Change{
			Object: "a.ics", Did: calendar.Modified, Kind: calendar.Event, Summary: "Lunch", Before: before,
			After: after,
		}
	}
	shared := func(did calendar.ChangeKind, given calendar.Access) calendar.Change {
		return calendar.Change{
			Whom: "b", WhomName: "bob", Did: did, Given: given,
			Before: calendar.Terms{Access: calendar.ReadAccess}.Encode(),
		}
	}
	for _, tt := range []struct {
		change calendar.Change
		want   string
	}{
		{
			calendar.Change{Object: "a.ics", Did: calendar.Created, Kind: calendar.Todo, Summary: "Pay"},
			`created the task "Pay"`,
		},
		{calendar.Change{Object: "a.ics", Did: calendar.Deleted}, `deleted the event`},
		{modified(nil, nil), `changed the event "Lunch"`},
		{modified([]byte("no iCalendar"), object(ten)), `changed the event "Lunch"`},
		{
			modified(object(ten, "SEQUENCE:1"), object(ten, "SEQUENCE:2")),
			`changed the event "Lunch" in details that only programs see`,
		},
		{
			modified(object(ten, "SUMMARY:Diner"),
				object("UID:a\nDTSTART:20261103T100000Z\nDTEND:20261103T110000Z", "SUMMARY:Lunch",
					"LOCATION:Chez \"Paul\"")),
			`changed the event "Lunch": moved from Tue 3 Nov 10:00 to 11:00; title changed from "Diner" to "Lunch"; ` +
				`place set to "Chez \"Paul\""`,
		},
		{
			modified(object(ten),
				object("UID:a\nDTSTART;TZID=Europe/Berlin:20261103T100000\nDTEND;TZID=Europe/Berlin:20261104T003000")),
			`changed the event "Lunch": ends Wed 4 Nov 00:30 instead of 11:00`,
		},
		{
			modified(object(ten), object("UID:a\nDTSTART;VALUE=DATE:20270101\nDTEND;VALUE=DATE:20270104")),
			`changed the event "Lunch": moved from Tue 3 Nov 10:00–11:00 to Fri 1 Jan 2027–Sun 3 Jan 2027`,
		},
		{
			modified(object(ten, "DESCRIPTION:a", "BEGIN:VALARM\nACTION:DISPLAY\nTRIGGER:-PT5M\nEND:VALARM"),
				object(ten, "DESCRIPTION:b", "RRULE:FREQ=DAILY")),
			`changed the event "Lunch": notes changed; reminders removed; repeats differently`,
		},
		{
			modified(object(ten, "ATTENDEE:mailto:ann@example.com\nATTENDEE;CN=Bob:mailto:bob@example.com"),
				object(ten, "ATTENDEE;PARTSTAT=DECLINED;CN=Bob:mailto:BOB@example.com\n"+
					"ATTENDEE:mailto:cy@example.com")),
			`changed the event "Lunch": "Bob" declined; invited "cy@example.com"; took "ann@example.com" off`,
		},
		{
			modified(object(daily),
				object(daily+another+"DTSTART:20261104T100000Z\nDURATION:PT1H\nSUMMARY:Brunch\nEND:VEVENT")),
			`changed the event "Lunch": on Wed 4 Nov 10:00 moved from Wed 4 Nov 10:00 to 11:00, title changed from ` +
				`"Lunch" to "Brunch"`,
		},
		{
			modified(object(daily+another+"DTSTART:20261104T100000Z\nDURATION:PT1H\nSUMMARY:Lunch\nEND:VEVENT"),
				object(daily)),
			`changed the event "Lunch": on Wed 4 Nov 10:00 as in the series again`,
		},
		{
			modified(object("BEGIN:VTODO\nUID:a\nDUE;VALUE=DATE:20261103\nEND:VTODO"),
				object("BEGIN:VTODO\nUID:a\nDUE;VALUE=DATE:20261110\nSTATUS:COMPLETED\nEND:VTODO")),
			`changed the event "Lunch": due Tue 10 Nov instead of Tue 3 Nov; status set to "COMPLETED"`,
		},
		{calendar.Change{Did: calendar.Created}, `created the calendar "Work"`},
		{
			calendar.Change{
				Did: calendar.Modified, Before: settings(calendar.Properties{Name: "Job"}),
				After: settings(calendar.Properties{Name: "Work", Color: &color, Hidden: true}),
			},
			`changed the calendar "Work": name changed from "Job" to "Work"; colour set to "#ff0000"; hidden`,
		},
		{shared(calendar.Created, calendar.ReadAccess), `shared the calendar "Work" with "bob" to read`},
		{
			shared(calendar.Modified, calendar.WriteAccess),
			`changed the share of the calendar "Work" with "bob": to read and write, no longer to read`,
		},
		{shared(calendar.Deleted, calendar.NoAccess), `stopped sharing the calendar "Work" with "bob"`},
		{shared(calendar.Declined, calendar.ReadAccess), `declined the calendar "Work"`},
	} {
		tt.change.In, tt.change.At = work, time.Date(2026, 10, 1, 0, 0, 0, 0, time.UTC)
		if got := describe.English(berlin, strconv.Quote).Change(tt.change); got != tt.want {
			t.Errorf("got  %s\nwant %s", got, tt.want)
		}
	}
}
