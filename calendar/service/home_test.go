package service_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"caldav-mcp-server/calendar"
)

// home lists what changed in a home since a token, removed ones with a minus, and returns
// the token of now.
func (h *house) home(c calendar.Caller, since calendar.SyncToken) (string, calendar.SyncToken) {
	h.t.Helper()
	got, err := h.HomeChanges(h.ctx, c, since)
	h.must(err)
	var list []string
	for _, change := range got.List {
		line := string(change.Address)
		if change.Gone {
			line = "-" + line
		} else if change.Calendar.ID == "" {
			h.t.Errorf("%s comes without its calendar", line)
		}
		list = append(list, line)
	}
	slices.Sort(list)
	return strings.Join(list, " "), got.Now
}

func TestHomeChanges(t *testing.T) {
	each(t, func(h *house) {
		work, rest := h.calendar(h.alice, "work"), h.calendar(h.alice, "rest")
		shared := h.calendar(h.bob, "shared")
		sharedAt := string(shared.ID)
		_, token := h.home(h.alice, calendar.SyncToken{})
		for _, step := range []struct {
			name string
			do   func()
			want string
		}{
			{"nothing", func() {}, ""},
			{"an object", func() { h.put(h.alice, work, "1.ics", event("one", 2, "x")) }, "work"},
			{"properties", func() {
				h.must(h.ChangeCalendar(h.ctx, h.alice, rest.ID, func(p *calendar.Properties) error {
					p.Name = "x"
					return nil
				}))
			}, "rest"},
			{"another's calendar", func() { h.put(h.bob, shared, "1.ics", event("one", 2, "x")) }, ""},
			{"a share", func() { h.must(h.give(shared.ID, h.alice.User.ID, calendar.ReadAccess)) }, sharedAt},
			{"an object of it", func() { h.put(h.bob, shared, "2.ics", event("two", 2, "x")) }, sharedAt},
			{"more access", func() { h.must(h.give(shared.ID, h.alice.User.ID, calendar.WriteAccess)) }, sharedAt},
			{
				"busy times alone", func() { h.must(h.give(shared.ID, h.alice.User.ID, calendar.FreeBusyAccess)) },
				sharedAt,
			},
			{
				"an object that is not hers to know of",
				func() { h.put(h.bob, shared, "3.ics", event("three", 2, "x")) }, "",
			},
			{"what it is for", func() {
				h.must(h.ChangeCalendar(h.ctx, h.bob, shared.ID, func(p *calendar.Properties) error {
					p.Description = &p.Name
					return nil
				}))
			}, ""},
			{"its name", func() {
				h.must(h.ChangeCalendar(h.ctx, h.bob, shared.ID, func(p *calendar.Properties) error {
					p.Name = "y"
					return nil
				}))
			}, sharedAt},
			{"no share", func() { h.must(h.give(shared.ID, h.alice.User.ID, calendar.NoAccess)) }, "-" + sharedAt},
			{"another address", func() { h.must(h.MoveCalendar(h.ctx, h.alice, rest.ID, "new")) }, "-rest new"},
			{"removal", func() { h.must(h.DeleteCalendar(h.ctx, h.alice, work.ID)) }, "-work"},
			{"another one in its place", func() { h.calendar(h.alice, "work") }, "work"},
		} {
			step.do()
			got, next := h.home(h.alice, token)
			if got != step.want {
				h.t.Errorf("%s: %q, want %q", step.name, got, step.want)
			}
			if (next == token) != (step.want == "") {
				h.t.Errorf("%s: the token %s became %s", step.name, token, next)
			}
			token = next
		}
		if got, _ := h.home(h.alice, calendar.SyncToken{}); got != "new work" {
			h.t.Errorf("from the start: %q", got)
		}
		bound := h.alice
		bound.Calendars = []calendar.CalendarID{rest.ID}
		if got, _ := h.home(bound, calendar.SyncToken{}); got != "new" {
			h.t.Errorf("with a token that is bound: %q", got)
		}
	})
}

// A token that is bound to a calendar hears that it is gone from its address, though another one, that
// it does not see, is there by now. What it cannot be told by a change, it finds from the start.
func TestBoundHomesHearOfReplacedCalendars(t *testing.T) {
	each(t, func(h *house) {
		work, rest := h.calendar(h.alice, "work"), h.calendar(h.alice, "rest")
		bound := h.alice
		bound.Calendars = []calendar.CalendarID{work.ID, rest.ID}
		_, whole := h.home(h.alice, calendar.SyncToken{})
		_, token := h.home(bound, calendar.SyncToken{})
		h.must(h.MoveCalendar(h.ctx, h.alice, rest.ID, "new"))
		got, token := h.home(bound, token)
		if got != "-rest new" {
			t.Errorf("moved: %q", got)
		}
		h.must(h.DeleteCalendar(h.ctx, h.alice, work.ID))
		h.calendar(h.alice, "work")
		_, err := h.HomeChanges(h.ctx, bound, token)
		h.refused(err, calendar.Forbidden, calendar.RuleSyncToken, "from the start")
		got, token = h.home(bound, calendar.SyncToken{})
		if got != "new" {
			t.Errorf("from the start: %q", got)
		}
		if got, token = h.home(bound, token); got != "" {
			t.Errorf("once more: %q", got)
		}
		if got, _ := h.home(h.alice, whole); got != "-rest new work" {
			t.Errorf("a token that sees everything: %q", got)
		}
		// One that went is told of as long as nothing else came in its place.
		h.spare(h.alice)
		h.must(h.DeleteCalendar(h.ctx, h.alice, rest.ID))
		if got, _ := h.home(bound, token); got != "-new" {
			t.Errorf("deleted: %q", got)
		}
	})
}

// A program that goes on with a calendar which was taken from it may make one at the old address.
func TestOwnCalendarsHideSharedOnes(t *testing.T) {
	each(t, func(h *house) {
		shared := h.calendar(h.bob, "shared")
		h.must(h.give(shared.ID, h.alice.User.ID, calendar.ReadAccess))
		at := calendar.Segment(shared.ID)
		check := func(what string, want calendar.CalendarID) {
			t.Helper()
			there, err := h.CalendarAt(h.ctx, h.alice, at)
			h.must(err)
			changes, err := h.HomeChanges(h.ctx, h.alice, calendar.SyncToken{})
			h.must(err)
			i := slices.IndexFunc(changes.List, func(c calendar.HomeChange) bool { return c.Address == at })
			if there.ID != want || i < 0 || changes.List[i].Calendar.ID != want {
				t.Errorf("%s: there is %s, and synchronized %+v; want %s", what, there.ID, changes.List, want)
			}
		}
		check("shared", shared.ID)
		own, err := h.CreateCalendar(h.ctx, h.alice, calendar.NewCalendar{Segment: at})
		h.must(err)
		check("made", own.ID)
		h.spare(h.alice)
		h.must(h.DeleteCalendar(h.ctx, h.alice, own.ID))
		check("deleted", shared.ID)
	})
}

func TestHomeTokensAreRefused(t *testing.T) {
	each(t, func(h *house) {
		work := h.calendar(h.alice, "work")
		h.spare(h.alice)
		_, first := h.home(h.alice, calendar.SyncToken{})
		_, his := h.home(h.bob, calendar.SyncToken{})
		h.must(h.DeleteCalendar(h.ctx, h.alice, work.ID))
		_, second := h.home(h.alice, first)
		h.must(h.Store.Prune(h.ctx, h.Now().Add(time.Hour)))
		future := second
		future.Version++
		for _, token := range []calendar.SyncToken{first, his, future} {
			_, err := h.HomeChanges(h.ctx, h.alice, token)
			h.refused(err, calendar.Forbidden, calendar.RuleSyncToken, "from the start")
		}
		if got, _ := h.home(h.alice, second); got != "" {
			h.t.Errorf("since the removal: %q", got)
		}
	})
}

// TestHomesAreNoticedOnce: readers at once do not make up changes.
func TestHomesAreNoticedOnce(t *testing.T) {
	each(t, func(h *house) {
		for i := range 5 {
			h.calendar(h.alice, calendar.Segment(fmt.Sprint(i)))
		}
		tokens := make(chan calendar.SyncToken)
		for range 8 {
			go func() {
				got, err := h.HomeChanges(h.ctx, h.alice, calendar.SyncToken{})
				if err != nil {
					h.t.Error(err)
				}
				tokens <- got.Now
			}()
		}
		for range 8 {
			if token := <-tokens; token.Version != 5 {
				h.t.Errorf("the home of five new calendars is at %d", token.Version)
			}
		}
	})
}

func TestKeptPropertiesAreBounded(t *testing.T) {
	each(t, func(h *house) {
		home := calendar.Holder{Place: calendar.AtHome, User: h.alice.User.ID}
		keep := func(c calendar.Caller, edits ...calendar.DeadProperty) error {
			return h.SetDeadProperties(h.ctx, c, home, edits, calendar.Precondition{})
		}
		large := calendar.DeadProperty{
			Name: calendar.PropertyName{Local: "x"}, Value: strings.Repeat("x", calendar.MaxDeadPropertyBytes+1),
		}
		h.refused(keep(h.alice, large), calendar.TooLarge, calendar.RuleDiskSpace, "bytes")
		var many []calendar.DeadProperty
		for i := range calendar.MaxDeadProperties + 1 {
			many = append(many, calendar.DeadProperty{Name: calendar.PropertyName{Local: fmt.Sprint(i)}, Value: "x"})
		}
		h.refused(keep(h.alice, many...), calendar.TooLarge, calendar.RuleDiskSpace, "100")
		h.must(keep(h.alice, many[1:]...))
		fit := calendar.MaxAllDeadPropertyBytes / calendar.MaxDeadPropertyBytes
		for i := range many[1:] {
			many[i+1].Value = strings.Repeat("x", calendar.MaxDeadPropertyBytes)
		}
		h.refused(keep(h.alice, many[1:fit+1]...), calendar.TooLarge, calendar.RuleDiskSpace, "in all")
		h.must(keep(h.alice, many[1:fit]...))
		h.must(keep(h.alice, calendar.DeadProperty{Name: many[1].Name}))
		bound := h.alice
		bound.Calendars = []calendar.CalendarID{}
		h.refused(keep(bound, many[1]), calendar.Forbidden, calendar.RulePrivileges, "limited to certain calendars")
		if got, err := h.DeadProperties(h.ctx, bound, home); err != nil || got != nil {
			h.t.Errorf("a bound token reads %v, %v", got, err)
		}
	})
}

// TestBoundTokensLearnOfNoOtherCalendar: neither by the number of the home, nor by what address is taken (security L2).
func TestBoundTokensLearnOfNoOtherCalendar(t *testing.T) {
	each(t, func(h *house) {
		work, secret := h.calendar(h.alice, "work"), h.calendar(h.alice, "secret")
		bound := h.alice
		bound.Calendars = []calendar.CalendarID{work.ID}
		_, before := h.home(bound, calendar.SyncToken{})
		h.put(h.alice, secret, "1.ics", event("one", 9, "x"))
		if _, after := h.home(bound, calendar.SyncToken{}); after != before {
			h.t.Errorf("a change elsewhere: %v, then %v", before, after)
		}
		h.put(h.alice, work, "1.ics", event("one", 9, "x"))
		got, after := h.home(bound, before)
		if got != "work" || after == before {
			h.t.Errorf("a change here: %q, %v, then %v", got, before, after)
		}
		if got, _ := h.home(bound, after); got != "" {
			h.t.Errorf("told of again: %q", got)
		}
		for _, to := range []calendar.Segment{"secret", "free"} {
			h.refused(h.MoveCalendar(h.ctx, bound, work.ID, to), calendar.Forbidden, calendar.RulePrivileges,
				"limited to certain calendars")
		}
	})
}
