package ledger

import (
	"context"
	"slices"
	"strings"

	"caldav-mcp-server/calendar"
)

// Block leaves a calendar that somebody shares with the caller, or has offered, and blocks its owner: nothing of the owner's is
// shared with the caller any more, by name or by a group, until Unblock. It returns the owner's name.
func (s *Ledger) Block(ctx context.Context, c calendar.Caller, id calendar.CalendarID) (string, error) {
	if err := c.MayOwn(calendar.LeaveCalendar); err != nil {
		return "", err
	}
	from, err := s.sharedOrOffered(ctx, c, id)
	if err != nil {
		return "", err
	}
	if from.Owner == c.User.ID {
		return "", calendar.Errorf(calendar.Invalid, "", "the calendar %q is yours", from.Name)
	}
	// The block comes first, in a transaction of its own: whatever the owner shares from then on is refused, and what came before is
	// found below.
	err = s.change(ctx, c, func(w *work) error {
		if err := w.HoldSharer(ctx, from.Owner); err != nil {
			return err
		}
		return w.PutBlock(ctx, c.User.ID, from.Owner)
	})
	if err != nil {
		return "", err
	}
	return from.OwnerName, s.leaveAllOf(ctx, c, from.Owner)
}

// leaveAllOf declines all that one user shares with the caller by name.
func (s *Ledger) leaveAllOf(ctx context.Context, c calendar.Caller, owner calendar.UserID) error {
	offers, err := s.store.Offers(ctx, c.User.ID)
	if err != nil {
		return err
	}
	for _, o := range offers {
		if o.From.Owner != owner || o.Status == calendar.ShareDeclined {
			continue
		}
		err := unlessSame(s.change(ctx, c, func(w *work) error { return w.answer(ctx, o.Calendar, calendar.Reply{Leave: true}) }))
		if err != nil && calendar.ReasonOf(err) != calendar.NotFound { // it may have been taken back meanwhile
			return err
		}
	}
	return nil
}

// sharedOrOffered is a calendar that the caller has of somebody else's, or was offered.
func (s *Ledger) sharedOrOffered(ctx context.Context, c calendar.Caller, id calendar.CalendarID) (calendar.Calendar, error) {
	offers, err := s.Offers(ctx, c)
	if err != nil {
		return calendar.Calendar{}, err
	}
	if i := slices.IndexFunc(offers, func(o calendar.Offer) bool { return o.Calendar == id }); i >= 0 {
		return offers[i].From, nil
	}
	return s.Calendar(ctx, c, id)
}

// Unblock ends a block of the caller's. What was declined or left stays so until it is shared again; groups give again what they have.
func (s *Ledger) Unblock(ctx context.Context, c calendar.Caller, name string) error {
	if err := c.MayOwn(calendar.AnswerInvitation); err != nil {
		return err
	}
	blocked, err := s.store.Blocked(ctx, c.User.ID)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(blocked, func(u calendar.User) bool { return strings.EqualFold(u.Name, strings.TrimSpace(name)) })
	if i < 0 {
		return calendar.Errorf(calendar.NotFound, "", "you have not blocked %q", name)
	}
	return s.change(ctx, c, func(w *work) error { return w.DropBlock(ctx, c.User.ID, blocked[i].ID) })
}

// unblocked refuses to accept anything of somebody whom the caller has blocked.
func (t *sharing) unblocked(ctx context.Context) error {
	blocks, err := t.Blocks(ctx, t.caller.User.ID, t.cal.Owner)
	if err != nil || !blocks {
		return err
	}
	return calendar.Errorf(calendar.Forbidden, "", "you have blocked %q", t.cal.OwnerName).Advising("end the block first")
}
