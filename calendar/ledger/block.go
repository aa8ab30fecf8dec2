package ledger

import (
	"context"
	"slices"
	"strings"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/change"
)

// Block leaves a calendar that another user shares with the caller, or has offered, and blocks its owner. Until
// Unblock, the owner cannot share calendars with the caller, by name or by a group. Block returns the owner's name.
func (s *Sharer) Block(ctx context.Context, c calendar.Caller, id calendar.CalendarID) (string, error) {
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
	return from.OwnerName, s.block(ctx, c, from.Owner)
}

// BlockUser is Block for a user, who may share nothing with the caller so far.
func (s *Sharer) BlockUser(ctx context.Context, c calendar.Caller, sharer calendar.User) error {
	if err := c.MayOwn(calendar.LeaveCalendar); err != nil {
		return err
	}
	if sharer.ID == c.User.ID {
		return calendar.Errorf(calendar.Invalid, "", "%q cannot block themselves", sharer.Name)
	}
	return s.block(ctx, c, sharer.ID)
}

func (s *Sharer) block(ctx context.Context, c calendar.Caller, owner calendar.UserID) error {
	// The block commits first: later shares are refused, and declineAllOf finds all earlier ones.
	err := s.change(ctx, c, func(tx *change.Tx) error {
		if err := tx.HoldSharer(ctx, owner); err != nil {
			return err
		}
		return tx.PutBlock(ctx, c.User.ID, owner)
	})
	if err != nil {
		return err
	}
	return s.declineAllOf(ctx, c, owner)
}

// declineAllOf declines all shares by name of a blocked owner. It leaves no groups, so that Unblock brings back the
// calendars that groups give.
func (s *Sharer) declineAllOf(ctx context.Context, c calendar.Caller, owner calendar.UserID) error {
	offers, err := s.store.Offers(ctx, c.User.ID)
	if err != nil {
		return err
	}
	for _, o := range offers {
		if o.From.Owner != owner || o.Status == calendar.ShareDeclined {
			continue
		}
		err := change.UnlessSame(s.change(ctx, c, func(tx *change.Tx) error {
			t, err := s.sharing(ctx, tx, o.Calendar)
			if err != nil {
				return err
			}
			return t.reply(ctx, t.of(c.User.ID), calendar.Reply{Leave: true})
		}))
		if err != nil && calendar.ReasonOf(err) != calendar.NotFound { // NotFound: the owner has deleted it since
			return err
		}
	}
	return nil
}

// sharedOrOffered returns a calendar that the caller can see, or was offered.
func (s *Sharer) sharedOrOffered(
	ctx context.Context, c calendar.Caller, id calendar.CalendarID,
) (calendar.Calendar, error) {
	offers, err := s.reader.Offers(ctx, c)
	if err != nil {
		return calendar.Calendar{}, err
	}
	if i := slices.IndexFunc(offers, func(o calendar.Offer) bool { return o.Calendar == id }); i >= 0 {
		return offers[i].From, nil
	}
	return s.reader.Calendar(ctx, c, id)
}

// Unblock ends a block. Calendars that groups give come back. Shares by name stay declined until the owner shares
// again.
func (s *Sharer) Unblock(ctx context.Context, c calendar.Caller, name string) error {
	if err := c.MayOwn(calendar.AnswerInvitation); err != nil {
		return err
	}
	blocked, err := s.store.Blocked(ctx, c.User.ID)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(blocked, func(u calendar.User) bool {
		return strings.EqualFold(u.Name,
			strings.TrimSpace(name))
	})
	if i < 0 {
		return calendar.Errorf(calendar.NotFound, "", "you have not blocked %q", name)
	}
	return s.change(ctx, c, func(tx *change.Tx) error { return tx.DropBlock(ctx, c.User.ID, blocked[i].ID) })
}

// unblocked fails if the caller has blocked the calendar's owner.
func (t *sharing) unblocked(ctx context.Context) error {
	blocks, err := t.Blocks(ctx, t.Caller.User.ID, t.cal.Owner)
	if err != nil || !blocks {
		return err
	}
	return calendar.Errorf(calendar.Invalid, "", "you have blocked %q", t.cal.OwnerName).Advising("unblock them first")
}
