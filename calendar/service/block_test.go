package service_test

import (
	"fmt"
	"testing"
	"time"

	"caldav-mcp-server/calendar"
)

// TestBlockedSharer: a block ends all shares of the blocked user, and refuses new ones without a reason.
func TestBlockedSharer(t *testing.T) {
	each(t, func(h *house) {
		work, home := h.calendar(h.alice, "work"), h.calendar(h.alice, "home")
		h.offer(work, h.bob, calendar.ReadAccess, "")
		h.offer(home, h.bob, calendar.FreeBusyAccess, "")
		name, err := h.Block(h.ctx, h.bob, work.ID)
		h.must(err)
		blocked, err := h.Blocked(h.ctx, h.bob)
		h.must(err)
		if name != "alice" || len(blocked) != 1 || blocked[0].Name != "alice" {
			t.Errorf("bob has blocked %q: %v", name, blocked)
		}
		shared, err := h.SharedCalendars(h.ctx, h.bob)
		h.must(err)
		if len(shared) > 0 {
			t.Errorf("bob still has %v", shared)
		}
		_, err = h.Share(h.ctx, h.alice, work.ID, "bob", calendar.ReadAccess)
		h.refused(err, calendar.Invalid, "", `"bob" takes no calendars at present`)
		_, err = h.Answer(h.ctx, h.bob, h.invitation(work, h.bob), calendar.Reply{Accept: true})
		h.refused(err, calendar.Invalid, "", `you have blocked "alice"`)
		h.refused(h.Unblock(h.ctx, h.bob, "carl"), calendar.NotFound, "", "you have not blocked")
		h.must(h.Unblock(h.ctx, h.bob, "alice"))
		h.expects(h.bob, work.ID, calendar.NoAccess)
		_, err = h.Share(h.ctx, h.alice, work.ID, "bob", calendar.ReadAccess)
		h.must(err)
		h.expects(h.bob, work.ID, calendar.ReadAccess)
	})
}

// TestBlockedOffer: the sharer of a calendar that waits for an answer can be blocked, and nobody can block themselves.
func TestBlockedOffer(t *testing.T) {
	each(t, func(h *house) {
		h.asks()
		work := h.calendar(h.alice, "work")
		h.offer(work, h.bob, calendar.ReadAccess, "")
		_, err := h.Block(h.ctx, h.alice, work.ID)
		h.refused(err, calendar.Invalid, "", "is yours")
		_, err = h.Block(h.ctx, h.bob, work.ID)
		h.must(err)
		h.sharing("blocked", work, "bob:read:declined", "*:declined", "")
		_, err = h.Share(h.ctx, h.alice, work.ID, "bob", calendar.WriteAccess)
		h.refused(err, calendar.Invalid, "", "takes no calendars at present")
	})
}

// TestBlockedSharerInGroup: a block also ends access by groups, to calendars shared by name too, and Unblock restores
// that access.
func TestBlockedSharerInGroup(t *testing.T) {
	each(t, func(h *house) {
		carl := h.user("carl")
		h.grouped("staff", h.alice, h.bob, carl)
		work, home := h.calendar(h.alice, "work"), h.calendar(h.alice, "home")
		for _, cal := range []calendar.Calendar{work, home} {
			_, err := h.Share(h.ctx, h.alice, cal.ID, "staff", calendar.ReadAccess)
			h.must(err)
		}
		h.offer(work, h.bob, calendar.WriteAccess, "")
		_, err := h.Block(h.ctx, h.bob, home.ID)
		h.must(err)
		h.expects(h.bob, work.ID, calendar.NoAccess)
		h.expects(h.bob, home.ID, calendar.NoAccess)
		h.expects(carl, work.ID, calendar.ReadAccess)
		// A change of what the group has does not get around the block.
		_, err = h.Share(h.ctx, h.alice, home.ID, "staff", calendar.WriteAccess)
		h.must(err)
		h.expects(h.bob, home.ID, calendar.NoAccess)
		h.must(h.Unblock(h.ctx, h.bob, "alice"))
		h.expects(h.bob, work.ID, calendar.ReadAccess)
		h.expects(h.bob, home.ID, calendar.WriteAccess)
	})
}

// TestNewSharesOfADay: changes of a share do not count, and a share after a decline or a withdrawal does.
func TestNewSharesOfADay(t *testing.T) {
	each(t, func(h *house) {
		share := func(cal calendar.Calendar, with string, access calendar.Access) error {
			_, err := h.Share(h.ctx, h.alice, cal.ID, with, access)
			return err
		}
		var cals []calendar.Calendar
		for i := range 20 {
			cals = append(cals, h.calendar(h.alice, calendar.Segment(fmt.Sprintf("c%d", i))))
		}
		for _, cal := range cals[:18] {
			h.must(share(cal, "bob", calendar.FreeBusyAccess))
		}
		h.must(h.Leave(h.ctx, h.bob, cals[0].ID))
		h.must(share(cals[0], "bob", calendar.ReadAccess))
		h.must(h.Unshare(h.ctx, h.alice, cals[1].ID, "bob"))
		h.must(share(cals[1], "bob", calendar.ReadAccess))
		h.must(share(cals[1], "bob", calendar.WriteAccess))
		h.refused(share(cals[18], "bob", calendar.FreeBusyAccess), calendar.TooLarge, "",
			`you made 20 new shares with "bob" in the last 24 hours`)
		h.must(share(cals[1], "bob", calendar.ReadAccess))
		h.user("carl")
		h.must(share(cals[18], "carl", calendar.ReadAccess))

		// An undo restores a share that was counted when it was made.
		h.must(h.Unshare(h.ctx, h.alice, cals[1].ID, "bob"))
		h.undo(h.alice, h.latest(h.alice, cals[1]).ID())
		h.expects(h.bob, cals[1].ID, calendar.ReadAccess)

		h.Pass(25 * time.Hour)
		h.must(share(cals[18], "bob", calendar.FreeBusyAccess))
	})
}
