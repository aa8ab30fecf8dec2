package service_test

import (
	"testing"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
)

// grouped makes a group of users.
func (h *house) grouped(name string, members ...calendar.Caller) calendar.User {
	h.t.Helper()
	g := calendar.User{ID: calendar.UserID("group-" + name), Name: name, Created: h.Now(), Group: true}
	h.must(h.Store.InsertUser(h.ctx, g, ""))
	for _, m := range members {
		h.join(g, m)
	}
	return g
}

func (h *house) join(g calendar.User, c calendar.Caller) {
	h.t.Helper()
	_, err := h.Store.PutMember(h.ctx, g.ID, c.User.ID, h.Now())
	h.must(err)
}

// may is what a user can do with a calendar.
func (h *house) may(c calendar.Caller, id calendar.CalendarID) calendar.Access {
	h.t.Helper()
	cal, err := h.Calendar(h.ctx, c, id)
	if calendar.ReasonOf(err) == calendar.NotFound && err != nil {
		return calendar.NoAccess
	}
	h.must(err)
	return cal.Access
}

func (h *house) expects(c calendar.Caller, id calendar.CalendarID, want calendar.Access) {
	h.t.Helper()
	if got := h.may(c, id); got != want {
		h.t.Errorf("%s may %q, want %q", c.User.Name, got.Word(), want.Word())
	}
}

// Anyone who is in a group has what is shared with it, whenever either came, and nothing of it once they are out.
func TestGroupShare(t *testing.T) {
	each(t, func(h *house) {
		h.asks()
		carl := h.user("carl")
		staff := h.grouped("staff", h.alice, h.bob)
		cal := h.calendar(h.alice, "work")
		share, err := h.Share(h.ctx, h.alice, cal.ID, "Staff", calendar.WriteAccess)
		h.must(err)
		if share.Status != calendar.ShareAccepted || !share.User.Group {
			t.Errorf("the share: %+v", share)
		}
		h.expects(h.bob, cal.ID, calendar.WriteAccess)
		h.expects(h.alice, cal.ID, calendar.OwnerAccess)
		h.expects(carl, cal.ID, calendar.NoAccess)
		h.join(staff, carl)
		h.expects(carl, cal.ID, calendar.WriteAccess)
		seen, err := h.Calendar(h.ctx, carl, cal.ID)
		h.must(err)
		h.put(carl, seen, "a.ics", event("a", 1, "by carl"))
		h.must(h.Store.DropMember(h.ctx, staff.ID, carl.User.ID))
		h.expects(carl, cal.ID, calendar.NoAccess)
		_, err = h.Put(h.ctx, carl, seen, calendar.Draft{Name: "b.ics", Data: []byte(event("b", 1, "late"))})
		h.refused(err, calendar.NotFound, "", "no calendar")

		_, err = h.Share(h.ctx, h.alice, cal.ID, "staff", calendar.ReadAccess)
		h.must(err)
		h.expects(h.bob, cal.ID, calendar.ReadAccess)
		h.must(h.Unshare(h.ctx, h.alice, cal.ID, "staff"))
		h.expects(h.bob, cal.ID, calendar.NoAccess)
	})
}

// A calendar that is shared both ways is there once, with the most of both, and what was given by name stays.
func TestGroupShareBothWays(t *testing.T) {
	each(t, func(h *house) {
		staff, board := h.grouped("staff", h.alice, h.bob), h.grouped("board", h.alice, h.bob)
		cal := h.calendar(h.alice, "work")
		for _, one := range []struct {
			with   string
			access calendar.Access
		}{{"bob", calendar.ReadAccess}, {"staff", calendar.WriteAccess}, {"board", calendar.FreeBusyAccess}} {
			_, err := h.Share(h.ctx, h.alice, cal.ID, one.with, one.access)
			h.must(err)
		}
		h.expects(h.bob, cal.ID, calendar.WriteAccess)
		home, err := h.CalendarsInHome(h.ctx, h.bob)
		h.must(err)
		if len(home) != 1 {
			t.Errorf("bob has %d calendars", len(home))
		}
		h.must(h.Store.DropMember(h.ctx, staff.ID, h.bob.User.ID))
		h.expects(h.bob, cal.ID, calendar.ReadAccess)
		h.must(h.Unshare(h.ctx, h.alice, cal.ID, "bob"))
		h.expects(h.bob, cal.ID, calendar.FreeBusyAccess)
		h.must(h.Store.DeleteUser(h.ctx, board.ID))
		h.expects(h.bob, cal.ID, calendar.NoAccess)
	})
}

// Anyone who does not want it gives it up for themselves, and is asked nothing more until they are taken in anew.
func TestGroupShareLeft(t *testing.T) {
	each(t, func(h *house) {
		carl := h.user("carl")
		staff := h.grouped("staff", h.alice, h.bob, carl)
		cal := h.calendar(h.alice, "work")
		_, err := h.Share(h.ctx, h.alice, cal.ID, "staff", calendar.ReadAccess)
		h.must(err)
		h.must(h.Leave(h.ctx, h.bob, cal.ID))
		h.expects(h.bob, cal.ID, calendar.NoAccess)
		h.expects(carl, cal.ID, calendar.ReadAccess)
		_, err = h.Share(h.ctx, h.alice, cal.ID, "staff", calendar.WriteAccess)
		h.must(err)
		h.expects(h.bob, cal.ID, calendar.NoAccess)
		h.must(h.Store.DropMember(h.ctx, staff.ID, h.bob.User.ID))
		h.join(staff, h.bob)
		h.expects(h.bob, cal.ID, calendar.WriteAccess)
		h.refused(h.Leave(h.ctx, h.user("dora"), cal.ID), calendar.NotFound, "", "")
	})
}

// Who declined a calendar that was shared with them by name, and has it by a group since, gives it up as others do.
func TestGroupShareLeftAfterDeclined(t *testing.T) {
	each(t, func(h *house) {
		staff := h.grouped("staff", h.alice, h.bob)
		cal := h.calendar(h.alice, "work")
		_, err := h.Share(h.ctx, h.alice, cal.ID, "staff", calendar.WriteAccess)
		h.must(err)
		_, err = h.Share(h.ctx, h.alice, cal.ID, "bob", calendar.FreeBusyAccess)
		h.must(err)
		h.must(h.Leave(h.ctx, h.bob, cal.ID))
		h.expects(h.bob, cal.ID, calendar.NoAccess)
		h.must(h.Store.DropMember(h.ctx, staff.ID, h.bob.User.ID))
		h.join(staff, h.bob)
		h.expects(h.bob, cal.ID, calendar.WriteAccess)
		h.must(h.Leave(h.ctx, h.bob, cal.ID))
		h.expects(h.bob, cal.ID, calendar.NoAccess)
		h.refused(h.Leave(h.ctx, h.bob, cal.ID), calendar.NotFound, "", "")
	})
}

// Nobody shares with a group that they are not in, nor learns of it, and nobody gets in as one.
func TestGroupOfOthers(t *testing.T) {
	each(t, func(h *house) {
		h.config.OpenDirectory = true
		h.Service = serviceOf(h)
		h.grouped("board", h.bob)
		cal := h.calendar(h.alice, "work")
		_, err := h.Share(h.ctx, h.alice, cal.ID, "board", calendar.ReadAccess)
		h.refused(err, calendar.NotFound, "", `there is no user "board"`)
		share, err := h.Settle(h.ctx, h.alice, cal.ID, "board", calendar.ReadAccess)
		h.must(err)
		h.expects(h.bob, cal.ID, calendar.ReadAccess)
		_, err = h.Reshare(h.ctx, h.alice, cal.ID,
			[]calendar.ShareEdit{{With: share.User, Access: calendar.WriteAccess}})
		h.refused(err, calendar.Forbidden, "", `you are not in the group "board"`)
		people, err := h.People(h.ctx, h.alice)
		h.must(err)
		for _, u := range people {
			if u.Group {
				t.Errorf("alice sees %s", u.Name)
			}
		}
		login := auth.New(h.Login())
		for what, try := range map[string]func() error{
			"a token": func() error {
				_, _, err := login.CreateToken(h.ctx,
					auth.TokenSpec{User: "board", Name: "x", Scopes: calendar.ScopeAll})
				return err
			},
			"a password": func() error { return login.SetPassword(h.ctx, "board", "correct horse battery") },
			"a link": func() error {
				_, _, err := login.CreatePasswordLink(h.ctx, "board", auth.Reset)
				return err
			},
		} {
			h.refused(try(), calendar.NotFound, "", "there is no user")
			_ = what
		}
		h.must(h.Unshare(h.ctx, h.alice, cal.ID, "board"))
		h.expects(h.bob, cal.ID, calendar.NoAccess)
	})
}
