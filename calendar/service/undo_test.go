package service_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/edit"
	"caldav-mcp-server/calendar/ledger"
	"caldav-mcp-server/calendar/service"
	"caldav-mcp-server/store"
)

// latest returns the latest change of a calendar.
func (h *house) latest(c calendar.Caller, cal calendar.Calendar) calendar.Change {
	h.t.Helper()
	page, err := h.History(h.ctx, c, calendar.HistoryQuery{Calendar: cal.ID, Limit: 1})
	h.must(err)
	return page.Changes[0]
}

func (h *house) undo(c calendar.Caller, id calendar.ChangeID) calendar.Undone {
	h.t.Helper()
	done, err := h.Undo(h.ctx, c, id)
	h.must(err)
	return done
}

// content lists the live objects of a calendar with their bytes.
func (h *house) content(c calendar.Caller, cal calendar.Calendar) map[calendar.ObjectName]string {
	h.t.Helper()
	all := map[calendar.ObjectName]string{}
	for _, o := range h.all(h.Objects(h.ctx, nil, c, h.fresh(c, cal), calendar.ObjectQuery{WithData: true})) {
		all[o.Name] = string(o.Data)
	}
	return all
}

// is compares what a calendar holds with what it is to hold.
func (h *house) is(cal calendar.Calendar, want map[calendar.ObjectName]string) {
	h.t.Helper()
	if diff := cmp.Diff(want, h.content(h.alice, cal)); diff != "" {
		h.t.Errorf("the calendar (-want +got):\n%s", diff)
	}
}

func TestEachKindOfChangeIsUndone(t *testing.T) {
	each(t, func(h *house) {
		work := h.calendar(h.alice, "work")
		one, two := event("one", 2, "dinner"), event("one", 3, "lunch")

		h.put(h.alice, work, "1.ics", one)
		created := h.latest(h.alice, work).ID()
		h.undo(h.alice, created)
		h.is(work, map[calendar.ObjectName]string{})

		h.put(h.alice, work, "1.ics", one)
		h.put(h.alice, work, "1.ics", two)
		modified := h.latest(h.alice, work).ID()
		since := h.token(h.alice, work)
		h.undo(h.alice, modified)
		h.is(work, map[calendar.ObjectName]string{"1.ics": one})
		if got := h.changes(h.alice, work, since); got != "1.ics@6" {
			h.t.Errorf("clients hear of %q", got)
		}

		h.must(h.Delete(h.ctx, h.alice, work, "1.ics", calendar.Precondition{}))
		done := h.undo(h.alice, h.latest(h.alice, work).ID())
		h.is(work, map[calendar.ObjectName]string{"1.ics": one})
		if len(done.Steps) != 1 || done.Steps[0].Summary != "dinner" || done.Steps[0].Did != calendar.Created {
			h.t.Errorf("done is %+v", done)
		}
	})
}

// TestAnUndoIsUndone: it is a change like any other, and the journal knows what it took back.
func TestAnUndoIsUndone(t *testing.T) {
	each(t, func(h *house) {
		work := h.calendar(h.alice, "work")
		one, two := event("one", 2, "dinner"), event("one", 3, "lunch")
		h.put(h.alice, work, "1.ics", one)
		h.put(h.alice, work, "1.ics", two)
		change := h.latest(h.alice, work)
		h.undo(h.alice, change.ID())
		undo := h.latest(h.alice, work)
		if diff := cmp.Diff([]calendar.Version{change.Version}, undo.Undoes); diff != "" {
			h.t.Errorf("what it took back (-want +got):\n%s", diff)
		}
		_, err := h.Undo(h.ctx, h.alice, change.ID())
		h.refused(err, calendar.Stale, "", "taken back already, by the change "+undo.ID().String())
		h.undo(h.alice, undo.ID())
		h.is(work, map[calendar.ObjectName]string{"1.ics": two})
		h.undo(h.alice, change.ID())
		h.is(work, map[calendar.ObjectName]string{"1.ics": one})
	})
}

func TestWhatChangedSinceIsNotUndone(t *testing.T) {
	each(t, func(h *house) {
		work := h.calendar(h.alice, "work")
		h.put(h.alice, work, "1.ics", event("one", 2, "dinner"))
		created := h.latest(h.alice, work).ID()
		h.put(h.alice, work, "1.ics", event("one", 3, "dinner"))
		modified := h.latest(h.alice, work).ID()
		phone := h.alice
		phone.Agent = "the phone"
		h.put(phone, work, "1.ics", event("one", 3, "lunch"))
		last := h.latest(h.alice, work)
		for _, id := range []calendar.ChangeID{created, modified} {
			_, err := h.Undo(h.ctx, h.alice, id)
			h.refused(err, calendar.Stale, "", "SUMMARY")
		}
		_, err := h.Undo(h.ctx, h.alice, modified)
		h.refused(err, calendar.Stale, "", last.ID().String()+" of 2026-03-01 08:00:00Z by \"the phone\"")
		if strings.Contains(err.Error(), "DTSTART") {
			h.t.Errorf("what did not change is said to differ: %v", err)
		}
		if v := h.fresh(h.alice, work).Version; v != last.Version {
			h.t.Errorf("a refusal moved the calendar on to %d", v)
		}
		// What is as it was left has not changed, whatever it was in between.
		h.undo(h.alice, last.ID())
		h.undo(h.alice, modified)
		h.undo(h.alice, created)
		h.is(work, map[calendar.ObjectName]string{})
	})
}

// TestADeletionIsUndoneBesideANamesake: the name may be taken by something else, the UID may not.
func TestADeletionIsUndoneBesideANamesake(t *testing.T) {
	each(t, func(h *house) {
		work := h.calendar(h.alice, "work")
		old, young := event("one", 2, "old"), event("two", 2, "young")
		h.put(h.alice, work, "1.ics", old)
		h.must(h.Delete(h.ctx, h.alice, work, "1.ics", calendar.Precondition{}))
		deleted := h.latest(h.alice, work).ID()
		h.put(h.alice, work, "1.ics", young)
		done := h.undo(h.alice, deleted)
		restored := done.Steps[0].Object
		h.is(work, map[calendar.ObjectName]string{"1.ics": young, restored: old})

		h.must(h.Delete(h.ctx, h.alice, work, restored, calendar.Precondition{}))
		deleted = h.latest(h.alice, work).ID()
		h.put(h.alice, work, "again.ics", event("one", 5, "again"))
		_, err := h.Undo(h.ctx, h.alice, deleted)
		h.refused(err, calendar.Stale, "", "was followed by")

		h.must(h.Delete(h.ctx, h.alice, work, "again.ics", calendar.Precondition{}))
		h.put(h.alice, work, "again.ics", event("three", 5, "third"))
		saved, err := h.RestoreDeleted(h.ctx, h.alice, h.fresh(h.alice, work), "one")
		h.must(err)
		if saved.Object.Summary != "again" || saved.Object.Name == "again.ics" {
			h.t.Errorf("restored %q as %s", saved.Object.Summary, saved.Object.Name)
		}
		_, err = h.RestoreDeleted(h.ctx, h.alice, work, "never")
		h.refused(err, calendar.NotFound, "", "never")
	})
}

// TestWhatWasDoneTogetherIsUndoneTogether: a move, and a series that was split.
func TestWhatWasDoneTogetherIsUndoneTogether(t *testing.T) {
	each(t, func(h *house) {
		work, home := h.calendar(h.alice, "work"), h.calendar(h.alice, "home")
		text := event("one", 2, "x")
		h.put(h.alice, work, "1.ics", text)
		_, err := h.Move(h.ctx, h.alice, ledger.Transfer{From: work, Name: "1.ics", To: home, As: "2.ics"})
		h.must(err)
		h.undo(h.alice, h.latest(h.alice, work).ID())
		h.is(work, map[calendar.ObjectName]string{"1.ics": text})
		h.is(home, map[calendar.ObjectName]string{})

		_, err = h.Move(h.ctx, h.alice, ledger.Transfer{From: work, Name: "1.ics", To: work, As: "3.ics"})
		h.must(err)
		done := h.undo(h.alice, h.latest(h.alice, work).ID())
		h.is(work, map[calendar.ObjectName]string{"1.ics": text})
		if len(done.Steps) != 2 {
			h.t.Errorf("a renaming was undone in %d steps", len(done.Steps))
		}
		h.undo(h.alice, h.latest(h.alice, work).ID())
		h.is(work, map[calendar.ObjectName]string{"3.ics": text})

		series := weekly()
		h.put(h.alice, work, "3.ics", series)
		_, err = h.EditObject(h.ctx, h.alice, work, "one", ledger.Edit{Change: edit.Change{
			Target: edit.Target{Instance: monday(16), Scope: edit.Following},
			Fields: edit.Fields{Summary: edit.To("later")},
		}})
		h.must(err)
		if n := len(h.content(h.alice, work)); n != 2 {
			h.t.Fatalf("after the split there are %d objects", n)
		}
		h.undo(h.alice, h.latest(h.alice, work).ID())
		h.is(work, map[calendar.ObjectName]string{"3.ics": series})
	})
}

// TestWhatWasDoneTogetherStaysTogether: of a move or a split one part of which has changed since,
// nothing is taken back, lest an event be there twice.
func TestWhatWasDoneTogetherStaysTogether(t *testing.T) {
	each(t, func(h *house) {
		work, home := h.calendar(h.alice, "work"), h.calendar(h.alice, "home")
		h.put(h.alice, work, "1.ics", event("one", 2, "x"))
		_, err := h.Move(h.ctx, h.alice, ledger.Transfer{From: work, Name: "1.ics", To: home, As: "2.ics"})
		h.must(err)
		parts := []calendar.ChangeID{h.latest(h.alice, work).ID(), h.latest(h.alice, home).ID()}
		h.put(h.alice, home, "2.ics", event("one", 3, "changed"))

		h.put(h.alice, work, "3.ics", weekly())
		_, err = h.EditObject(h.ctx, h.alice, work, "one", ledger.Edit{Change: edit.Change{
			Target: edit.Target{Instance: monday(16), Scope: edit.Following},
			Fields: edit.Fields{Summary: edit.To("later")},
		}})
		h.must(err)
		parts = append(parts, h.latest(h.alice, work).ID())
		h.put(h.alice, work, "3.ics", event("one", 4, "changed"))

		atWork, atHome, version := h.content(h.alice, work), h.content(h.alice, home), h.fresh(h.alice, work).Version
		for _, id := range parts {
			_, err := h.Undo(h.ctx, h.alice, id)
			h.refused(err, calendar.Stale, "", "was followed by")
		}
		h.is(work, atWork)
		h.is(home, atHome)
		if v := h.fresh(h.alice, work).Version; v != version {
			h.t.Errorf("refusals moved the calendar on from %d to %d", version, v)
		}
	})
}

func TestAChangeOfACalendarIsUndone(t *testing.T) {
	each(t, func(h *house) {
		work := h.calendar(h.alice, "work")
		kept := calendar.DeadProperty{Name: calendar.PropertyName{Space: "urn:x", Local: "p"}, Value: "<p/>"}
		change := func(name string, add ...calendar.DeadProperty) calendar.ChangeID {
			h.must(h.PatchCalendar(h.ctx, h.alice, work.ID,
				func(p *calendar.Properties) ([]calendar.DeadProperty, error) {
					p.Name, p.Color = name, &name
					color := "#ff0000"
					p.Color = &color
					return add, nil
				}))
			return h.latest(h.alice, work).ID()
		}
		first := change("Job", kept)
		h.must(h.MoveCalendar(h.ctx, h.alice, work.ID, "job"))
		moved := h.latest(h.alice, work).ID()
		_, err := h.Undo(h.ctx, h.alice, first)
		h.refused(err, calendar.Stale, "", "address")
		h.undo(h.alice, moved)
		h.undo(h.alice, first)
		now := h.fresh(h.alice, work)
		if now.Segment != "work" || now.Name != work.Name || *now.Color != *work.Color {
			h.t.Errorf("it is %+v", now)
		}
		left, err := h.DeadProperties(h.ctx, h.alice, calendar.Holder{Place: calendar.AtCalendar, Calendar: now})
		h.must(err)
		if len(left) != 0 {
			h.t.Errorf("it keeps %v", left)
		}
		h.undo(h.alice, h.latest(h.alice, work).ID())
		left, err = h.DeadProperties(h.ctx, h.alice, calendar.Holder{Place: calendar.AtCalendar, Calendar: now})
		h.must(err)
		if diff := cmp.Diff([]calendar.DeadProperty{kept}, left); diff != "" {
			h.t.Errorf("it keeps (-want +got):\n%s", diff)
		}
	})
}

func TestADeletedCalendarComesBack(t *testing.T) {
	each(t, func(h *house) {
		work := h.calendar(h.alice, "work")
		made := h.latest(h.alice, work).ID()
		text := event("one", 2, "x")
		h.put(h.alice, work, "1.ics", text)
		_, err := h.Undo(h.ctx, h.alice, made)
		h.refused(err, calendar.Stale, "", "was followed by")
		h.spare(h.alice)
		h.must(h.DeleteCalendar(h.ctx, h.alice, work.ID))
		deleted := h.latest(h.alice, work)
		if !deleted.InTrash || deleted.Did != calendar.Deleted {
			h.t.Errorf("the change is %+v", deleted)
		}
		put := calendar.ChangeID{Calendar: work.ID, Version: deleted.Version - 1}
		_, err = h.Undo(h.ctx, h.alice, put)
		h.refused(err, calendar.Stale, "", "in the trash")

		other := h.calendar(h.alice, "work")
		h.undo(h.alice, deleted.ID())
		h.is(work, map[calendar.ObjectName]string{"1.ics": text})
		if at := h.fresh(h.alice, work).Segment; at != calendar.Segment(work.ID) {
			h.t.Errorf("it is at %s, beside another one at work", at)
		}
		_, err = h.Undo(h.ctx, h.alice, deleted.ID())
		h.refused(err, calendar.Stale, "", "already")
		h.undo(h.alice, h.latest(h.alice, other).ID())
		_, err = h.Calendar(h.ctx, h.alice, other.ID)
		h.refused(err, calendar.NotFound, "", "")
	})
}

func TestWhatTheJournalForgotIsNotUndone(t *testing.T) {
	each(t, func(h *house) {
		work := h.calendar(h.alice, "work")
		h.put(h.alice, work, "1.ics", event("one", 2, "x"))
		created := h.latest(h.alice, work).ID()
		h.put(h.alice, work, "1.ics", event("one", 2, "y"))
		h.must(h.Store.Prune(h.ctx, h.Now().Add(time.Hour)))
		old := h.latest(h.alice, work)
		if !old.Forgotten() {
			h.t.Errorf("the change is %+v", old)
		}
		_, err := h.Undo(h.ctx, h.alice, old.ID())
		h.refused(err, calendar.Unsupported, "", "too old")
		_, err = h.Undo(h.ctx, h.alice, created)
		h.refused(err, calendar.Stale, "", "was followed by")
	})
}

// lateStore lets others do something right before what is written next.
type lateStore struct {
	*store.Store
	before func()
}

func (s *lateStore) Update(ctx context.Context, do func(calendar.Tx) error) error {
	s.before()
	return s.Store.Update(ctx, do)
}

// What is taken away from somebody while they undo is not theirs to undo any more.
func TestUndoNeedsTheShareAsItIs(t *testing.T) {
	each(t, func(h *house) {
		for _, now := range []struct {
			access calendar.Access
			reason calendar.Reason
		}{
			{calendar.ReadAccess, calendar.Forbidden},
			{calendar.FreeBusyAccess, calendar.NotFound},
			{calendar.NoAccess, calendar.NotFound},
		} {
			work := h.calendar(h.alice, calendar.Segment(fmt.Sprint("work-", now.access)))
			h.share(h.alice, work, h.bob, calendar.WriteAccess)
			h.put(h.bob, h.fresh(h.bob, work), "1.ics", event(string(work.ID), 2, "x"))
			before, created := h.content(h.alice, work), h.latest(h.bob, work).ID()
			late := h.config
			late.Store = &lateStore{h.Store, func() { h.must(h.give(work.ID, h.bob.User.ID, now.access)) }}
			if _, err := service.New(late).Undo(h.ctx, h.bob, created); err == nil ||
				calendar.ReasonOf(err) != now.reason {
				h.t.Errorf("with access %d: %v, want %v", now.access, err, now.reason)
			}
			h.is(work, before)
		}
	})
}

// TestUndoIsForWhoMayWrite: what may be taken back is decided as for the same change by hand.
func TestUndoIsForWhoMayWrite(t *testing.T) {
	each(t, func(h *house) {
		work, private := h.calendar(h.alice, "work"), h.calendar(h.alice, "private")
		h.put(h.alice, work, "1.ics", event("one", 2, "x"))
		created := h.latest(h.alice, work).ID()
		hidden := h.latest(h.alice, private).ID()

		_, foreign := h.Undo(h.ctx, h.bob, created)
		h.refused(foreign, calendar.NotFound, "", created.String())
		_, err := h.Undo(h.ctx, h.bob, calendar.ChangeID{Calendar: "nowhere", Version: created.Version})
		if strings.ReplaceAll(err.Error(), "nowhere", string(work.ID)) != foreign.Error() {
			h.t.Errorf("a foreign change is refused with %q, one that never was with %q", foreign, err)
		}
		h.must(h.give(work.ID, h.bob.User.ID, calendar.ReadAccess))
		_, err = h.Undo(h.ctx, h.bob, created)
		h.refused(err, calendar.Forbidden, calendar.RulePrivileges, "")
		page, err := h.History(h.ctx, h.bob, calendar.HistoryQuery{Limit: 9})
		h.must(err)
		if len(page.Changes) != 0 || len(page.Closed) != 1 {
			h.t.Errorf("a reader sees %+v", page)
		}

		reader, bound, keeper := h.alice, h.alice, h.alice
		reader.Scopes = calendar.ScopeRead
		bound.Calendars = []calendar.CalendarID{work.ID}
		keeper.Scopes = calendar.ScopeRead | calendar.ScopeWrite
		_, err = h.Undo(h.ctx, reader, created)
		h.refused(err, calendar.Forbidden, calendar.RulePrivileges, "scope")
		_, err = h.Undo(h.ctx, keeper, created)
		h.refused(err, calendar.Forbidden, calendar.RulePrivileges, "delete")
		_, err = h.Undo(h.ctx, bound, hidden)
		h.refused(err, calendar.NotFound, "", hidden.String())
		page, err = h.History(h.ctx, bound, calendar.HistoryQuery{Limit: 9})
		h.must(err)
		for _, c := range page.Changes {
			if c.In.ID != work.ID {
				h.t.Errorf("a bound token sees %+v", c)
			}
		}
		h.must(h.give(work.ID, h.bob.User.ID, calendar.WriteAccess))
		_, err = h.Undo(h.ctx, h.bob, calendar.ChangeID{Calendar: work.ID, Version: 1})
		h.refused(err, calendar.Stale, "", "")
		h.undo(h.bob, created)
		h.is(work, map[calendar.ObjectName]string{})
		_, err = h.Undo(h.ctx, h.alice, calendar.ChangeID{Calendar: work.ID, Version: 99})
		h.refused(err, calendar.NotFound, "", "99")
	})
}

// TestAPartThatIsOutOfReach: a move out of the token's calendars cannot be half taken back.
func TestAPartThatIsOutOfReach(t *testing.T) {
	each(t, func(h *house) {
		work, private := h.calendar(h.alice, "work"), h.calendar(h.alice, "private")
		h.put(h.alice, work, "1.ics", event("one", 2, "x"))
		_, err := h.Move(h.ctx, h.alice, ledger.Transfer{From: work, Name: "1.ics", To: private, As: "1.ics"})
		h.must(err)
		bound := h.alice
		bound.Calendars = []calendar.CalendarID{work.ID}
		_, err = h.Undo(h.ctx, bound, h.latest(h.alice, work).ID())
		h.refused(err, calendar.Forbidden, calendar.RulePrivileges, "together with")
		if strings.Contains(err.Error(), string(private.ID)) {
			h.t.Errorf("it names what the token may not see: %v", err)
		}
	})
}

func TestParseChangeID(t *testing.T) {
	t.Parallel()
	for _, id := range []calendar.ChangeID{{Calendar: "a", Version: 1}, {Calendar: "a.b.7", Version: 99}} {
		got, err := calendar.ParseChangeID(id.String())
		if err != nil || got != id {
			t.Errorf("%v was read as %v, %v", id, got, err)
		}
	}
	for _, text := range []string{"", ".1", "a", "a.", "a.0", "a.-1", "a.b", fmt.Sprintf("a.%d0", uint64(1)<<63)} {
		if id, err := calendar.ParseChangeID(text); calendar.ReasonOf(err) != calendar.NotFound || err == nil {
			t.Errorf("%q was read as %v, %v", text, id, err)
		}
	}
}
