package mcp

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/internal/testdb"
)

// TestCommentsReachTheOrganizer: what a guest says with an answer is in the organizer's event, beside the guest, as
// another person's text. Other guests do not see it, and it goes when the organizer asks again.
func TestCommentsReachTheOrganizer(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		h := newHouse(t, url)
		carol := calendar.User{ID: "carol-id", Name: "carol", Created: noon}
		h.Admit(t, carol)
		h.callers["carol"] = calendar.Caller{User: carol, Scopes: calendar.ScopeAll, Token: "token-carol"}
		h.reachable(t, "alice", "bob", "carol")
		h.calendar(t, "carol", calendar.Properties{Name: "Carol's"})
		door := h.open(t, h.config())
		var made toldIn
		use(t, door, "alice", "create_event", map[string]any{
			"calendar_id": work, "title": "Review", "start": "2026-03-05T09:00", "end": "2026-03-05T10:00",
			"attendees": []string{"bob@example.com", "carol@example.com"},
		}, &made)
		type comment struct {
			Comment   string
			Untrusted string `json:"untrusted_text_by"`
		}
		commented := func(token, cal string) []comment {
			var v struct {
				Comments []comment `json:"attendee_comments"`
			}
			use(t, door, token, "get_event", map[string]any{"calendar_id": cal, "event_uid": made.UID}, &v)
			return v.Comments
		}
		invited := map[string]string{}
		for _, token := range []string{"bob", "carol"} {
			var waiting invitationsOf
			use(t, door, token, "list_invitations", nil, &waiting)
			invited[token] = waiting.Invitations[0].Calendar
		}
		respond := func(token, answer, text string) {
			var now toldIn
			use(t, door, token, "respond_to_event", map[string]any{
				"calendar_id": invited[token], "event_uid": made.UID, "answer": answer, "comment": text,
			}, &now)
			if diff := cmp.Diff([]string{"alice@example.com"}, now.Told); diff != "" {
				t.Errorf("%s says %q, told -want +got\n%s", token, text, diff)
			}
		}
		respond("bob", "decline", "On \"holiday\";\nthat, day")
		if diff := cmp.Diff([]comment{{"On \"holiday\";\nthat, day", "bob@example.com"}},
			commented("alice", string(work))); diff != "" {
			t.Errorf("-want +got\n%s", diff)
		}
		if text := h.say(t, door, "alice", "get_event",
			map[string]any{"calendar_id": work, "event_uid": made.UID}); !strings.Contains(text, "that, day") {
			t.Errorf("the text half: %s", text)
		}
		respond("bob", "decline", "In Rome")
		if diff := cmp.Diff([]comment{{"In Rome", "bob@example.com"}}, commented("alice", string(work))); diff != "" {
			t.Errorf("the same answer with another comment, -want +got\n%s", diff)
		}
		if seen := commented("carol", invited["carol"]); seen != nil {
			t.Errorf("carol sees %v", seen)
		}
		use(t, door, "alice", "move_event", map[string]any{
			"calendar_id": work, "event_uid": made.UID, "new_start": "2026-03-06T09:00",
		}, &made)
		if left := commented("alice", string(work)); left != nil {
			t.Errorf("after the question is asked again: %v", left)
		}
	})
}

// TestCommentsOnCancellations: guests see why a meeting is off, by mail and in their calendars, and the organizer sees
// why a guest has thrown an invitation away.
func TestCommentsOnCancellations(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		h := newHouse(t, url)
		h.reachable(t, "alice", "bob")
		door := h.open(t, h.config())
		var made toldIn
		create := params{
			"calendar_id": work, "title": "Review", "start": "2026-03-05T09:00", "end": "2026-03-05T10:00",
			"rrule": "FREQ=DAILY;COUNT=3", "attendees": []string{"bob@example.com", "zoe@example.net"},
		}
		use(t, door, "alice", "create_event", create, &made)
		var waiting invitationsOf
		use(t, door, "bob", "list_invitations", nil, &waiting)
		copied := params{"calendar_id": waiting.Invitations[0].Calendar, "event_uid": made.UID}
		letters := func() (list []string) {
			t.Helper()
			h.Pass(time.Minute)
			taken, err := h.Store.TakeLetters(t.Context(), h.Now(), h.Now().Add(time.Minute), 100)
			if err != nil {
				t.Fatal(err)
			}
			for _, l := range taken {
				if err := h.Store.ConcludeLetter(t.Context(), l, true, h.Now(), 1<<20); err != nil {
					t.Fatal(err)
				}
				list = append(list, string(l.Data))
			}
			return list
		}
		letters()
		const why = "The room has no \"roof\"; sorry"
		use(t, door, "alice", "delete_event", params{
			"calendar_id": work, "event_uid": made.UID, "recurrence_id": "20260306T080000Z",
			"scope": "this", "comment": why,
		}, new(any))
		const line = `COMMENT:The room has no "roof"\; sorry`
		if sent := letters(); len(sent) != 1 || !strings.Contains(sent[0], line) ||
			!strings.Contains(sent[0], "METHOD:CANCEL") {
			t.Errorf("for one day: %q", sent)
		}
		use(t, door, "alice", "delete_event", params{
			"calendar_id": work, "event_uid": made.UID, "comment": why, "scope": "all",
		}, new(any))
		if sent := letters(); len(sent) != 1 || !strings.Contains(sent[0], line) {
			t.Errorf("for the series: %q", sent)
		}
		var seen detailsView
		text := contentText(t, use(t, door, "bob", "get_event", copied, &seen))
		if len(seen.Comments) != 1 || seen.Comments[0] != (attendeeComment{why, "alice@example.com"}) ||
			!strings.Contains(text, "untrusted") {
			t.Errorf("bob sees %+v: %s", seen.Comments, text)
		}
		// A guest throws an invitation away, in a list of changes.
		delete(create, "rrule")
		use(t, door, "alice", "create_event", create, &made)
		use(t, door, "bob", "list_invitations", nil, &waiting)
		use(t, door, "bob", "change_many", params{"changes": []params{{
			"tool": "delete_event", "calendar_id": waiting.Invitations[0].Calendar, "event_uid": made.UID,
			"comment": "On holiday",
		}}}, new(any))
		use(t, door, "alice", "get_event", params{"calendar_id": work, "event_uid": made.UID}, &seen)
		if len(seen.Comments) != 1 || seen.Comments[0] != (attendeeComment{"On holiday", "bob@example.com"}) {
			t.Errorf("alice sees %+v", seen.Comments)
		}
		h.put(t, work, "alone", wrapped(calendar.Event, "alone", "DTSTART:20260303T090000Z", "SUMMARY:Alone"))
		if said := refusalOf(t, door, "alice", "delete_event", `{"calendar_id":"`+string(work)+
			`","event_uid":"alone","comment":"x"}`); !strings.Contains(said, "no others") {
			t.Errorf("without guests: %s", said)
		}
	})
}
