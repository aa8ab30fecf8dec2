package mcp

import (
	"strings"
	"testing"

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
