package service_test

import (
	"strings"
	"testing"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/ledger"
)

// place is where an object lies, for tests that move it.
type place struct {
	cal  calendar.Calendar
	name calendar.ObjectName
}

func (h *house) move(c calendar.Caller, from, to place, then calendar.Precondition) error {
	_, err := h.Move(h.ctx, c, ledger.Transfer{From: from.cal, Name: from.name, To: to.cal, As: to.name, Then: then})
	return err
}

func (h *house) copy(c calendar.Caller, from, to place, then calendar.Precondition) error {
	_, err := h.Copy(h.ctx, c, ledger.Transfer{From: from.cal, Name: from.name, To: to.cal, As: to.name, Then: then})
	return err
}

// TestMove: an object keeps its bytes, its tag and its creation; both ends hear of it.
func TestMove(t *testing.T) {
	each(t, func(h *house) {
		work, rest := h.calendar(h.alice, "work"), h.calendar(h.alice, "rest")
		was := h.put(h.alice, work, "1.ics", event("one", 2, "x")).Object
		h.must(h.SetDeadProperties(h.ctx, h.alice,
			calendar.Holder{Place: calendar.AtObject, Calendar: work, Object: "1.ics"},
			[]calendar.DeadProperty{{Name: calendar.PropertyName{Local: "x"}, Value: "<x/>"}}, calendar.Precondition{}))
		for _, step := range []struct{ from, to place }{
			{place{work, "1.ics"}, place{rest, "2.ics"}},
			{place{rest, "2.ics"}, place{rest, "3.ics"}}, // the UID stays legal within a calendar
			{place{rest, "3.ics"}, place{work, "1.ics"}}, // over a tombstone, and locks in the other order
		} {
			h.must(h.move(h.alice, step.from, step.to, calendar.Precondition{NoneMatchAny: true}))
			_, err := h.Object(h.ctx, nil, h.alice, step.from.cal, step.from.name)
			h.refused(err, calendar.NotFound, "", "")
			got, err := h.Object(h.ctx, nil, h.alice, step.to.cal, step.to.name)
			h.must(err)
			kept, err := h.DeadProperties(h.ctx, h.alice,
				calendar.Holder{Place: calendar.AtObject, Calendar: step.to.cal, Object: step.to.name})
			h.must(err)
			if got.ETag != was.ETag || string(got.Data) != string(was.Data) || !got.Created.Equal(was.Created) ||
				len(kept) != 1 {
				h.t.Errorf("%+v became %+v with %v", was, got, kept)
			}
		}
		if got := h.changes(h.alice, work, ""); got != "1.ics@5" {
			h.t.Errorf("work: %s", got)
		}
		if got := h.changes(h.alice, rest, ""); got != "" {
			h.t.Errorf("rest: %s", got)
		}
		for _, cal := range []calendar.Calendar{work, rest} {
			if got := h.trash(h.alice, cal); len(got) != 0 {
				h.t.Errorf("what was moved is in the trash of %q: %q", cal.Name, got)
			}
		}
		_, err := h.RestoreObject(h.ctx, h.alice, rest, "one", "")
		h.refused(err, calendar.NotFound, "", "one")
	})
}

func TestCopy(t *testing.T) {
	each(t, func(h *house) {
		work, rest := h.calendar(h.alice, "work"), h.calendar(h.alice, "rest")
		h.put(h.alice, work, "1.ics", event("one", 2, "new"))
		h.put(h.alice, rest, "1.ics", event("one", 2, "old"))
		from, to := place{work, "1.ics"}, place{rest, "1.ics"}
		h.refused(h.copy(h.alice, from, to, calendar.Precondition{NoneMatchAny: true}), calendar.Stale, "",
			"there already")
		h.must(h.copy(h.alice, from, to, calendar.Precondition{}))
		for _, at := range []place{from, to} {
			got, err := h.Object(h.ctx, nil, h.alice, at.cal, at.name)
			h.must(err)
			if got.Summary != "new" {
				h.t.Errorf("%s holds %q", at.cal.Segment, got.Summary)
			}
		}
	})
}

func TestTransfersAreRefused(t *testing.T) {
	each(t, func(h *house) {
		work, tasks := h.calendar(h.alice, "work"), h.calendar(h.alice, "tasks", calendar.Todo)
		rest := h.calendar(h.alice, "rest")
		theirs := h.calendar(h.bob, "theirs")
		h.put(h.alice, work, "1.ics", event("one", 2, "x"))
		h.put(h.alice, work, "2.ics", event("two", 2, "x"))
		h.put(h.alice, rest, "twin.ics", event("one", 3, "twin"))
		h.put(h.bob, theirs, "secret.ics", event("secret", 2, "x"))
		seen := theirs
		seen.Access = calendar.NoAccess
		reader := h.alice
		reader.Scopes = calendar.ScopeRead | calendar.ScopeWrite
		one := place{work, "1.ics"}
		for _, c := range []struct {
			caller   calendar.Caller
			from, to place
			reason   calendar.Reason
			rule     calendar.Rule
			says     string
		}{
			{h.alice, one, one, calendar.Forbidden, "", "already"},
			{h.alice, one, place{tasks, "1.ics"}, calendar.Forbidden, calendar.RuleSupportedKind, "VEVENT"},
			{h.alice, one, place{rest, "1.ics"}, calendar.Exists, calendar.RuleUIDConflict, "UID"},
			{h.alice, one, place{work, "2.ics"}, calendar.Exists, calendar.RuleUIDConflict, "cannot change"},
			{h.alice, one, place{rest, calendar.ObjectName(strings.Repeat("x", 600))}, calendar.Invalid, "", "name"},
			{h.alice, place{work, "none.ics"}, place{rest, "1.ics"}, calendar.NotFound, "", "none.ics"},
			{h.alice, one, place{seen, "1.ics"}, calendar.NotFound, "", ""},
			{h.alice, place{seen, "secret.ics"}, place{work, "s.ics"}, calendar.NotFound, "", ""},
			{reader, one, place{rest, "1.ics"}, calendar.Forbidden, calendar.RulePrivileges, "delete"},
		} {
			h.refused(h.move(c.caller, c.from, c.to, calendar.Precondition{}), c.reason, c.rule, c.says)
		}
		h.refused(h.copy(h.alice, one, place{work, "3.ics"}, calendar.Precondition{}), calendar.Exists,
			calendar.RuleUIDConflict, "UID")
		if got := h.changes(h.alice, work, "") + " " + h.changes(h.alice, rest, ""); got !=
			"1.ics@2 2.ics@3 twin.ics@2" {
			h.t.Errorf("after refusals alone: %s", got)
		}
	})
}

// Anyone who has both calendars learns that they changed together; of one alone, nothing of the other (security L1).
func TestMovesTellNothingOfOtherCalendars(t *testing.T) {
	each(t, func(h *house) {
		work, his := h.calendar(h.alice, "work"), h.calendar(h.bob, "his")
		h.share(h.alice, work, h.bob, calendar.WriteAccess)
		h.put(h.bob, his, "1.ics", event("one", 2, "one"))
		_, err := h.Move(h.ctx, h.bob, ledger.Transfer{From: his, Name: "1.ics", To: h.fresh(h.bob, work), As: "1.ics"})
		h.must(err)
		for _, who := range []struct {
			calendar.Caller
			together int
		}{{h.alice, 0}, {h.bob, 1}} {
			found, err := h.History(h.ctx, who.Caller, calendar.HistoryQuery{UID: "one", Limit: 10})
			h.must(err)
			together := 0
			for _, change := range found.Changes {
				one, err := h.Change(h.ctx, who.Caller, change.ID())
				h.must(err)
				if one.Unit != change.Unit {
					t.Errorf("%s: listed with %v, alone with %v", who.User.Name, change.Unit, one.Unit)
				}
				if change.Unit != change.ID() {
					together++
				}
			}
			if together != who.together {
				t.Errorf("%s: %d changes were made with another, want %d", who.User.Name, together, who.together)
			}
		}
	})
}
