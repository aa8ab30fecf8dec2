package mirror_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/mirror"
)

// feedOf makes the account a feed with some entries, all under new UIDs.
func (h *house) feedOf(entries, generation int) {
	h.model.change(func() {
		h.model.feed = true
		clear(h.model.objects)
		h.model.log = nil
		for i := range entries {
			uid := fmt.Sprintf("g%d-%d", generation, i)
			h.model.set(uid, uid, event(uid, "One of many"))
		}
	})
}

// due is when the account is synced next, and the reason that its owner reads.
func (h *house) due() (time.Duration, string) {
	h.t.Helper()
	a, err := h.Store.Account(h.ctx, h.linked.ID)
	h.must(err)
	return a.Due.Sub(h.Now()), a.Error
}

// TestBudget: a user whose feeds change too much in a day waits for the next one (security F3), and nobody else does.
func TestBudget(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		h.model.asFeed, h.model.budget, h.model.size = true, 60*5<<10, 100
		h.open()
		h.feedOf(25, 0)
		h.link()
		for generation := 1; ; generation++ {
			h.feedOf(25, generation)
			err := h.refresh()
			if calendar.ReasonOf(err) == calendar.TooLarge && strings.Contains(err.Error(), "FEED_BUDGET") {
				break
			}
			if h.must(err); generation == 5 {
				t.Fatal("125 new entries are within a budget of 60")
			}
		}
		calls := h.model.calls
		in, why := h.due()
		if why == "" || in < 8*time.Hour || in > 11*time.Hour { // midnight is in 8:51
			t.Errorf("the next sync is in %v: %q", in, why)
		}
		if err := h.refresh(); err == nil || h.model.calls != calls {
			t.Errorf("the feed is fetched: %v", err)
		}
		if _, _, err := h.Mirrors.Link(h.ctx, h.alice, mirror.NewAccount{
			Provider: "model", Secret: mirror.Secret{URL: "other", Password: "secret"},
		}); calendar.ReasonOf(err) != calendar.TooLarge {
			t.Errorf("another feed is linked: %v", err)
		}
		if _, _, err := h.Mirrors.Link(h.ctx, bob,
			mirror.NewAccount{Provider: "model", Secret: mirror.Secret{Password: "secret"}}); err != nil {
			t.Errorf("another user waits as well: %v", err)
		}
		if got := h.Mirrors.Work(); got.Entries < 60 || got.Postponed != 3 {
			t.Errorf("counted: %+v", got)
		}
		h.Pass(12 * time.Hour)
		if n, err := h.Mirrors.Round(h.ctx); n == 0 || err != nil {
			t.Errorf("the next day %d accounts are synced, %v", n, err)
		}
		if _, why := h.due(); strings.Contains(why, "tomorrow") || h.model.calls == calls {
			t.Errorf("the next day the account says %q", why)
		}
	})
}

// TestBudgetOfAccounts: an account elsewhere that calls the same objects changed at each sync waits for the next day as
// well. Writes there go on.
func TestBudgetOfAccounts(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		h.model.budget, h.model.size = 60*5<<10, 100
		h.open()
		cal := h.link()
		for generation := 1; ; generation++ {
			h.model.change(func() {
				for i := range 25 {
					uid := fmt.Sprintf("o%d", i)
					h.model.set(uid, uid, event(uid, "As before"))
				}
			})
			err := h.refresh()
			if calendar.ReasonOf(err) == calendar.TooLarge && strings.Contains(err.Error(), "FEED_BUDGET") {
				break
			}
			if h.must(err); generation == 5 {
				t.Fatal("125 changed objects are within a budget of 60")
			}
		}
		if in, why := h.due(); why == "" || in < 8*time.Hour {
			t.Errorf("the next sync is in %v: %q", in, why)
		}
		if _, err := h.Put(h.ctx, h.alice, cal,
			calendar.Draft{Name: "mine.ics", Data: []byte(event("mine", "Mine"))}); err != nil {
			t.Errorf("a write: %v", err)
		}
	})
}

// TestFeedWithNewUIDs: a feed whose UIDs are new at each fetch is fetched less and less often, and its owner reads why.
func TestFeedWithNewUIDs(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		h.model.asFeed, h.model.size = true, 100
		h.open()
		h.feedOf(30, 0)
		cal := h.link()
		longest := time.Duration(0)
		for generation := 1; generation < 9; generation++ {
			h.feedOf(30, generation)
			h.must(h.refresh())
			in, why := h.due()
			if generation > 1 && (in < longest*8/10 || !strings.Contains(why, "new UIDs")) {
				t.Errorf("after %d syncs the next one is in %v: %q", generation, in, why)
			}
			longest = max(longest, in)
			h.Pass(20 * time.Minute)
		}
		if longest < 20*time.Hour || longest > 24*time.Hour {
			t.Errorf("the longest interval is %v", longest)
		}
		h.must(h.refresh())
		h.same(cal)
		h.model.change(func() { h.model.set("g8-1", "g8-1", event("g8-1", "Changed")) })
		h.must(h.refresh())
		if in, why := h.due(); in > 2*time.Hour || why != "" {
			t.Errorf("a feed that is good again is fetched in %v: %q", in, why)
		}
	})
}
