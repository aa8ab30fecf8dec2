package service_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/service"
)

// names lists users as one text.
func names(all []calendar.User) string {
	var list []string
	for _, u := range all {
		list = append(list, u.Name)
	}
	return strings.Join(list, " ")
}

// sees wants the users whom somebody sees.
func (h *house) sees(who calendar.Caller, want string) {
	h.t.Helper()
	people, err := h.People(h.ctx, who)
	h.must(err)
	if diff := cmp.Diff(want, names(people)); diff != "" {
		h.t.Errorf("%s sees (-want +got):\n%s", who.User.Name, diff)
	}
}

// finds wants the users whom somebody finds by a part of their name.
func (h *house) finds(who calendar.Caller, text, want string) {
	h.t.Helper()
	found, err := h.FindPeople(h.ctx, who, func(u calendar.User, is calendar.Comparison) bool {
		return is(u.Name, text, calendar.Contains) || is(u.Email, text, calendar.StartsWith)
	})
	h.must(err)
	if diff := cmp.Diff(want, names(found)); diff != "" {
		h.t.Errorf("%s finds by %q (-want +got):\n%s", who.User.Name, text, diff)
	}
}

func TestPeopleSeeWhomTheyShareWith(t *testing.T) {
	each(t, func(h *house) {
		eve := h.user("eve")
		work, home := h.calendar(h.alice, "work"), h.calendar(h.alice, "home")
		h.sees(h.alice, "alice")
		h.grant(work, h.bob, calendar.FreeBusyAccess)
		h.grant(home, h.bob, calendar.ReadAccess)
		h.grant(home, eve, calendar.WriteAccess)
		h.sees(h.alice, "alice bob eve")
		h.sees(h.bob, "alice bob")
		h.sees(eve, "alice eve")

		bound := h.alice
		bound.Calendars = []calendar.CalendarID{work.ID}
		h.sees(bound, "alice bob")
		blind := h.alice
		blind.Scopes = calendar.ScopeWrite
		h.sees(blind, "alice")

		h.must(h.Unshare(h.ctx, h.alice, home.ID, "eve"))
		h.sees(h.alice, "alice bob")
		h.sees(eve, "eve")
		h.spare(h.alice)
		h.must(h.DeleteCalendar(h.ctx, h.alice, home.ID))
		h.sees(h.bob, "alice bob")
		h.must(h.DeleteCalendar(h.ctx, h.alice, work.ID))
		h.sees(h.bob, "bob")
	})
}

// grant shares a calendar of alice's.
func (h *house) grant(cal calendar.Calendar, with calendar.Caller, access calendar.Access) {
	h.t.Helper()
	_, err := h.Share(h.ctx, h.alice, cal.ID, with.User.Name, access)
	h.must(err)
}

func TestOthersAreFoundByTheirWholeName(t *testing.T) {
	each(t, func(h *house) {
		eve := calendar.User{ID: "user-eve", Name: "eve", Email: "Eve@Example.com", Created: h.Now()}
		h.must(h.Store.InsertUser(h.ctx, eve, ""))
		h.grant(h.calendar(h.alice, "work"), h.bob, calendar.ReadAccess)

		h.finds(h.alice, "b", "bob")
		h.finds(h.alice, "B", "bob")
		h.finds(h.alice, "e", "alice")
		h.finds(h.alice, "EVE", "eve")
		h.finds(h.alice, "eve@example.com", "eve")
		h.finds(h.alice, "eve@", "")
		// Bob has no address, and nothing names nobody.
		h.finds(calendar.Caller{User: eve, Scopes: calendar.ScopeAll}, "", "eve")

		bound := h.alice
		bound.Calendars = []calendar.CalendarID{"another"}
		h.finds(bound, "eve", "")
		blind := h.alice
		blind.Scopes = calendar.ScopeShare
		h.finds(blind, "eve", "")
	})
}

func TestAnOpenDirectoryHasEverybody(t *testing.T) {
	each(t, func(h *house) {
		h.Service = service.New(service.Config{
			Store: h.Store, Policy: calendar.Policy{OpenDirectory: true}, Now: h.Now,
		})
		h.sees(h.alice, "alice bob")
		h.finds(h.alice, "b", "bob")
		bound := h.alice
		bound.Calendars = []calendar.CalendarID{"another"}
		h.sees(bound, "alice")
		h.finds(bound, "bob", "")
	})
}
