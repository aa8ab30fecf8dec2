package mcp

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	mcpgo "github.com/mark3labs/mcp-go/mcp"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/mirror"
	"caldav-mcp-server/internal/testdb"
)

// TestStrangersAreWrittenToWithConsent: the first message to an address is asked about, once for all addresses of a
// call. If the user says no, nothing is stored. Users of this server, and addresses that were written to before, are
// not asked about.
func TestStrangersAreWrittenToWithConsent(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		h := newHouse(t, url)
		h.reachable(t, "alice", "bob")
		h.put(t, home, "met", wrapped(calendar.Event, "met", "DTSTART:20250303T090000Z", "DURATION:PT1H", "SUMMARY:Old",
			"ORGANIZER:mailto:alice@example.com",
			"ATTENDEE:mailto:friend@example.net"))
		h.put(t, work, "bait", wrapped(calendar.Event, "bait", "DTSTART:20260305T090000Z", "DURATION:PT1H",
			"SUMMARY:Bait", "ORGANIZER:mailto:liar@example.net",
			"ATTENDEE;PARTSTAT=NEEDS-ACTION:mailto:alice@example.com"))
		door := h.open(t, h.config())
		meeting := func(more ...string) params {
			return params{
				"calendar_id": home, "title": "Plans", "start": "2026-03-04T09:30:00Z",
				"end": "2026-03-04T10:30:00Z", "attendees": more,
			}
		}
		for _, version := range []string{"2025-11-25", "2026-07-28"} {
			p := &person{action: mcpgo.ElicitationResponseActionDecline}
			c := connect(t, door, "alice", version, p)
			before := h.count(t, home)
			eve, mallory := "eve-"+version+"@example.net", "mallory-"+version+"@example.net"
			said, refused := callBy(t, c, "create_event", meeting(eve, mallory, "bob@example.com",
				"friend@example.net"))
			asked := strings.Join(p.questions(), "|")
			if !refused || !strings.Contains(said, "declined") || strings.Count(asked, "If you accept") != 1 ||
				!strings.Contains(asked, eve) || !strings.Contains(asked, mallory) ||
				strings.Contains(asked, "bob@") || strings.Contains(asked, "friend@") || h.count(t, home) != before {
				t.Errorf("%s: asked %s, then said %s", version, asked, said)
			}
			if said, refused = callBy(t, c, "respond_to_event", params{
				"calendar_id": work, "event_uid": "bait",
				"answer": "decline", "comment": "SECRET",
			}); !refused ||
				!strings.Contains(strings.Join(p.questions(), ""), "liar@example.net") {
				t.Errorf("%s: the answer to a stranger: %s", version, said)
			}
			p.action = mcpgo.ElicitationResponseActionAccept
			if said, refused = callBy(t, c, "create_event", meeting(eve)); refused || len(p.questions()) != 1 {
				t.Errorf("%s: accepted: %s", version, said)
			}
			if said, refused = callBy(t, c, "create_event", meeting(strings.ToUpper(eve), "friend@example.net",
				"bob@example.com")); refused || len(p.questions()) != 0 {
				t.Errorf("%s: known: %s", version, said)
			}
			changes := []any{}
			for range 6 {
				one := meeting("new-" + version + "@example.net")
				one["tool"] = "create_event"
				changes = append(changes, one)
			}
			if said, refused = callBy(t, c, "change_many", params{"changes": changes}); refused ||
				len(p.questions()) != 2 {
				t.Errorf("%s: many, to a stranger: %s", version, said)
			}
			silent := connect(t, door, "alice", version, nil)
			if said, refused = callBy(t, silent, "create_event", meeting("other-"+version+"@example.net")); refused {
				t.Errorf("%s: a client that cannot ask: %s", version, said)
			}
		}
	})
}

// TestNobodyIsMadeKnownInSilence: an event of which an address is told nothing does not make the address one that the
// user has written to.
func TestNobodyIsMadeKnownInSilence(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		h := newHouse(t, url)
		h.reachable(t, "alice")
		h.put(t, home, "muted", wrapped(calendar.Event, "muted", "DTSTART:20260305T090000Z", "DURATION:PT1H",
			"SUMMARY:Muted", "ORGANIZER:mailto:alice@example.com",
			"ATTENDEE;SCHEDULE-AGENT=NONE:mailto:muted@example.net"))
		p := &person{action: mcpgo.ElicitationResponseActionDecline}
		c := connect(t, h.open(t, h.config()), "alice", "2025-11-25", p)
		meeting := func(start, status, guest string) params {
			return params{
				"calendar_id": home, "title": "Plans", "start": start, "status": status,
				"attendees": []string{guest + "@example.net"},
			}
		}
		const over, toCome = "2020-03-04T09:30:00Z", "2026-03-04T09:30:00Z"
		if said, refused := callBy(t, c, "create_event", meeting(over, "CONFIRMED", "over")); !refused ||
			len(p.questions()) != 1 {
			t.Errorf("an event that is over: %s", said)
		}
		if said, refused := callBy(t, c, "create_event", meeting(toCome, "CANCELLED", "off")); refused ||
			len(p.questions()) != 0 {
			t.Errorf("a cancelled event: %s", said)
		}
		for _, guest := range []string{"over", "off", "muted"} {
			if said, refused := callBy(t, c, "create_event", meeting(toCome, "CONFIRMED", guest)); !refused ||
				len(p.questions()) != 1 {
				t.Errorf("%s is written to: %s", guest, said)
			}
		}
	})
}

// writableAccount is an account with one calendar, which accepts and counts writes.
type writableAccount struct{ puts *int }

func (writableAccount) Calendars(context.Context) ([]mirror.Remote, error) {
	return []mirror.Remote{{ID: "one", Name: "Elsewhere", Writable: true}}, nil
}

func (writableAccount) Changes(context.Context, string, string) (mirror.Changes, error) {
	return mirror.Changes{Cursor: "1", Whole: true}, nil
}

func (a writableAccount) Put(_ context.Context, _ string, o mirror.Object) (mirror.Object, error) {
	*a.puts++
	return mirror.Object{Ref: o.UID, Version: "1", UID: o.UID}, nil
}

func (writableAccount) Delete(context.Context, string, mirror.Object) error {
	return errors.ErrUnsupported
}

// TestStrangersAreInvitedElsewhereWithConsent: the source of a linked calendar invites attendees itself. It is asked to
// after the user agreed.
func TestStrangersAreInvitedElsewhereWithConsent(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		h := newHouse(t, url)
		h.reachable(t, "alice", "bob")
		account := writableAccount{new(int)}
		h.service.Mirrors.Providers = map[string]mirror.Provider{"cal": {
			Title: "Account", Every: time.Hour, Open: func(mirror.Opening) (mirror.Source, error) {
				return account,
					nil
			}, Address: func(mirror.Secret) string { return "cal.example" },
		}}
		linked, _, err := h.service.Mirrors.Link(t.Context(), h.callers["bob"], mirror.NewAccount{
			Provider: "cal",
			Name:     "bob@example.com", Secret: mirror.Secret{Username: "bob"},
		})
		if err != nil {
			t.Fatal(err)
		}
		p := &person{action: mcpgo.ElicitationResponseActionDecline}
		c := connect(t, h.open(t, h.config()), "bob", "2025-11-25", p)
		meeting := params{
			"calendar_id": linked.Calendars[0].ID, "title": "Plans", "start": "2026-03-04T09:30:00Z",
			"end": "2026-03-04T10:30:00Z", "attendees": []string{"eve@example.net"},
		}
		said, refused := callBy(t, c, "create_event", meeting)
		if asked := p.questions(); !refused || len(asked) != 1 || !strings.Contains(asked[0], "eve@example.net") ||
			*account.puts != 0 {
			t.Errorf("asked %q, %d written elsewhere, then said %s", asked, *account.puts, said)
		}
		p.action = mcpgo.ElicitationResponseActionAccept
		if said, refused = callBy(t, c, "create_event", meeting); refused || len(p.questions()) != 1 ||
			*account.puts != 1 {
			t.Errorf("accepted: %d written elsewhere: %s", *account.puts, said)
		}
		if said, refused = callBy(t, c, "create_event", meeting); refused || len(p.questions()) != 0 ||
			*account.puts != 2 {
			t.Errorf("known: %d written elsewhere: %s", *account.puts, said)
		}
	})
}
