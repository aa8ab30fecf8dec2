package service_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/service"
)

// assistant is alice's, with a token.
func (h *house) assistant() calendar.Caller {
	a := h.alice
	a.Token, a.Agent = "token", "Claude on laptop"
	return a
}

func TestAllOfATokenIsUndone(t *testing.T) {
	each(t, func(h *house) {
		work, home := h.calendar(h.alice, "work"), h.calendar(h.alice, "home")
		h.put(h.alice, work, "1.ics", event("one", 2, "one"))
		h.put(h.alice, work, "2.ics", event("two", 2, "two"))
		h.put(h.alice, home, "3.ics", event("three", 2, "three"))
		bot := h.assistant()
		h.spare(h.alice)
		h.put(bot, work, "0.ics", event("zero", 2, "before"))
		h.Pass(time.Hour)
		start := h.Now()
		was, atHome := h.content(h.alice, work), h.content(h.alice, home)

		h.put(bot, work, "1.ics", event("one", 3, "changed"))
		h.put(bot, work, "1.ics", event("one", 4, "changed again"))
		h.must(h.Delete(h.ctx, bot, work, "2.ics", calendar.Precondition{}))
		h.put(bot, work, "2.ics", event("four", 5, "in its place"))
		h.put(bot, work, "5.ics", event("five", 5, "new"))
		made, err := h.CreateCalendar(h.ctx, bot, calendar.NewCalendar{Segment: "made"})
		h.must(err)
		h.put(bot, made, "6.ics", event("six", 2, "six"))
		h.put(bot, home, "3.ics", event("three", 3, "moved"))
		h.must(h.DeleteCalendar(h.ctx, bot, home.ID))

		all := calendar.UndoSince{Token: "token", At: start}
		preview := all
		preview.Preview = true
		plan, err := h.UndoSince(h.ctx, h.alice, preview)
		h.must(err)
		if _, err := h.Calendar(h.ctx, h.alice, home.ID); err == nil {
			h.t.Error("a preview does something")
		}
		done, err := h.UndoSince(h.ctx, h.alice, all)
		h.must(err)
		if len(done.Steps) != len(plan.Steps) || len(done.Left) > 0 {
			h.t.Errorf("%d steps were promised; done is %+v", len(plan.Steps), done)
		}
		h.is(work, was)
		h.is(home, atHome)
		_, err = h.Calendar(h.ctx, h.alice, made.ID)
		h.refused(err, calendar.NotFound, "", "")

		// It is one unit, and can be taken back as one.
		h.undo(h.alice, h.latest(h.alice, work).ID())
		if now := h.content(h.alice, work); len(now) != 4 || now["1.ics"] != event("one", 4, "changed again") {
			h.t.Errorf("after undoing the undo there is %v", now)
		}
		h.is(made, map[calendar.ObjectName]string{"6.ics": event("six", 2, "six")})
	})
}

func TestWhatOthersChangedStaysWithATokensChanges(t *testing.T) {
	each(t, func(h *house) {
		work, idle := h.calendar(h.alice, "work"), h.calendar(h.alice, "idle")
		bot := h.assistant()
		h.put(bot, work, "1.ics", event("one", 2, "one"))
		h.put(bot, work, "2.ics", event("two", 2, "two"))
		h.put(bot, idle, "3.ics", event("three", 2, "three"))
		h.put(h.alice, work, "1.ics", event("one", 3, "mine now"))
		h.must(h.Delete(h.ctx, h.alice, idle, "3.ics", calendar.Precondition{}))
		all := calendar.UndoSince{Token: "token"}
		before := h.fresh(h.alice, work).Version
		_, err := h.UndoSince(h.ctx, h.alice, all)
		h.refused(err, calendar.Stale, "", "leave out")
		if now := h.fresh(h.alice, work).Version; now != before {
			h.t.Errorf("a refusal moved the calendar on from %d to %d", before, now)
		}
		all.LeaveChanged = true
		done, err := h.UndoSince(h.ctx, h.alice, all)
		h.must(err)
		if len(done.Steps) != 1 || len(done.Left) != 1 || done.Left[0].UID != "one" || len(done.Already) != 1 {
			h.t.Errorf("done is %+v", done)
		}
		h.is(work, map[calendar.ObjectName]string{"1.ics": event("one", 3, "mine now")})
		if v := h.fresh(h.alice, idle).Version; v != 3 {
			h.t.Errorf("where nothing was to be done the version is %d", v)
		}
		_, err = h.UndoSince(h.ctx, h.alice, calendar.UndoSince{Token: "nobody"})
		h.refused(err, calendar.NotFound, "", "nobody")
		_, err = h.UndoSince(h.ctx, h.alice, calendar.UndoSince{})
		h.refused(err, calendar.Invalid, "", "token")
	})
}

// Who else has a calendar is its owner's to know: what a sharee takes back tells nothing of it.
func TestShareesTakeBackWhatTheySee(t *testing.T) {
	each(t, func(h *house) {
		work, eve := h.calendar(h.alice, "work"), h.user("eve")
		h.share(h.alice, work, h.bob, calendar.WriteAccess)
		bot := h.assistant()
		h.share(bot, work, eve, calendar.ReadAccess)
		since := calendar.UndoSince{Token: "token", Preview: true}
		_, err := h.UndoSince(h.ctx, h.bob, since)
		h.refused(err, calendar.NotFound, "", "has changed nothing")
		h.put(bot, work, "1.ics", event("one", 2, "one"))
		since.Preview = false
		done, err := h.UndoSince(h.ctx, h.bob, since)
		h.must(err)
		if len(done.Steps) != 1 || done.Steps[0].UID != "one" || len(done.Left) != 0 {
			t.Errorf("done is %+v", done)
		}
		if got := h.shares(h.alice, work); got != "bob:write eve:read" {
			t.Errorf("shares %q", got)
		}
	})
}

// TestUndoReadsABoundedNumberOfBytes: an object that was written often has any number of former states, and all
// writers wait while an undo reads them. It reads what it takes back and what came next, or nothing (security M5).
func TestUndoReadsABoundedNumberOfBytes(t *testing.T) {
	each(t, func(h *house) {
		h.config.Limits.UndoBytes = 64 << 10
		h.Service = service.New(h.config)
		work := h.calendar(h.alice, "work")
		bot, page := h.assistant(), strings.Repeat("x", 8<<10)
		h.put(h.alice, work, "1.ics", event("one", 2, page))
		h.put(bot, work, "1.ics", event("one", 3, page))
		early := h.latest(h.alice, work)
		h.put(bot, work, "1.ics", event("one", 4, page))
		h.put(bot, work, "1.ics", event("one", 3, page))
		for range 10 {
			h.put(bot, work, "1.ics", event("one", 4, page))
			h.put(bot, work, "1.ics", event("one", 3, page))
		}
		before := h.fresh(h.alice, work).Version
		_, err := h.UndoSince(h.ctx, h.alice, calendar.UndoSince{Token: "token"})
		h.refused(err, calendar.TooLarge, "", "more than 64 KiB")
		if now := h.fresh(h.alice, work).Version; now != before {
			h.t.Errorf("a refusal moved the calendar on from %d to %d", before, now)
		}
		// The state that the early change left is there again, with many between.
		h.undo(h.alice, early.ID())
		h.is(work, map[calendar.ObjectName]string{"1.ics": event("one", 2, page)})
	})
}

// TestAnUndoIsCutByBytes: what was one unit comes back in as many transactions as its bytes take.
func TestAnUndoIsCutByBytes(t *testing.T) {
	each(t, func(h *house) {
		h.config.Limits.UndoBytes = 64 << 10
		h.Service = service.New(h.config)
		work, page := h.calendar(h.alice, "work"), strings.Repeat("x", 8<<10)
		var theirs []calendar.Import
		for n := range 12 {
			uid := fmt.Sprintf("many-%d", n)
			h.put(h.alice, work, calendar.ObjectName(uid+".ics"), event(uid, 2, page))
			theirs = append(theirs, calendar.Import{Data: []byte(event(uid, 2, "theirs"))})
		}
		was := h.content(h.alice, work)
		with := h.NewImporter(h.alice, calendar.ImportOptions{Replace: true})
		h.importsAs(with, work, calendar.ImportedReplaced, theirs...)
		whole, _ := with.Change()
		done := h.undo(h.alice, whole)
		h.is(work, was)
		again := h.undo(h.alice, done.Steps[0].ID())
		if len(done.Steps) != 12 || len(again.Steps) != 12 {
			h.t.Errorf("%d steps, and back %d", len(done.Steps), len(again.Steps))
		}
	})
}

// A calendar is given back what was in it at a time, whoever has changed what since, and who has it stays as it is.
func TestACalendarAsItWas(t *testing.T) {
	each(t, func(h *house) {
		work, home := h.calendar(h.alice, "work"), h.calendar(h.alice, "home")
		h.put(h.alice, work, "1.ics", event("one", 2, "one"))
		h.put(h.alice, work, "2.ics", event("two", 2, "two"))
		h.put(h.alice, home, "3.ics", event("three", 2, "three"))
		h.Pass(time.Hour)
		then := h.Now()
		was := h.content(h.alice, work)

		h.put(h.assistant(), work, "1.ics", event("one", 3, "changed by a token"))
		h.put(h.alice, work, "1.ics", event("one", 3, "changed by a password"))
		h.must(h.Delete(h.ctx, h.alice, work, "2.ics", calendar.Precondition{}))
		h.put(h.alice, work, "4.ics", event("four", 2, "made since"))
		h.must(h.ChangeCalendar(h.ctx, h.alice, work.ID, func(p *calendar.Properties) error {
			p.Name = "Renamed"
			return nil
		}))
		h.put(h.alice, home, "3.ics", event("three", 5, "elsewhere"))
		elsewhere := h.content(h.alice, home)
		h.must(h.give(work.ID, h.bob.User.ID, calendar.ReadAccess))

		all := calendar.UndoSince{Anybody: true, At: then, Calendar: work.ID}
		done, err := h.UndoSince(h.ctx, h.alice, all)
		h.must(err)
		if len(done.Left) > 0 || len(done.Steps) == 0 {
			h.t.Errorf("%+v", done)
		}
		h.is(work, was)
		h.is(home, elsewhere)
		if got := h.fresh(h.bob, work); got.Access != calendar.ReadAccess {
			h.t.Errorf("bob has %v by now", got.Access)
		}
		h.Pass(time.Hour)
		_, err = h.UndoSince(h.ctx, h.alice, calendar.UndoSince{Anybody: true, At: then, Calendar: work.ID})
		h.must(err)
		h.is(work, was)
		_, err = h.UndoSince(h.ctx, h.alice,
			calendar.UndoSince{Anybody: true, At: then.Add(-2 * time.Hour), Calendar: work.ID})
		h.refused(err, calendar.Invalid, "", "there was no such calendar then")
		_, err = h.UndoSince(h.ctx, h.alice, calendar.UndoSince{Anybody: true, At: then})
		h.refused(err, calendar.Invalid, "", "say in which calendar")
		done, err = h.UndoSince(h.ctx, h.alice,
			calendar.UndoSince{Anybody: true, At: h.Now().Add(time.Hour), Calendar: work.ID})
		if err != nil || len(done.Steps) > 0 {
			h.t.Errorf("since a time to come: %+v, %v", done, err)
		}
	})
}

// TestUndoSinceForgottenLines: where the journal has forgotten whose changes there were, an undo since then says so,
// and does the rest when it is asked to.
func TestUndoSinceForgottenLines(t *testing.T) {
	each(t, func(h *house) {
		work, bot := h.calendar(h.alice, "work"), h.assistant()
		begin := h.Now()
		h.put(bot, work, "1.ics", event("one", 2, "one"))
		old := h.fresh(h.alice, work).SyncToken()
		h.put(bot, work, "1.ics", event("one", 3, "one, later"))
		gone := h.latest(h.alice, work).ID()
		h.Pass(time.Hour)
		forget := h.Now()
		h.Pass(time.Hour)
		middle, young := h.Now(), h.fresh(h.alice, work).SyncToken()
		h.put(bot, work, "2.ics", event("two", 2, "two"))
		h.must(h.Store.Prune(h.ctx, forget))
		h.must(h.Store.PruneLines(h.ctx, forget))
		was := h.content(h.alice, work)

		_, err := h.History(h.ctx, h.alice, calendar.HistoryQuery{After: old, Limit: 9})
		h.refused(err, calendar.Forbidden, calendar.RuleSyncToken, "the journal no longer has")
		page, err := h.History(h.ctx, h.alice, calendar.HistoryQuery{After: young, Limit: 9})
		h.must(err)
		if len(page.Changes) != 1 {
			h.t.Errorf("since what is gone there is %+v", page.Changes)
		}

		all := calendar.UndoSince{Token: "token", At: begin}
		_, err = h.UndoSince(h.ctx, h.alice, all)
		h.refused(err, calendar.Unsupported, "", "no longer has the changes up to")
		_, err = h.UndoSince(h.ctx, h.alice, calendar.UndoSince{Anybody: true, Calendar: work.ID, At: begin})
		h.refused(err, calendar.Unsupported, "", "no longer has")
		_, err = h.UndoSince(h.ctx, h.alice, calendar.UndoSince{Token: "another", At: begin})
		h.refused(err, calendar.Unsupported, "", "no longer has")
		_, err = h.UndoSince(h.ctx, h.alice, calendar.UndoSince{Token: "another", At: middle})
		h.refused(err, calendar.NotFound, "", "nothing")
		h.is(work, was)

		all.LeaveChanged = true
		done, err := h.UndoSince(h.ctx, h.alice, all)
		h.must(err)
		if len(done.Steps) != 1 || len(done.Left) != 1 || !done.Left[0].LinesGone || done.Left[0].ID() != gone {
			h.t.Errorf("done is %+v", done)
		}
		h.is(work, map[calendar.ObjectName]string{"1.ics": event("one", 3, "one, later")})
		h.put(bot, work, "3.ics", event("three", 2, "three"))
		if done, err := h.UndoSince(h.ctx, h.alice, calendar.UndoSince{Token: "token", At: middle}); err != nil ||
			len(done.Left) > 0 || len(done.Steps) != 1 {
			h.t.Errorf("since what is gone: %+v, %v", done, err)
		}
	})
}
