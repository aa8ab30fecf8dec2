package mcp

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/internal/testdb"
)

// hooksOf are alice's webhooks as the service has them.
func (h *house) hooksOf(t *testing.T) []calendar.Webhook {
	t.Helper()
	all, err := h.service.Webhooks(t.Context(), h.callers["alice"])
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestWebhooksByTool: one is made, tried, listed with its messages, turned on again and removed; its address, which may
// hold a secret, is not told again, and its secret once.
func TestWebhooksByTool(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		h := newHouse(t, url)
		door := h.open(t, h.config())
		call := func(args params) (v webhooksView, said string) {
			t.Helper()
			said = use(t, door, "alice", "webhooks", args, &v)
			return v, said
		}
		made, _ := call(params{"action": "add", "url": " https://hooks.example/in/s3cret ", "kinds": []any{"created"}})
		if made.ID == "" || made.Secret != "whsec_"+string(made.ID)+"-1" {
			t.Fatalf("made %+v", made)
		}
		if all := h.hooksOf(t); len(all) != 1 || all[0].URL != "https://hooks.example/in/s3cret" ||
			len(all[0].Kinds) != 1 || all[0].Content {
			t.Fatalf("there are %+v", all)
		}
		if said := refusalOf(t, door, "alice", "webhooks",
			`{"action":"add","url":"https://hooks.example/in/s3cret"}`); !strings.Contains(said, string(made.ID)) ||
			strings.Contains(said, "whsec_") {
			t.Errorf("the same again: %s", said)
		}
		call(params{"action": "test", "webhook_id": made.ID})
		due, err := h.Store.DueDeliveries(t.Context(), h.Now(), 10)
		if err != nil || len(due) != 1 {
			t.Fatalf("due: %+v, %v", due, err)
		}
		d := due[0].Delivery
		d.State, d.Ended, d.Tries, d.Answer = calendar.DeliveryFailed, h.Now(), 1, "410 Gone\u202e"
		if _, err := h.Store.SettleDelivery(t.Context(), d, calendar.Settling{
			Result: calendar.TryGone,
			Now:    h.Now(),
		}); err != nil {
			t.Fatal(err)
		}
		list, said := call(params{"action": "list"})
		if len(list.Webhooks) != 1 || list.Webhooks[0].Host != "hooks.example" ||
			list.Webhooks[0].State != calendar.WebhookGone || strings.Contains(said, "s3cret") ||
			strings.Contains(said, "whsec_") {
			t.Errorf("the list is %s", said)
		}
		messages, said := call(params{"action": "deliveries", "webhook_id": made.ID})
		if len(messages.Deliveries) != 1 || messages.Deliveries[0].State != calendar.DeliveryFailed ||
			messages.Deliveries[0].Made != "2026-03-01T13:00:00+01:00" || strings.Contains(said, "\u202e") {
			t.Errorf("the messages are %s", said)
		}
		call(params{"action": "resume", "webhook_id": made.ID})
		if all := h.hooksOf(t); all[0].State != calendar.WebhookOn {
			t.Errorf("it is %s", all[0].State)
		}
		call(params{"action": "remove", "webhook_id": made.ID})
		if all := h.hooksOf(t); len(all) > 0 {
			t.Errorf("left: %+v", all)
		}
	})
}

// TestWebhooksAreRefused: without the share scope, for other users, for invalid URLs, and titles for clients without
// elicitation.
func TestWebhooksAreRefused(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t))
	h.callers["alice-sharing"] = calendar.Caller{
		User: h.callers["alice"].User, Scopes: calendar.ScopeAll,
		Token: "t-sharing", Calendars: []calendar.CalendarID{work},
	}
	door := h.open(t, h.config())
	var made webhooksView
	use(t, door, "alice", "webhooks", params{"action": "add", "url": "https://hooks.example/a"}, &made)
	for _, tt := range []struct{ token, args, want string }{
		{"alice", `{"action":"add"}`, `\"url\" is missing`},
		{"alice", `{"action":"remove"}`, `\"webhook_id\" is missing`},
		{"alice", `{"action":"rotate"}`, "must be one of"},
		{"alice", `{"action":"add","url":"http://hooks.example/b"}`, "https"},
		{"alice", `{"action":"add","url":"https://hooks.example/b","kinds":["shared"]}`, "kinds"},
		{
			"alice", `{"action":"add","url":"https://hooks.example/b","titles":true}`,
			"https://cal.example/dav/account/webhooks",
		},
		{"alice-write", `{"action":"list"}`, "share"},
		{"alice-sharing", `{"action":"list"}`, "certain calendars"},
		{"alice-sharing", `{"action":"add","url":"https://hooks.example/b"}`, "certain calendars"},
		{"bob", `{"action":"deliveries","webhook_id":"` + string(made.ID) + `"}`, "there is no webhook"},
		{"bob", `{"action":"remove","webhook_id":"` + string(made.ID) + `"}`, "there is no webhook"},
	} {
		if said := refusalOf(t, door, tt.token, "webhooks", tt.args); !strings.Contains(said, tt.want) {
			t.Errorf("%s, %s: %s", tt.token, tt.args, said)
		}
	}
	if all := h.hooksOf(t); len(all) != 1 {
		t.Errorf("there are %+v", all)
	}
	silent := h.config()
	silent.WebhookSecret = nil
	if tools, _ := listTools(t, h.open(t, silent)); len(tools) == 0 || tools[len(tools)-1].Name == "webhooks" {
		t.Error("a server that tells nobody lists it")
	}
}

// TestWebhookIsAgreedTo: the user sees the URL, and whether titles are sent, and consents to exactly that.
func TestWebhookIsAgreedTo(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t))
	door := h.open(t, h.config())
	const args = `{"action":"add","url":"https://hooks.example/in?k=1","titles":true}`
	said := modernCall(t, door, "alice", "webhooks", args, "")
	var r struct{ Result struct{ RequestState string } }
	if err := json.Unmarshal([]byte(said), &r); err != nil || r.Result.RequestState == "" {
		t.Fatalf("nobody is asked: %s", said)
	}
	for _, want := range []string{`notified of each change`, `hooks.example`, `in?k=1`, `with the titles`} {
		if !strings.Contains(said, want) {
			t.Errorf("%q is not in %s", want, said)
		}
	}
	agreed := fmt.Sprintf(`,"inputResponses":{"confirm":{"action":"accept","content":{}}},"requestState":%q`,
		r.Result.RequestState)
	for _, other := range []string{strings.Replace(args, "hooks", "hook", 1), strings.Replace(args,
		`,"titles":true`, "", 1)} {
		if said := modernCall(t, door, "alice", "webhooks", other, agreed); !strings.Contains(said, "input_required") {
			t.Errorf("%s: %s", other, said)
		}
	}
	if said := modernCall(t, door, "alice", "webhooks", args, strings.Replace(agreed, "accept", "decline",
		1)); !strings.Contains(said, "declined") || len(h.hooksOf(t)) > 0 {
		t.Errorf("after a no: %s", said)
	}
	if said := modernCall(t, door, "alice", "webhooks", args, agreed); !strings.Contains(said, "whsec_") {
		t.Errorf("after a yes: %s", said)
	}
	if all := h.hooksOf(t); len(all) != 1 || !all[0].Content {
		t.Errorf("there are %+v", all)
	}
}
