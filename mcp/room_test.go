package mcp

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/internal/testdb"
)

// greenRoom makes a room that is taken on 3 March from 10:00 to 11:00 in Berlin.
func (h *house) greenRoom(t *testing.T) {
	t.Helper()
	room := calendar.User{
		ID: "green-id", Name: "green", Email: "green@example.com", DisplayName: "Green room", Created: noon,
		Room: calendar.Room{Kind: calendar.RoomToMeet, Capacity: 3, Bookers: calendar.Anybody},
	}
	h.Admit(t, room)
	h.callers["green"] = calendar.Caller{User: room, Scopes: calendar.ScopeAll}
	cal, err := h.service.CreateCalendar(t.Context(), h.callers["green"], calendar.NewCalendar{Segment: "bookings"})
	if err != nil {
		t.Fatal(err)
	}
	taken := wrapped(calendar.Event, "taken", "DTSTART:20260303T090000Z", "DTEND:20260303T100000Z", "SUMMARY:Secret")
	if _, err := h.service.Put(t.Context(), h.callers["green"], cal, calendar.Draft{
		Name: "taken.ics", Data: []byte(taken),
	}); err != nil {
		t.Fatal(err)
	}
}

// roomResult is the part of a result that tells of rooms.
type roomResult struct {
	UID       string
	ETag      string
	Attendees []string
	Told      []string
	Declined  []string
	Changes   []struct {
		UID      string
		Declined []string
	}
}

// TestRoomsAnswerInTheResult: a room that declines is named in the result of the change that invites it, and is not
// among the people who were told.
func TestRoomsAnswerInTheResult(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		h := newHouse(t, url)
		h.reachable(t, "alice", "bob")
		h.greenRoom(t)
		door := h.open(t, h.config())
		const refused = "Green room <green@example.com>: taken Tue 2026-03-03, 10:00–11:00"
		expect := func(step string, got roomResult, declined []string, told ...string) {
			t.Helper()
			if !slices.Equal(got.Declined, declined) || !slices.Equal(got.Told, told) {
				t.Errorf("%s: declined %q, told %q, attendees %q", step, got.Declined, got.Told, got.Attendees)
			}
		}
		create := params{
			"calendar_id": work, "title": "Clash", "start": "2026-03-03T10:30", "end": "2026-03-03T11:30",
			"attendees": []string{"Green room <green@example.com>", "bob@example.com"},
		}
		var got, moved roomResult
		use(t, door, "alice", "create_event", create, &got)
		expect("create", got, []string{refused}, "bob@example.com")
		if !slices.Contains(got.Attendees, "Green room <green@example.com> (DECLINED)") {
			t.Errorf("attendees: %q", got.Attendees)
		}
		use(t, door, "alice", "move_event", params{
			"calendar_id": work, "event_uid": got.UID, "new_start": "2026-03-03T12:00", "if_match": got.ETag,
		}, &moved)
		expect("moved to a free time", moved, nil, "green@example.com", "bob@example.com")
		moved = roomResult{}
		use(t, door, "alice", "move_event", params{
			"calendar_id": work, "event_uid": got.UID, "new_start": "2026-03-03T10:00",
		}, &moved)
		expect("moved back", moved, []string{refused}, "bob@example.com")
		moved = roomResult{}
		use(t, door, "alice", "patch_event", params{
			"calendar_id": work, "event_uid": got.UID, "start": "2026-03-04T10:00", "end": "2026-03-04T11:00",
			"add_attendees": []string{"c@example.com", "d@example.com"},
		}, &moved)
		expect("too many people", moved, []string{
			"Green room <green@example.com>: It takes 3 people, and 4 take part.",
		},
			"bob@example.com", "c@example.com (by mail, within a minute)", "d@example.com (by mail, within a minute)")
	})
}

// TestPreviewAsksRooms: a preview names the rooms that are taken, but not because of the event that it moves. After the
// commit the rooms' own answers count.
func TestPreviewAsksRooms(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		h := newHouse(t, url)
		h.reachable(t, "alice", "bob")
		h.greenRoom(t)
		door := h.open(t, h.config())
		var first roomResult
		use(t, door, "alice", "create_event", params{
			"calendar_id": work, "title": "Fits", "start": "2026-03-03T12:00", "end": "2026-03-03T13:00",
			"attendees": []string{"green@example.com"},
		}, &first)
		changes := []any{
			params{
				"tool": "create_event", "calendar_id": work, "title": "Clash", "start": "2026-03-03T10:30",
				"attendees": []string{"green@example.com"},
			},
			params{
				"tool": "move_event", "calendar_id": work, "event_uid": first.UID, "new_start": "2026-03-03T12:30",
			},
		}
		const refused = "green@example.com: taken Tue 2026-03-03, 10:00–11:00"
		for _, preview := range []bool{true, false} {
			var many roomResult
			text := contentText(t, use(t, door, "alice", "change_many", params{
				"changes": changes, "preview": preview,
			}, &many))
			want := fmt.Sprintf("[%s] [] []", refused)
			if !preview {
				want = fmt.Sprintf("[%s] [] [green@example.com]", refused) // for the event that it accepts
			}
			if got := fmt.Sprint(many.Changes[0].Declined, many.Changes[1].Declined, many.Told); got != want {
				t.Errorf("preview %t: %s", preview, got)
			}
			if !strings.Contains(text, refused) {
				t.Errorf("preview %t: %s", preview, text)
			}
		}
	})
}
