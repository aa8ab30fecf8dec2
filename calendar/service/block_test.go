package service_test

import (
	"fmt"
	"testing"

	"caldav-mcp-server/calendar"
)

// TestBlockedSharer: all that a blocked user shares goes, nothing new comes, and the refusal does not say why.
func TestBlockedSharer(t *testing.T) {
	each(t, func(h *house) {
		work, home := h.calendar(h.alice, "work"), h.calendar(h.alice, "home")
		h.offer(work, h.bob, calendar.ReadAccess, "")
		h.offer(home, h.bob, calendar.FreeBusyAccess, "")
		_, err := h.Block(h.ctx, h.bob, work.ID)
		h.must(err)
		shared, err := h.SharedCalendars(h.ctx, h.bob)
		h.must(err)
		if len(shared) > 0 {
			t.Errorf("bob still has %v", shared)
		}
		_, err = h.Share(h.ctx, h.alice, work.ID, "bob", calendar.ReadAccess)
		h.refused(err, calendar.Forbidden, "", "takes no calendars at present")
		h.must(h.Unblock(h.ctx, h.bob, "alice"))
		_, err = h.Share(h.ctx, h.alice, work.ID, "bob", calendar.ReadAccess)
		h.must(err)
	})
}

// TestNewSharesOfADay: twenty calendars a day from one user to another; to share one of them again is not new.
func TestNewSharesOfADay(t *testing.T) {
	each(t, func(h *house) {
		var cals []calendar.Calendar
		for i := range 21 {
			cals = append(cals, h.calendar(h.alice, calendar.Segment(fmt.Sprintf("c%d", i))))
		}
		for _, cal := range cals[:20] {
			h.offer(cal, h.bob, calendar.FreeBusyAccess, "")
		}
		_, err := h.Share(h.ctx, h.alice, cals[20].ID, "bob", calendar.ReadAccess)
		h.refused(err, calendar.TooLarge, "", "no more can be in a day")
		h.must(h.Unshare(h.ctx, h.alice, cals[3].ID, "bob"))
		_, err = h.Share(h.ctx, h.alice, cals[3].ID, "bob", calendar.ReadAccess)
		h.must(err)
	})
}
