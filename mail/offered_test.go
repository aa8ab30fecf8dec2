package mail_test

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/internal/testdb"
	"caldav-mcp-server/mail"
)

// offerHouse is a house in which bob shares a calendar with alice, who is to accept it.
type offerHouse struct {
	*house
	offers *mail.Offers
	share  calendar.Share
}

func newOffers(t *testing.T, database string) *offerHouse {
	t.Helper()
	h := &offerHouse{house: newHouse(t, database)}
	h.offers = &mail.Offers{
		Store: h.Store, Host: "cal.example.org",
		Page: &url.URL{Scheme: "https", Host: "cal.example.org", Path: "/account/invitations"},
		Most: calendar.DefaultLimits().Outbox, Now: h.now, NewID: h.newID,
	}
	bob := calendar.User{ID: "bob", Name: "bob", Created: h.now()}
	h.must(h.InsertUser(t.Context(), bob, "hash"))
	cal := calendar.Calendar{
		ID: "choir", Segment: "choir", Owner: bob.ID, Created: h.now(), Properties: calendar.Properties{
			Name: "Choir\r\nBcc: eve@example.org " + strings.Repeat("x", 100), Timezone: "UTC",
		},
	}
	h.must(h.Update(t.Context(), func(tx calendar.Tx) error { return tx.InsertCalendar(t.Context(), cal) }))
	h.share = calendar.Share{
		Calendar: cal.ID, User: h.user, Access: calendar.ReadAccess, Status: calendar.SharePending, Created: h.now(),
	}
	h.offer()
	return h
}

// offer has bob share the calendar anew.
func (h *offerHouse) offer() {
	h.Helper()
	h.must(h.Update(h.Context(), func(tx calendar.Tx) error {
		if _, err := tx.NoteShare(h.Context(), h.share, "bob", h.now().Add(-24*time.Hour)); err != nil {
			return err
		}
		return tx.PutShare(h.Context(), h.share)
	}))
}

// becomes has alice's share come to a state.
func (h *offerHouse) becomes(status calendar.ShareStatus) error {
	s := h.share
	s.Status = status
	return h.Update(h.Context(), func(tx calendar.Tx) error { return tx.PutShare(h.Context(), s) })
}

// sent are the mails that a sender which starts sends.
func (h *offerHouse) sent() []string {
	h.Helper()
	c := h.config(h.Store)
	c.Offers = h.offers
	return h.sentBy(c)
}

// TestOfferedCalendarIsMailed: once for each new share, with the page on which it is answered, and the name as one line
// that is cut.
func TestOfferedCalendarIsMailed(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, database string) {
		h := newOffers(t, database)
		got := h.sent()
		if len(got) != 1 {
			t.Fatalf("%d mails: %s", len(got), got)
		}
		for _, want := range []string{
			"Subject: A calendar is shared with you", "Auto-Submitted: auto-generated", "bob shares a calendar",
			`Choir Bcc: eve@example.org xxx`,
			"https://cal.example.org/account/invitations/" + string(h.share.Invitation()),
		} {
			if !strings.Contains(got[0], want) {
				t.Errorf("%q is not in %s", want, got[0])
			}
		}
		if strings.Contains(got[0], strings.Repeat("x", 100)) || strings.Contains(got[0], "\nBcc") {
			t.Errorf("the name is whole: %s", got[0])
		}
		if got := h.sent(); got != nil {
			t.Errorf("it is told again: %s", got)
		}
		h.must(h.becomes(calendar.ShareDeclined))
		h.offer()
		if got := h.sent(); len(got) != 1 {
			t.Errorf("%d mails of what is offered again after it was declined", len(got))
		}
	})
}

// TestOfferIsNoNews: to a user who has answered, is not let in, or has no address.
func TestOfferIsNoNews(t *testing.T) {
	t.Parallel()
	for what, meanwhile := range map[string]func(*offerHouse) error{
		"accepted": func(h *offerHouse) error { return h.becomes(calendar.ShareAccepted) },
		"declined": func(h *offerHouse) error { return h.becomes(calendar.ShareDeclined) },
		"withdrawn": func(h *offerHouse) error {
			return h.Update(h.Context(), func(tx calendar.Tx) error {
				return tx.DropShare(h.Context(), h.share.Calendar, h.user.ID)
			})
		},
		"no address": func(h *offerHouse) error {
			return h.ChangeUser(h.Context(), h.user.ID, auth.UserEdit{Email: new("")})
		},
		"disabled": func(h *offerHouse) error {
			return h.ChangeUser(h.Context(), h.user.ID, auth.UserEdit{Disabled: new(true)})
		},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			h := newOffers(t, testdb.SQLite(t))
			h.must(meanwhile(h))
			if got := h.sent(); got != nil {
				t.Errorf("sent %s", got)
			}
			if n, _, err := h.WaitingLetters(t.Context()); n > 0 || err != nil {
				t.Errorf("%d letters wait: %v", n, err)
			}
		})
	}
}
