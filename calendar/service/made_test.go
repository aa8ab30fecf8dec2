package service_test

import (
	"slices"
	"strings"
	"testing"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/service"
	"caldav-mcp-server/calendar/watch"
)

// setUp lists what tokens made for somebody, each with its maker.
func (h *house) setUp(c calendar.Caller) string {
	h.t.Helper()
	made, err := h.MadeBy(h.ctx, c, "")
	h.must(err)
	var words []string
	for _, m := range made {
		kind, _, _ := strings.Cut(m.Key(), " ")
		words = append(words, kind+" by "+m.Maker.Agent)
	}
	return strings.Join(words, ", ")
}

func (h *house) wantSetUp(what, want string) {
	h.t.Helper()
	if got := h.setUp(h.alice); got != want {
		h.t.Errorf("%s: %q, want %q", what, got, want)
	}
}

// TestMadeByTokens: what a token sets up names the token, until its user says the same or other things by themselves.
// It can be taken back after the token has ended.
func TestMadeByTokens(t *testing.T) {
	each(t, func(h *house) {
		work := h.calendar(h.alice, "work")
		claude, gemini := h.alice, h.alice
		claude.Token, claude.Agent = "t1", "Claude"
		gemini.Token, gemini.Agent = "t2", "Gemini"
		hook := func(c calendar.Caller) {
			_, err := h.AddWebhook(h.ctx, c, watch.WebhookSpec{URL: "https://example.org/" + c.Agent})
			h.must(err)
		}
		hook(claude)
		hook(h.alice)
		h.share(claude, work, h.bob, calendar.ReadAccess)
		h.must(h.Store.InsertAccount(h.ctx, calendar.Account{
			ID: "a", Owner: h.alice.User.ID, Provider: "ics", Name: "Holidays", Secret: []byte("sealed"),
			Status: calendar.AccountGood, Maker: gemini.Maker(),
		}, 9))
		h.wantSetUp("set up", "webhook by Claude, account by Gemini, share by Claude")

		h.share(gemini, work, h.bob, calendar.ReadAccess)
		h.wantSetUp("shared the same again", "webhook by Claude, account by Gemini, share by Claude")
		h.share(gemini, work, h.bob, calendar.WriteAccess)
		h.wantSetUp("given more", "webhook by Claude, account by Gemini, share by Gemini")
		h.must(h.Leave(h.ctx, h.bob, work.ID))
		h.wantSetUp("left", "webhook by Claude, account by Gemini")
		h.share(claude, work, h.bob, calendar.ReadAccess)
		h.share(h.alice, work, h.bob, calendar.WriteAccess)
		h.wantSetUp("given more by its owner", "webhook by Claude, account by Gemini")
		h.share(claude, work, h.bob, calendar.ReadAccess)

		made, err := h.MadeBy(h.ctx, h.alice, "")
		h.must(err)
		if others, err := h.MadeBy(h.ctx, h.bob, ""); err != nil || len(others) > 0 {
			h.t.Errorf("somebody else's: %+v, %v", others, err)
		}
		for _, m := range made {
			h.refused(h.Unmake(h.ctx, h.user("eve"+m.Key()[:3]), m), calendar.NotFound, "", "")
		}
		for _, m := range slices.DeleteFunc(made, func(m service.Made) bool { return m.Maker.Token != "t1" }) {
			h.must(h.Unmake(h.ctx, h.alice, m))
		}
		h.wantSetUp("taken back", "account by Gemini")
		if got := h.shares(h.alice, work); got != "" {
			h.t.Errorf("shares: %s", got)
		}
		if all, err := h.Webhooks(h.ctx, h.alice); err != nil || len(all) != 1 {
			h.t.Errorf("webhooks: %+v, %v", all, err)
		}
	})
}
