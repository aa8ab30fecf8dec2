package google

import (
	"strings"
	"testing"

	"caldav-mcp-server/calendar/mirror"
)

// TestRuleInGooglesWords: Google returns a rule in its own words. A new meeting is sent, and its guests are told, once.
func TestRuleInGooglesWords(t *testing.T) {
	server, a := begin(t)
	held := put(t, a, mirror.Object{UID: "u1", Data: event("RRULE:FREQ=DAILY;INTERVAL=1;COUNT=10",
		"ORGANIZER:mailto:"+work, "ATTENDEE:mailto:"+work, "ATTENDEE:mailto:eve@example.net")})
	if n := len(server.Taken()); n != 1 {
		t.Errorf("a new event is sent %d times: %v", n, server.Taken())
	}
	held.Data = []byte(strings.Replace(string(held.Data), "SUMMARY:Planning", "SUMMARY:Renamed", 1))
	held.Data = []byte(strings.Replace(string(held.Data), "FREQ=DAILY", "INTERVAL=1;FREQ=DAILY", 1)) // as Apple writes
	put(t, a, held)
	if all := server.Taken(); len(all) != 2 || all[1].Body["recurrence"] != nil {
		t.Errorf("a new title: %v", all)
	}
}

// TestRestoredSequence: Google refuses a sequence below the one that a deleted event had.
func TestRestoredSequence(t *testing.T) {
	_, a := begin(t)
	held := put(t, a, mirror.Object{UID: "u1", Data: event()})
	held.Data = []byte(strings.NewReplacer("0310T100000", "0311T100000", "0310T110000", "0311T110000").
		Replace(string(held.Data)))
	held = put(t, a, held)
	if err := a.Delete(t.Context(), work, held); err != nil {
		t.Fatal(err)
	}
	put(t, a, mirror.Object{UID: "u1", Data: event()})
}

// TestOnlyGooglesFields: fields that Google adds to each event are no changes, and no data of their own.
func TestOnlyGooglesFields(t *testing.T) {
	server, a := begin(t)
	held := put(t, a, mirror.Object{UID: "u1", Data: event("CLASS:PUBLIC", "TRANSP:OPAQUE", "LOCATION:Café")})
	if strings.Contains(string(held.Data), restName) {
		t.Errorf("%s", held.Data)
	}
	put(t, a, held)
	if n := len(server.Taken()); n != 1 {
		t.Errorf("what is as it was is sent: %v", server.Taken())
	}
}
