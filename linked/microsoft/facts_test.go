package microsoft

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"caldav-mcp-server/calendar/mirror"
	"caldav-mcp-server/linked/microsoft/graphtest"
)

// only returns the only event of the fake.
func only(t *testing.T, server *graphtest.Server) graphtest.Event {
	t.Helper()
	for _, e := range server.Events() {
		return e
	}
	t.Fatal("no event")
	return nil
}

// TestPlaceAsGraphReturnsIt: Graph adds fields to a location and repeats it in locations. Neither is data of its own.
func TestPlaceAsGraphReturnsIt(t *testing.T) {
	server, a := begin(t)
	held := put(t, a, mirror.Object{UID: "u1", Data: event("LOCATION:Café")})
	if strings.Contains(string(held.Data), restName) {
		t.Errorf("the place is kept twice:\n%s", held.Data)
	}
	held.Data = []byte(strings.Replace(string(held.Data), "LOCATION:Café", "LOCATION:Library", 1))
	put(t, a, held)
	if e := only(t, server); !strings.Contains(fmt.Sprint(e["location"]), "Library") ||
		strings.Contains(fmt.Sprint(e["locations"]), "Café") {
		t.Errorf("%v and %v", e["location"], e["locations"])
	}
}

// TestSeveralPlaces: an event with several locations that gets another place, and is made anew elsewhere, has only that
// one.
func TestSeveralPlaces(t *testing.T) {
	server, a := begin(t)
	put(t, a, mirror.Object{UID: "u1", Data: event("LOCATION:Café")})
	there := only(t, server)
	there["locations"] = []any{map[string]any{"displayName": "Café"}, map[string]any{"displayName": "Garden"}}
	server.Set(there)
	held := changes(t, a, "").Objects[0]
	if !strings.Contains(strings.ReplaceAll(string(held.Data), "\r\n ", ""), "Garden") {
		t.Fatalf("the second place is lost:\n%s", held.Data)
	}
	text := strings.Replace(string(held.Data), "LOCATION:Café", "LOCATION:Library", 1)
	put(t, a, mirror.Object{UID: "u2", Data: []byte(strings.Replace(text, "UID:u1", "UID:u2", 1))})
	for _, e := range server.Events() {
		if e["transactionId"] == "caldav:u2" && strings.Contains(fmt.Sprint(e["locations"]), "Garden") {
			t.Errorf("%v and %v", e["location"], e["locations"])
		}
	}
}

// TestSeriesMovedToAnotherDay: the range of a rule begins on the day of the event, so both are sent together.
func TestSeriesMovedToAnotherDay(t *testing.T) {
	_, a := begin(t)
	held := put(t, a, mirror.Object{UID: "u1", Data: event("RRULE:FREQ=DAILY;COUNT=10")})
	held.Data = []byte(strings.NewReplacer("20260310T100000", "20260311T100000", "20260310T110000", "20260311T110000").
		Replace(string(held.Data)))
	if held = put(t, a, held); !strings.Contains(string(held.Data), "DTSTART;TZID=Europe/Berlin:20260311T100000") {
		t.Errorf("%s", held.Data)
	}
}

// TestInstanceBeyondTheNext: Graph lets no instance pass the one before or after it.
func TestInstanceBeyondTheNext(t *testing.T) {
	_, a := begin(t)
	held := put(t, a, mirror.Object{UID: "u1", Data: event("RRULE:FREQ=DAILY;COUNT=10")})
	held.Data = event("RRULE:FREQ=DAILY;COUNT=10", "END:VEVENT", "BEGIN:VEVENT", "UID:u1", "DTSTAMP:20260101T000000Z",
		"RECURRENCE-ID;TZID=Europe/Berlin:20260312T100000", "DTSTART;TZID=Europe/Berlin:20260314T150000",
		"DTEND;TZID=Europe/Berlin:20260314T160000", "SUMMARY:Moved")
	_, err := a.Put(t.Context(), "cal", held)
	if _, refused := errors.AsType[*mirror.Refusal](err); !refused || !strings.Contains(err.Error(), "adjacent") {
		t.Errorf("%v", err)
	}
}

// TestLongLists: Graph pages every list, not only delta queries.
func TestLongLists(t *testing.T) {
	server, a := begin(t)
	server.PageSize = 2
	for i := range 5 {
		uid := fmt.Sprintf("u%d", i)
		text := strings.Replace(string(event("URL:https://example.org/"+uid)), "UID:u1", "UID:"+uid, 1)
		put(t, a, mirror.Object{UID: uid, Data: []byte(text)})
	}
	for _, o := range changes(t, a, "").Objects {
		if !strings.Contains(string(o.Data), "URL:https://example.org/"+o.UID) {
			t.Errorf("no URL:\n%s", o.Data)
		}
	}
	_, err := a.Put(t.Context(), "cal", mirror.Object{UID: "u1", Data: event()})
	if !errors.Is(err, mirror.ErrConflict) {
		t.Errorf("a UID on a later page is made twice: %v", err)
	}
}

// TestUntoldReminder: Graph turns a reminder on where none is sent.
func TestUntoldReminder(t *testing.T) {
	server, a := begin(t)
	held := put(t, a, mirror.Object{UID: "u1", Data: event()})
	if strings.Contains(string(held.Data), "VALARM") || only(t, server)["isReminderOn"] != false {
		t.Errorf("an event without an alarm has one:\n%s", held.Data)
	}
}

// TestMovedOutOfTheWindow: Graph reports an event that leaves the window as removed.
func TestMovedOutOfTheWindow(t *testing.T) {
	server, a := begin(t)
	held := put(t, a, mirror.Object{UID: "u1", Data: event()})
	from := changes(t, a, "").Cursor
	e := only(t, server)
	e["start"] = map[string]any{"dateTime": "2030-03-10T09:00:00", "timeZone": "UTC"}
	e["end"] = map[string]any{"dateTime": "2030-03-10T10:00:00", "timeZone": "UTC"}
	server.Set(e)
	if c := changes(t, a, from); len(c.Gone) != 1 || c.Gone[0] != held.Ref {
		t.Errorf("%+v", c)
	}
}
