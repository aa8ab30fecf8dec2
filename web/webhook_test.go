package web_test

import (
	"context"
	"net/http"
	"regexp"
	"testing"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/push"
	"caldav-mcp-server/web"
)

var hookPath = regexp.MustCompile(`webhooks/(0000[0-9a-f-]+)`)

// Somebody makes a webhook, sees its secret once, tries it out, sees that it ended, turns it on, and removes it. Nobody
// else sees it.
func TestWebhookPages(t *testing.T) {
	t.Parallel()
	secret := func(_ context.Context, w calendar.Webhook) (string, error) {
		return push.WebhookSecret([]byte("key"), w)
	}
	each(t, func(h *house) {
		u := h.user("ann")
		h.user("bob")
		ann, bob := h.as("ann"), h.as("bob")
		ann.get("webhooks").shows(http.StatusOK, "None yet")
		ann.post("webhooks/new", "url", "http://example.com/hook").shows(http.StatusUnprocessableEntity,
			"https addresses").hides("whsec_")
		made := ann.post("webhooks/new", "url", "https://example.com/hook", "kind", "created", "kind", "deleted",
			"kind", "nonsense").shows(http.StatusOK, "whsec_", "shown only now")
		path := hookPath.FindString(made.body)
		ann.get("webhooks").shows(http.StatusOK, "https://example.com/hook", "new entries, deleted entries",
			"It is notified.").hides("whsec_")
		ann.get(path).shows(http.StatusOK, "None in the last week").hides("whsec_")
		for _, s := range []shown{
			bob.get(path), bob.post(path + "/test"), bob.post(path + "/remove"), bob.post(path + "/rotate"),
			bob.post(path + "/resume"),
		} {
			s.shows(http.StatusNotFound).hides("example.com", "whsec_")
		}
		ann.post(path+"/test").at(path+"?done=webhook-tried").shows(http.StatusOK, "A test message is on its way",
			"waiting", "none, a test")
		due, err := h.store.DueDeliveries(t.Context(), h.Now(), 10)
		h.must(err)
		if len(due) != 1 ||
			string(due[0].Body) != `{"type":"webhook.test","timestamp":"2026-05-01T12:00:00Z","data":{}}` {
			t.Fatalf("due: %+v", due)
		}
		d := due[0].Delivery
		d.State, d.Ended, d.Answer = calendar.DeliveryFailed, h.Now(), "410 <b>Gone</b>"
		_, err = h.store.SettleDelivery(t.Context(), d, calendar.Settling{
			Result: calendar.TryGone, Now: h.Now(), Patience: time.Hour,
		})
		h.must(err)
		ann.get("").shows(http.StatusOK, "A webhook was turned off")
		bob.get("").shows(http.StatusOK).hides("turned off")
		ann.get(path).shows(http.StatusOK, "the program answered that it is gone", "410 <b>Gone</b>").hides("<b>Gone")
		ann.post(path+"/test").shows(http.StatusUnprocessableEntity, "turned off")
		ann.post(path + "/resume").at(path + "?done=saved")
		ann.get("").shows(http.StatusOK).hides("turned off")
		again := ann.post(path+"/rotate").shows(http.StatusOK, "whsec_")
		if again.text() == made.text() {
			t.Error("it is the same secret")
		}
		for range 99 {
			h.must(h.calendars.TestWebhook(t.Context(), calendar.Caller{User: u, Scopes: calendar.ScopeAll},
				calendar.WebhookID(hookPath.FindStringSubmatch(path)[1])))
		}
		ann.post(path + "/test").at(path + "?done=webhook-tried")
		if s := ann.post(path + "/test"); s.status < 400 {
			t.Errorf("more wait than may: %d", s.status)
		}
		ann.post(path+"/remove").at("webhooks?done=removed").shows(http.StatusOK, "None yet")
	}, func(c *web.Config) { c.WebhookSecret = secret })
}
