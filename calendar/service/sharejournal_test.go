package service_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"caldav-mcp-server/calendar"
)

// shareJournal lists what the journal has of shares, the latest first, as one may see it.
func (h *house) shareJournal(c calendar.Caller, cal calendar.Calendar) string {
	h.t.Helper()
	page, err := h.History(h.ctx, c, calendar.HistoryQuery{Calendar: cal.ID, Limit: 100})
	h.must(err)
	words := []string{}
	for _, line := range page.Changes {
		if line.Whom != "" {
			words = append(words, fmt.Sprintf("%s %s %s %d", line.UserName, line.Did, line.WhomName, line.Given))
		}
	}
	slices.Reverse(words)
	return strings.Join(words, ", ")
}

func TestSharesAreJournalled(t *testing.T) {
	each(t, func(h *house) {
		h.asks()
		eve := h.user("eve")
		work := h.calendar(h.alice, "work")
		h.offer(work, h.bob, calendar.ReadAccess, "")
		h.answer(work, calendar.Reply{Accept: true})
		h.offer(work, h.bob, calendar.WriteAccess, "")
		h.offer(work, eve, calendar.FreeBusyAccess, "")
		h.offer(work, eve, calendar.NoAccess, "")
		bobs := "alice created bob 2, bob accepted bob 2, alice modified bob 3"
		if got := h.shareJournal(h.alice, work); got != bobs+", alice created eve 1, alice deleted eve 0" {
			t.Errorf("hers: %s", got)
		}
		// Who else has the calendar is not his to know, by whatever way.
		if got := h.shareJournal(h.bob, work); got != bobs {
			t.Errorf("his: %s", got)
		}
		about := calendar.ChangeID{Calendar: work.ID, Version: h.fresh(h.alice, work).Version}
		if _, err := h.Change(h.ctx, h.alice, about); err != nil {
			t.Error(err)
		}
		_, err := h.Change(h.ctx, h.bob, about)
		h.refused(err, calendar.NotFound, "", "no change")
		_, err = h.Undo(h.ctx, h.bob, about)
		h.refused(err, calendar.NotFound, "", "no change")
	})
}

func TestSharesAreTakenBack(t *testing.T) {
	each(t, func(h *house) {
		work := h.calendar(h.alice, "work")
		assistant := h.alice
		assistant.Token = "token"
		undo := func() (calendar.Undone, error) {
			return h.UndoSince(h.ctx, h.alice, calendar.UndoSince{Token: "token", At: h.Now()})
		}
		_, err := h.Share(h.ctx, assistant, work.ID, "bob", calendar.WriteAccess)
		h.must(err)
		h.must(h.ChangeCalendar(h.ctx, assistant, work.ID, func(p *calendar.Properties) error {
			p.Name = "x"
			return nil
		}))
		h.put(assistant, h.fresh(h.alice, work), "a.ics", event("a", 1, "a"))
		done, err := undo()
		h.must(err)
		if len(done.Steps) != 3 || len(done.Left) != 0 || h.seen(work) {
			t.Errorf("all of it: %+v", done)
		}
		h.sharing("all taken back", work, "", "", "work:withdrawn")

		h.share(h.alice, work, h.bob, calendar.ReadAccess)
		h.must(h.Unshare(h.ctx, assistant, work.ID, "bob"))
		id := calendar.ChangeID{Calendar: work.ID, Version: h.fresh(h.alice, work).Version}
		_, err = h.Undo(h.ctx, h.alice, id)
		h.must(err)
		h.sharing("given back", work, "bob:read", "", "work:accepted")
		_, err = h.Undo(h.ctx, h.alice, id)
		h.refused(err, calendar.Stale, "", "taken back already")

		// What followed is in the way, and an answer is nobody else's to take back.
		_, err = h.Share(h.ctx, assistant, work.ID, "bob", calendar.WriteAccess)
		h.must(err)
		id.Version = h.fresh(h.alice, work).Version
		h.share(h.alice, work, h.bob, calendar.FreeBusyAccess)
		_, err = h.Undo(h.ctx, h.alice, id)
		h.refused(err, calendar.Stale, "", "followed by the change")
		h.must(h.Leave(h.ctx, h.bob, work.ID))
		id.Version = h.fresh(h.alice, work).Version
		_, err = h.Undo(h.ctx, h.alice, id)
		h.refused(err, calendar.Unsupported, "", "only they can change")

		// A token that may not share cannot do so by an undo either.
		h.must(h.Unshare(h.ctx, h.alice, work.ID, "bob"))
		id.Version = h.fresh(h.alice, work).Version
		writing := h.alice
		writing.Scopes = calendar.ScopeRead | calendar.ScopeWrite
		_, err = h.Undo(h.ctx, writing, id)
		h.refused(err, calendar.Forbidden, calendar.RulePrivileges, "may not share")
	})
}

func TestUndoLeavesAnswers(t *testing.T) {
	each(t, func(h *house) {
		work := h.calendar(h.alice, "work")
		h.offer(work, h.bob, calendar.WriteAccess, "")
		h.offer(work, h.bob, calendar.ReadAccess, "")
		id := calendar.ChangeID{Calendar: work.ID, Version: h.fresh(h.alice, work).Version}
		h.must(h.Leave(h.ctx, h.bob, work.ID))
		_, err := h.Undo(h.ctx, h.alice, id)
		h.must(err)
		h.sharing("undone", work, "bob:write:declined", "*:declined", "")
		if h.seen(work) {
			t.Error("he has again what he gave up")
		}
		h.offer(work, h.bob, calendar.ReadAccess, "")
		h.sharing("offered anew", work, "bob:read", "", "work:accepted")
	})
}

// TestUndoLeavesAnswersToSharesThatAreGone: who left a calendar does not get it back when its owner takes the share
// away and takes that back.
func TestUndoLeavesAnswersToSharesThatAreGone(t *testing.T) {
	each(t, func(h *house) {
		work := h.calendar(h.alice, "work")
		again := func() {
			h.t.Helper()
			h.must(h.Unshare(h.ctx, h.alice, work.ID, "bob"))
			h.undo(h.alice, h.latest(h.alice, work).ID())
		}
		h.share(h.alice, work, h.bob, calendar.ReadAccess)
		h.must(h.Leave(h.ctx, h.bob, work.ID))
		for range 2 { // an undo is no new share, however often
			again()
			h.sharing("left", work, "bob:read:declined", "*:declined", "")
			if h.seen(work) {
				t.Error("he has again what he gave up")
			}
		}
		h.share(h.alice, work, h.bob, calendar.FreeBusyAccess)
		again()
		h.expects(h.bob, work.ID, calendar.FreeBusyAccess)

		// To decline more is to keep the busy times.
		h.asks()
		h.offer(work, h.bob, calendar.WriteAccess, "")
		h.answer(work, calendar.Reply{})
		h.expects(h.bob, work.ID, calendar.FreeBusyAccess)
		again()
		if got := h.shares(h.alice, work); got != "bob:busy:pending" {
			t.Errorf("who had busy times is offered %q", got)
		}
	})
}
