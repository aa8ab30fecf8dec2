package service_test

import (
	"strings"
	"testing"
	"time"

	"caldav-mcp-server/calendar"
)

func TestChangesTellExactlyWhatChanged(t *testing.T) {
	each(t, func(h *house) {
		work := h.calendar(h.alice, "work")
		empty := h.token(h.alice, work)
		h.put(h.alice, work, "a", event("a", 2, "x"))
		h.put(h.alice, work, "b", event("b", 2, "x"))
		two := h.token(h.alice, work)
		h.put(h.alice, work, "a", event("a", 2, "y"))
		h.must(h.Delete(h.ctx, h.alice, work, "b", calendar.Precondition{}))
		h.put(h.alice, work, "c", event("c", 2, "x"))
		for since, want := range map[string]string{
			"":                     "a@4 c@6",
			empty:                  "a@4 -b@5 c@6",
			two:                    "a@4 -b@5 c@6",
			h.token(h.alice, work): "",
		} {
			if got := h.changes(h.alice, work, since); got != want {
				h.t.Errorf("since %s: %q, want %q", since, got, want)
			}
		}
		h.put(h.alice, work, "b", event("b", 3, "back"))
		if got := h.changes(h.alice, work, two); got != "a@4 c@6 b@7" {
			h.t.Errorf("after b came back: %q", got)
		}
	})
}

func TestTokensThatCannotBeHonoured(t *testing.T) {
	each(t, func(h *house) {
		work, home := h.calendar(h.alice, "work"), h.calendar(h.alice, "home")
		good := h.token(h.alice, work)
		cut := strings.LastIndex(good, ":")
		for name, token := range map[string]string{
			"foreign":          "data:,123",
			"empty":            "urn:caldav-mcp-server:sync:",
			"without a number": good[:cut] + ":x",
			"negative":         good[:cut] + ":-1",
			"from the future":  good[:cut] + ":99",
			"of another":       h.token(h.alice, home),
			"of another life":  strings.Replace(good, "sync:", "sync:x", 1),
		} {
			parsed, err := calendar.ParseSyncToken(token)
			if err == nil {
				for _, err = range h.Changes(h.ctx, nil, h.alice, h.fresh(h.alice, work), parsed) {
				}
			}
			if calendar.RuleOf(err) != calendar.RuleSyncToken {
				h.t.Errorf("%s token %q: %v", name, token, err)
			}
		}
	})
}

// TestAFirstSyncOutlivesPruning: a page of a first synchronization ends at a version that
// the journal has forgotten; the next page must be had all the same.
func TestAFirstSyncOutlivesPruning(t *testing.T) {
	each(t, func(h *house) {
		work := h.calendar(h.alice, "work")
		h.put(h.alice, work, "a", event("a", 2, "x"))
		h.put(h.alice, work, "b", event("b", 2, "x"))
		h.must(h.Delete(h.ctx, h.alice, work, "b", calendar.Precondition{}))
		h.put(h.alice, work, "c", event("c", 2, "x"))
		old := h.token(h.alice, work)
		h.must(h.Store.Prune(h.ctx, time.Now().Add(time.Hour)))
		now := h.fresh(h.alice, work).SyncToken()
		page := calendar.SyncToken{}.After(2, true, now)
		if got := h.changes(h.alice, work, page.String()); got != "c@5" {
			h.t.Errorf("after the first page: %q", got)
		}
		second := page.After(5, true, now)
		if second.Begun != page.Begun || second.After(5, false, now).String() != old {
			h.t.Errorf("%s, then %s, at the end %s", page, second, second.After(5, false, now))
		}
	})
}
