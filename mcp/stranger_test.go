package mcp

import (
	"strings"
	"testing"

	mcpgo "github.com/mark3labs/mcp-go/mcp"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/internal/testdb"
)

// TestStrangersAreWrittenToWithConsent: the first message to an address is asked about, once for all addresses of a call. If the user
// says no, nothing is stored. Users of this server, and addresses that were written to before, are not asked about.
func TestStrangersAreWrittenToWithConsent(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		h := newHouse(t, url)
		h.reachable(t, "alice", "bob")
		h.put(t, home, "met", wrapped(calendar.Event, "met", "DTSTART:20250303T090000Z", "DURATION:PT1H", "SUMMARY:Old", "ORGANIZER:mailto:alice@example.com",
			"ATTENDEE:mailto:friend@example.net"))
		h.put(t, work, "bait", wrapped(calendar.Event, "bait", "DTSTART:20260305T090000Z", "DURATION:PT1H", "SUMMARY:Bait", "ORGANIZER:mailto:liar@example.net",
			"ATTENDEE;PARTSTAT=NEEDS-ACTION:mailto:alice@example.com"))
		door := h.open(t, h.config())
		meeting := func(more ...string) params {
			return params{"calendar_id": work, "title": "Plans", "start": "2026-03-04T09:30:00Z", "end": "2026-03-04T10:30:00Z", "attendees": more}
		}
		for _, version := range []string{"2025-11-25", "2026-07-28"} {
			p := &person{action: mcpgo.ElicitationResponseActionDecline}
			c := connect(t, door, "alice", version, p)
			before := h.count(t, work)
			eve, mallory := "eve-"+version+"@example.net", "mallory-"+version+"@example.net"
			said, refused := callBy(t, c, "create_event", meeting(eve, mallory, "bob@example.com", "friend@example.net"))
			asked := strings.Join(p.questions(), "|")
			if !refused || !strings.Contains(said, "said no") || strings.Count(asked, "If you accept") != 1 || !strings.Contains(asked, eve) || !strings.Contains(asked, mallory) ||
				strings.Contains(asked, "bob@") || strings.Contains(asked, "friend@") || h.count(t, work) != before {
				t.Errorf("%s: asked %s, then said %s", version, asked, said)
			}
			if said, refused = callBy(t, c, "respond_to_event", params{"calendar_id": work, "event_uid": "bait", "answer": "decline", "comment": "SECRET"}); !refused ||
				!strings.Contains(strings.Join(p.questions(), ""), "liar@example.net") {
				t.Errorf("%s: the answer to a stranger: %s", version, said)
			}
			p.action = mcpgo.ElicitationResponseActionAccept
			if said, refused = callBy(t, c, "create_event", meeting(eve)); refused || len(p.questions()) != 1 {
				t.Errorf("%s: accepted: %s", version, said)
			}
			if said, refused = callBy(t, c, "create_event", meeting(strings.ToUpper(eve), "friend@example.net", "bob@example.com")); refused || len(p.questions()) != 0 {
				t.Errorf("%s: known: %s", version, said)
			}
			changes := []any{}
			for range 6 {
				one := meeting("new-" + version + "@example.net")
				one["tool"] = "create_event"
				changes = append(changes, one)
			}
			if said, refused = callBy(t, c, "change_many", params{"changes": changes}); refused || len(p.questions()) != 2 {
				t.Errorf("%s: many, to a stranger: %s", version, said)
			}
			silent := connect(t, door, "alice", version, nil)
			if said, refused = callBy(t, silent, "create_event", meeting("other-"+version+"@example.net")); refused {
				t.Errorf("%s: a client that cannot ask: %s", version, said)
			}
		}
	})
}
