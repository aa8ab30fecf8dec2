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

// endingHouse is a house with a webhook of the user's, that a program at a secret address answers no more.
type endingHouse struct {
	*house
	endings *mail.Endings
	hook    calendar.Webhook
}

func newEndings(t *testing.T, database string) *endingHouse {
	t.Helper()
	h := &endingHouse{house: newHouse(t, database)}
	h.endings = &mail.Endings{
		Store: h.Store, Host: "cal.example.org",
		Page: &url.URL{Scheme: "https", Host: "cal.example.org", Path: "/account/webhooks"},
		Most: calendar.DefaultLimits().Outbox, Now: h.now, NewID: h.newID,
	}
	h.hook = calendar.Webhook{
		ID: "hook", User: h.user.ID, URL: "https://hooks.example.net/services/s3cret", Number: 1, Rotated: h.now(),
		Created: h.now(), State: calendar.WebhookOn,
	}
	h.must(h.AddWebhook(t.Context(), h.hook, 10))
	return h
}

// tried has a message to the webhook come to this, and its owner be told if that ends it.
func (h *endingHouse) tried(r calendar.TryResult) {
	h.Helper()
	news, err := h.endings.News(h.Context(), h.hook)
	h.must(err)
	d := calendar.Delivery{
		ID: calendar.DeliveryID(h.newID()), Webhook: h.hook.ID, Made: h.now(), Due: h.now(),
		State: calendar.DeliveryWaiting,
	}
	h.must(h.PostDelivery(h.Context(), d, calendar.DefaultWebhookRoom()))
	_, err = h.SettleDelivery(h.Context(), d, calendar.Settling{
		Result: r, Now: h.now(), Patience: time.Hour, News: news,
	})
	h.must(err)
}

// sent are the mails that a sender which starts sends.
func (h *endingHouse) sent() []string {
	h.Helper()
	c := h.config(h.Store)
	c.Endings = h.endings
	return h.sentBy(c)
}

// TestEndedWebhookIsTold: why, where it is turned on again, and not the address, which may be a secret.
func TestEndedWebhookIsTold(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, database string) {
		h := newEndings(t, database)
		h.tried(calendar.TryFailed)
		if got := h.sent(); got != nil {
			t.Errorf("one failure is told: %s", got)
		}
		h.pass(40 * time.Minute)
		h.tried(calendar.TryFailed)
		tell := func(what, why string) {
			t.Helper()
			got := h.sent()
			if len(got) != 1 {
				t.Fatalf("%s: %d mails", what, len(got))
			}
			for _, want := range []string{
				"Subject: A webhook was turned off", "Auto-Submitted: auto-generated", "hooks.example.net", why,
				"https://cal.example.org/account/webhooks/hook",
			} {
				if !strings.Contains(got[0], want) {
					t.Errorf("%s: %q is not in %s", what, want, got[0])
				}
			}
			if strings.Contains(got[0], "s3cret") {
				t.Errorf("the address is told: %s", got[0])
			}
		}
		tell("it fails", "since Sunday 1 March 2026, 13:00 CET.")
		h.must(h.ResumeWebhook(t.Context(), h.user.ID, h.hook.ID))
		h.tried(calendar.TryGone)
		tell("it is gone", "it is gone (410).")
		if got := h.sent(); got != nil {
			t.Errorf("it is told again: %s", got)
		}
		if len(h.delivered) > 0 {
			t.Errorf("the calendar was told of it: %v", h.delivered)
		}
	})
}

// TestEndedWebhookIsNoNews: to somebody who turned it on again, removed it, has another address by now, or is not let
// in.
func TestEndedWebhookIsNoNews(t *testing.T) {
	t.Parallel()
	for what, meanwhile := range map[string]func(*endingHouse) error{
		"resumed": func(h *endingHouse) error { return h.ResumeWebhook(h.Context(), h.user.ID, h.hook.ID) },
		"removed": func(h *endingHouse) error { return h.RemoveWebhook(h.Context(), h.user.ID, h.hook.ID) },
		"moved": func(h *endingHouse) error {
			return h.ChangeUser(h.Context(), h.user.ID, auth.UserEdit{Email: new("other@example.org")})
		},
		"disabled": func(h *endingHouse) error {
			return h.ChangeUser(h.Context(), h.user.ID, auth.UserEdit{Disabled: new(true)})
		},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			h := newEndings(t, testdb.SQLite(t))
			h.tried(calendar.TryGone)
			h.must(meanwhile(h))
			if got := h.sent(); got != nil {
				t.Errorf("sent %s", got)
			}
			if n, _, err := h.WaitingLetters(t.Context()); n > 0 || err != nil {
				t.Errorf("%d letters wait: %v", n, err)
			}
			if news, err := h.endings.News(t.Context(), h.hook); (news == nil) != (what == "disabled") || err != nil {
				t.Errorf("there is news: %+v, %v", news, err)
			}
		})
	}
}
