package mcp

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/mirror"
	"caldav-mcp-server/calendar/service"
	"caldav-mcp-server/internal/testdb"
)

// brittle is an account with two calendars. It refuses writes to the second one with its error.
type brittle struct{ err error }

func (brittle) Calendars(context.Context) ([]mirror.Remote, error) {
	return []mirror.Remote{{ID: "a", Name: "Sound", Writable: true}, {ID: "b", Name: "Brittle", Writable: true}}, nil
}

func (brittle) Changes(context.Context, string, string) (mirror.Changes, error) {
	return mirror.Changes{Cursor: "1", Whole: true}, nil
}

func (b brittle) Put(_ context.Context, remote string, o mirror.Object) (mirror.Object, error) {
	if remote == "b" {
		return o, b.err
	}
	o.Ref, o.Version, o.Data = o.UID, "1", nil
	return o, nil
}

func (b brittle) Delete(context.Context, string, mirror.Object) error { return b.err }

// TestTroubleOfALinkedAccount: an error says when to try again, where to link the account again, and which of several
// changes stand at their source. The status of the account is what the last write met.
func TestTroubleOfALinkedAccount(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		h := newHouse(t, url)
		account := &brittle{}
		config := h.middle()
		config.Providers["far"] = mirror.Provider{
			Title: "Far", Every: time.Hour, Address: func(mirror.Secret) string { return "far.example" },
			Open: func(mirror.Opening) (mirror.Source, error) { return account, nil },
		}
		h.service = service.New(config)
		alice := h.callers["alice"]
		alice.Token = ""
		linked, _, err := h.service.Mirrors.Link(t.Context(), alice, mirror.NewAccount{Provider: "far", Name: "Far"})
		if err != nil {
			t.Fatal(err)
		}
		door := h.open(t, h.config())
		cals := map[string]calendar.CalendarID{}
		for _, c := range linked.Calendars {
			cals[c.Name] = c.ID
		}
		event := func(in, title string) map[string]any {
			return map[string]any{
				"tool": "create_event", "calendar_id": cals[in], "title": title,
				"start": "2026-03-05T10:00", "end": "2026-03-05T11:00",
			}
		}
		account.err = &mirror.Later{After: 6500 * time.Millisecond, Why: "the account's server asks us to wait"}
		one := event("Brittle", "One")
		delete(one, "tool")
		if said := h.say(t, door, "alice", "create_event", one); !strings.Contains(said, "Far is busy") ||
			!strings.Contains(said, "try again in 7 seconds") {
			t.Errorf("busy: %s", said)
		}
		many := map[string]any{"changes": []any{event("Sound", "Two"), event("Brittle", "Three")}}
		if said := h.say(t, door, "alice", "change_many", many); !strings.Contains(said,
			"(made: change 1; not made: change 2)") || !strings.Contains(said, "try again in 7 seconds") {
			t.Errorf("several: %s", said)
		}
		account.err = mirror.ErrSignIn
		page := "open https://cal.example/dav/account/linked, sign in here and link it again"
		if said := h.say(t, door, "alice", "create_event", one); !strings.Contains(said, page) {
			t.Errorf("signed out: %s", said)
		}
		var status struct {
			Linked []struct{ Status string }
		}
		use(t, door, "alice", "calendar_auth_status", nil, &status)
		if diff := cmp.Diff([]struct{ Status string }{{"sign in again"}}, status.Linked); diff != "" {
			t.Errorf("the status, -want +got\n%s", diff)
		}
	})
}

// claiming is an account at a server of the user's choice, which says that the account has somebody else's address.
type claiming struct{ brittle }

func (claiming) Calendars(context.Context) ([]mirror.Remote, error) {
	return []mirror.Remote{{ID: "a", Name: "Claimed", Writable: true, Address: "bob@example.com"}}, nil
}

func (claiming) Changes(context.Context, string, string) (mirror.Changes, error) {
	return mirror.Changes{Cursor: "1", Whole: true, Objects: []mirror.Object{{
		Ref: "r", Version: "1", UID: "r", Data: []byte(wrapped(calendar.Event, "r", "DTSTART:20260305T090000Z",
			"DTEND:20260305T100000Z", "SUMMARY:Review", "ORGANIZER:mailto:bob@example.com",
			"ATTENDEE;PARTSTAT=NEEDS-ACTION:mailto:carol@example.com")),
	}}}, nil
}

// TestAClaimedAddressProvesNothing: the address that a server of the user's choice claims is a mere name. It is no
// address of the user, and no mark of foreign text goes; that its guests are told is not promised.
func TestAClaimedAddressProvesNothing(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		h := newHouse(t, url)
		h.reachable(t, "alice", "bob")
		config := h.middle()
		config.Providers["far"] = mirror.Provider{
			Title: "Far", Every: time.Hour, Address: func(mirror.Secret) string { return "far.example" },
			Open: func(mirror.Opening) (mirror.Source, error) { return claiming{}, nil },
		}
		h.service = service.New(config)
		alice := h.callers["alice"]
		alice.Token = ""
		linked, _, err := h.service.Mirrors.Link(t.Context(), alice, mirror.NewAccount{Provider: "far", Name: "Far"})
		if err != nil {
			t.Fatal(err)
		}
		door, cal := h.open(t, h.config()), linked.Calendars[0].ID
		var seen struct {
			Untrusted string `json:"untrusted_text_by"`
			toldIn
		}
		use(t, door, "alice", "get_event", map[string]any{"calendar_id": cal, "event_uid": "r"}, &seen)
		if seen.Untrusted != "bob@example.com" {
			t.Errorf("the text is untrusted by %q", seen.Untrusted)
		}
		use(t, door, "alice", "create_event", map[string]any{
			"calendar_id": cal, "title": "Guests", "start": "2026-03-04T10:00", "end": "2026-03-04T11:00",
			"attendees": []string{"eve@corp.test"},
		}, &seen)
		if seen.Told != nil || !strings.Contains(seen.Why, "the user must tell them") {
			t.Errorf("told %q, nobody %q", seen.Told, seen.Why)
		}
		found, err := h.Store.UsersAt(t.Context(), []string{"bob@example.com"}, nil)
		if err != nil || len(found) != 1 || found[0].Name != "bob" {
			t.Errorf("bob's address finds %v, %v", found, err)
		}
	})
}
