package mcp

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/internal/testdb"
)

// TestListsNameOthersWithAddresses: people in lists are those other than the user, in a form that tools take.
func TestListsNameOthersWithAddresses(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t))
	h.reachable(t, "alice")
	h.put(t, work, "sync", wrapped(calendar.Event, "sync", "DTSTART:20260303T090000Z", "DURATION:PT1H", "SUMMARY:Sync",
		"ORGANIZER:mailto:alice@example.com", "ATTENDEE;CN=Alice;PARTSTAT=ACCEPTED:mailto:alice@example.com",
		`ATTENDEE;CN="Ray, Bob";PARTSTAT=DECLINED:mailto:bob@example.com`,
		"ATTENDEE;ROLE=OPT-PARTICIPANT:mailto:carol@example.com"))
	door := h.open(t, h.config())
	var v listView
	args := params{"date_range": "2026-03-03", "detail": "full"}
	text := contentText(t, use(t, door, "alice", "list_events", args, &v))
	want := []shown{`"Ray, Bob" <bob@example.com> (NEEDS-ACTION)`, "carol@example.com (optional)"}
	if len(v.Events) != 1 || !slices.Equal(v.Events[0].People, want) ||
		!strings.Contains(text, "carol@example.com (optional)") {
		t.Errorf("%+v %s", v.Events, text)
	}
}

// TestOptionalGuests: guests are optional if the call says so, and stay so when the list is given back.
func TestOptionalGuests(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		h := newHouse(t, url)
		h.reachable(t, "alice")
		door := h.open(t, h.config())
		var made roomResult
		use(t, door, "alice", "create_event", params{
			"calendar_id": work, "title": "Sync", "start": "2026-03-04T10:00",
			"attendees": []string{"Bob Ray <bob@example.com> (optional)", "carol@example.com"},
		}, &made)
		want := []string{"Bob Ray <bob@example.com> (optional, NEEDS-ACTION)", "carol@example.com (NEEDS-ACTION)"}
		if stored := string(h.stored(t, made.UID)); !slices.Equal(made.Attendees, want) ||
			!strings.Contains(stored, "ROLE=OPT-PARTICIPANT") {
			t.Errorf("created: %q", made.Attendees)
		}
		one := params{"calendar_id": work, "event_uid": made.UID, "attendees": made.Attendees}
		use(t, door, "alice", "patch_event", one, &made)
		if !slices.Equal(made.Attendees, want) {
			t.Errorf("given back: %q", made.Attendees)
		}
		one["attendees"] = []string{"bob@example.com (required)", "carol@example.com"}
		use(t, door, "alice", "patch_event", one, &made)
		if !slices.Equal(made.Attendees, []string{"Bob Ray <bob@example.com> (NEEDS-ACTION)", want[1]}) {
			t.Errorf("required: %q", made.Attendees)
		}
	})
}

// TestGuestsWithoutAddress: a name alone is refused with the people and rooms that it may mean, a copied answer with
// its own reason.
func TestGuestsWithoutAddress(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t))
	h.reachable(t, "alice", "bob")
	h.greenRoom(t)
	name := "Bob Ray"
	if err := h.Store.ChangeUser(t.Context(), "bob-id", auth.UserEdit{DisplayName: &name}); err != nil {
		t.Fatal(err)
	}
	h.lend(t, "bob", "Bob's", calendar.ReadAccess, "DTSTART:20260302T080000Z")
	ctx := t.Context()
	if err := errors.Join(
		h.Store.InsertAddress(ctx, "bob-id", auth.Address{Text: "ray@mail.test", Created: noon}),
		h.Store.VerifyAddress(ctx, "bob-id", "ray@mail.test", noon),
	); err != nil {
		t.Fatal(err)
	}
	door := h.open(t, h.config())
	for guest, says := range map[string]string{
		"Bob":                        "Bob Ray \\u003cbob@example.com",
		"bob ray (ACCEPTED)":         "Bob Ray \\u003cbob@example.com",
		"Green room":                 "Green room \\u003cgreen@example.com",
		"Zed":                        "ask the user for the address",
		"bob@example.com (ACCEPTED)": "nobody has been asked yet",
	} {
		said := h.say(t, door, "alice", "create_event", params{
			"calendar_id": work, "title": "x", "start": "2026-03-04T10:00", "end": "2026-03-04T11:00",
			"attendees": []string{guest},
		})
		if !strings.Contains(said, says) {
			t.Errorf("%s: %s", guest, said)
		}
	}
	said := h.say(t, door, "alice", "share_calendar", params{
		"calendar_id": work, "username": "Bob Ray", "permission": "read",
	})
	if !strings.Contains(said, `the user may mean \"bob\" (Bob Ray)`) {
		t.Errorf("share: %s", said)
	}
	var shared sharedView
	use(t, door, "alice", "share_calendar", params{
		"calendar_id": work, "username": "Ray@mail.test", "permission": "read",
	}, &shared)
	if shared.With != "bob" {
		t.Errorf("shared with a second address: %+v", shared)
	}
	var v slotsView
	use(t, door, "alice", "find_time", params{
		"duration_minutes": 60, "date_range": "2026-03-03", "usernames": []string{"Green room"},
	}, &v)
	if len(v.Slots) == 0 {
		t.Errorf("a room by its full name: %+v", v)
	}
}

// TestFlightsLinksAndReminders: lists give an end on the clock of its own zone, the link of a call, and with all
// details the reminders.
func TestFlightsLinksAndReminders(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t))
	h.put(t, work, "flight", wrapped(calendar.Event, "flight", "DTSTART;"+berlin+"20260303T133000",
		"DTEND;TZID=America/New_York:20260303T163500", "SUMMARY:Flight",
		"DESCRIPTION:See https://zoom.us/j/123?pwd=x or call",
		"BEGIN:VALARM", "ACTION:DISPLAY", "TRIGGER:-PT2H", "DESCRIPTION:x", "END:VALARM"))
	door := h.open(t, h.config())
	var v listView
	args := params{"date_range": "2026-03-03", "detail": "full"}
	text := contentText(t, use(t, door, "alice", "list_events", args, &v))
	e := v.Events[0]
	if e.EndThere != "Tue 2026-03-03 16:35 America/New_York" || e.MeetingLink != "https://zoom.us/j/123?pwd=x" ||
		!slices.Equal(e.Alarms, []shown{"2 hours before start"}) {
		t.Errorf("%+v", e)
	}
	for _, word := range []string{
		"ends Tue 2026-03-03 16:35 America/New_York", `call "https://zoom.us/j/123?pwd=x"`,
		"Reminders: 2 hours before start",
	} {
		if !strings.Contains(text, word) {
			t.Errorf("%s is not in %s", word, text)
		}
	}
	var one detailsView
	use(t, door, "alice", "get_event", params{"calendar_id": work, "event_uid": "flight"}, &one)
	if one.MeetingLink != e.MeetingLink {
		t.Errorf("get_event: %+v", one)
	}
}
