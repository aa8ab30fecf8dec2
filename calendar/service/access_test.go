package service_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"caldav-mcp-server/calendar"
)

// TestMay is the whole matrix of access, action and scope.
func TestMay(t *testing.T) {
	t.Parallel()
	const (
		yes    = "yes"
		hidden = "not_found"
		denied = "forbidden"
	)
	actions := []calendar.Action{
		calendar.SeeBusy, calendar.ReadObjects, calendar.WriteObjects, calendar.DeleteObjects,
		calendar.ChangeCalendar, calendar.DeleteCalendar, calendar.ShareCalendar,
		calendar.ListShares, calendar.ArrangeCalendar, calendar.LeaveCalendar,
	}
	for _, c := range []struct {
		name   string
		access calendar.Access
		scopes calendar.Scope
		want   []string
	}{
		{
			"stranger", calendar.NoAccess, calendar.ScopeAll,
			[]string{hidden, hidden, hidden, hidden, hidden, hidden, hidden, hidden, hidden, hidden},
		},
		{
			"free/busy", calendar.FreeBusyAccess, calendar.ScopeAll,
			[]string{yes, hidden, hidden, hidden, hidden, hidden, hidden, hidden, hidden, yes},
		},
		{
			"reader", calendar.ReadAccess, calendar.ScopeAll,
			[]string{yes, yes, denied, denied, denied, denied, denied, denied, yes, yes},
		},
		{
			"writer", calendar.WriteAccess, calendar.ScopeAll,
			[]string{yes, yes, yes, yes, denied, denied, denied, denied, yes, yes},
		},
		{"owner", calendar.OwnerAccess, calendar.ScopeAll, []string{yes, yes, yes, yes, yes, yes, yes, yes, yes, yes}},
		{
			"owner who reads", calendar.OwnerAccess, calendar.ScopeRead,
			[]string{yes, yes, denied, denied, denied, denied, denied, yes, denied, denied},
		},
		{
			"owner who writes", calendar.OwnerAccess, calendar.ScopeRead | calendar.ScopeWrite,
			[]string{yes, yes, yes, denied, yes, denied, denied, yes, yes, denied},
		},
		{
			"owner who may nothing", calendar.OwnerAccess, 0,
			[]string{denied, denied, denied, denied, denied, denied, denied, denied, denied, denied},
		},
	} {
		caller := calendar.Caller{Scopes: c.scopes}
		var got []string
		for _, a := range actions {
			answer := yes
			if err := caller.May(a, calendar.Calendar{
				ID: "one", Access: c.access, Properties: calendar.Properties{Kinds: calendar.AllKinds()},
			}); err != nil {
				answer = calendar.ReasonOf(err).String()
			}
			got = append(got, answer)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: -want +got\n%s", c.name, diff)
		}
	}
}

func TestABoundTokenReachesItsCalendarsAlone(t *testing.T) {
	each(t, func(h *house) {
		work, home := h.calendar(h.alice, "work"), h.calendar(h.alice, "home")
		bound := h.alice
		bound.Calendars = []calendar.CalendarID{work.ID}
		seen, err := h.Calendars(h.ctx, bound)
		h.must(err)
		if len(seen) != 1 || seen[0].ID != work.ID {
			h.t.Errorf("sees %v", seen)
		}
		_, err = h.Calendar(h.ctx, bound, home.ID)
		h.refused(err, calendar.NotFound, "", string(home.ID))
		_, err = h.CreateCalendar(h.ctx, bound, calendar.NewCalendar{Segment: "new"})
		h.refused(err, calendar.Forbidden, calendar.RulePrivileges, "limited to certain calendars")
		bound.Calendars = []calendar.CalendarID{}
		if seen, err = h.Calendars(h.ctx, bound); err != nil || len(seen) != 0 {
			h.t.Errorf("a token bound to nothing sees %v, %v", seen, err)
		}
	})
}

// TestForeignIsLikeMissing: what Bob asks of Alice's calendar is answered as for none at all.
func TestForeignIsLikeMissing(t *testing.T) {
	each(t, func(h *house) {
		work := h.calendar(h.alice, "work")
		h.put(h.alice, work, "1.ics", event("one", 2, "x"))
		asked := map[string]func(calendar.Calendar) error{
			"Calendar": func(c calendar.Calendar) error { _, err := h.Calendar(h.ctx, h.bob, c.ID); return err },
			"At": func(c calendar.Calendar) error {
				_, err := h.CalendarAt(h.ctx, h.bob, calendar.Segment(c.ID))
				return err
			},
			"Change": func(c calendar.Calendar) error {
				return h.ChangeCalendar(h.ctx, h.bob, c.ID, func(*calendar.Properties) error { return nil })
			},
			"DeleteCalendar": func(c calendar.Calendar) error { return h.DeleteCalendar(h.ctx, h.bob, c.ID) },
			"Object": func(c calendar.Calendar) error {
				_, err := h.Object(h.ctx, nil, h.bob, c, "1.ics")
				return err
			},
			"Delete": func(c calendar.Calendar) error {
				return h.Delete(h.ctx, h.bob, c, "1.ics", calendar.Precondition{})
			},
			"Put": func(c calendar.Calendar) error {
				_, err := h.Put(h.ctx, h.bob, c, calendar.Draft{Name: "2.ics", Data: []byte(event("two", 2, "x"))})
				return err
			},
		}
		foreign, missing := calendar.Calendar{ID: work.ID}, calendar.Calendar{ID: "id-99"}
		for name, ask := range asked {
			h.refused(ask(foreign), calendar.NotFound, "", `no calendar "`+string(work.ID)+`"`)
			h.refused(ask(missing), calendar.NotFound, "", `no calendar "id-99"`)
			if h.t.Failed() {
				h.t.Fatal(name)
			}
		}
	})
}
