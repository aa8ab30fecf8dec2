package mirror_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/mirror"
)

// TestAListingThatLacksMost: nothing is deleted because of one empty or short listing. The account says why, and is
// listed again ten minutes later, also by another process. A listing that lacks the same entries then deletes them.
func TestAListingThatLacksMost(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		h.model.feed, h.model.size = true, 1000
		for i := range 12 {
			h.model.set("", fmt.Sprint("u", i), event(fmt.Sprint("u", i), "x"))
		}
		cal := h.link()
		all := h.model.objects
		for _, left := range []int{0, 5} {
			h.model.objects = map[string]mirror.Object{}
			for _, ref := range slices.Sorted(maps.Keys(all))[:left] {
				h.model.objects[ref] = all[ref]
			}
			h.must(h.refresh())
			if n := len(h.texts(cal)); n != 12 {
				h.t.Fatalf("after a listing of %d, %d stay", left, n)
			}
			h.saysMissing(12 - left)
			h.open()
			h.Pass(5 * time.Minute)
			h.must(h.refresh()) // too early to count
			if n := len(h.texts(cal)); n != 12 {
				h.t.Fatalf("after a second listing of %d in five minutes, %d stay", left, n)
			}
			h.model.objects = all
			h.must(h.refresh())
			h.same(cal)
			h.saysMissing(0)
		}
		h.model.objects = map[string]mirror.Object{}
		h.must(h.refresh())
		h.Pass(11 * time.Minute)
		h.open()
		if n, err := h.Mirrors.Round(h.ctx); n != 1 || err != nil {
			h.t.Errorf("%d accounts are due, %v", n, err)
		}
		if h.same(cal); len(h.texts(cal)) != 0 {
			h.t.Error("what a second listing lacks stays")
		}
		h.saysMissing(0)
	})
}

// saysMissing checks the reason that the account gives for entries that it no longer lists and that were not deleted.
func (h *house) saysMissing(n int) {
	h.t.Helper()
	all, err := h.Mirrors.LinkedAccounts(h.ctx, h.alice)
	h.must(err)
	said := all[0].Calendars[0].State.Error
	if n == 0 && said != "" || n > 0 && !strings.Contains(said, fmt.Sprintf("lacks %d of 12 entries", n)) {
		h.t.Errorf("it says %q", said)
	}
	if all[0].Status != calendar.AccountGood {
		h.t.Errorf("the account is %s", all[0].Status)
	}
}
