package mcp

import (
	"strings"
	"testing"

	"caldav-mcp-server/internal/testdb"
)

// TestTokensGoByNameOrID: list_changes and undo_change accept the names of tokens in texts; an unknown one is refused
// with the list of known ones, and never reported as having changed nothing (mcp B2).
func TestTokensGoByNameOrID(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		h := newHouse(t, url)
		for token, name := range map[string]string{"alice": "core", "alice-other": "phone", "alice-write": "Phone"} {
			c := h.callers[token]
			c.Agent = name
			h.callers[token] = c
		}
		door := h.open(t, h.config())
		add := func(token, title string) {
			h.say(t, door, token, "create_event", params{
				"calendar_id": work, "title": title,
				"start": "2026-03-03T09:00:00", "end": "2026-03-03T10:00:00",
			})
		}
		add("alice-other", "Spam")
		for token, want := range map[string]int{
			"phone": 1, "PHONE": 1, "token-b": 1, "own": 0, "core": 0,
			"token-a": 0,
		} {
			var v changesView
			use(t, door, "alice", "list_changes", params{
				"token": token, "calendar_id": work,
				"since": "2026-03-01T13:00:00",
			}, &v)
			got := 0
			for _, c := range v.Changes {
				if c.Title == "Spam" {
					got++
				}
			}
			if got != want {
				t.Errorf("by %s: %d changes %+v, want %d", token, got, v.Changes, want)
			}
		}
		var v undoView
		use(t, door, "alice", "undo_change", params{"since": "2026-03-01", "token": "phone", "preview": true}, &v)
		if len(v.Undone) != 1 {
			t.Errorf("a preview by the name: %+v", v)
		}
		for tool, args := range map[string]string{
			"list_changes": `{"token":"tablet"}`,
			"undo_change":  `{"token":"tablet","since":"2026-03-01"}`,
		} {
			if said := refusalOf(t, door, "alice", tool, args); !strings.Contains(said, "tablet") ||
				!strings.Contains(said, "token-b") || strings.Contains(said, "since 2026") {
				t.Errorf("%s by an unknown token: %s", tool, said)
			}
		}
		add("alice-write", "Ham")
		if said := refusalOf(t, door, "alice", "list_changes", `{"token":"phone"}`); !strings.Contains(said,
			"token-b") || !strings.Contains(said, "token-d") {
			t.Errorf("by a name that two have: %s", said)
		}
		if said := refusalOf(t, door, "bob", "list_changes", `{"token":"phone"}`); strings.Contains(said, "token-b") {
			t.Errorf("bob is told of tokens of alice's: %s", said)
		}
	})
}
