package ledger

import (
	"context"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/change"
)

// notify tells a sharee about an offer. A free/busy share needs no notification, because no client can show it.
func notify(tx *change.Tx, cal calendar.Calendar, share calendar.Share) {
	n := share.About(cal)
	n.Name, n.Owner, n.Title = n.Invitation.Notice(), calendar.PersonOf(tx.Caller.User),
		calendar.Offer{Share: share, From: cal}.Name()
	if share.Access == calendar.FreeBusyAccess {
		tx.WithdrawNotice(share.User.ID, n.Name)
		return
	}
	tx.SendNotice(share.User.ID, n)
}

// notifyGone tells a sharee that a calendar is no longer shared with them. A sharee who has not accepted loses nothing
// and gets no notification.
func notifyGone(tx *change.Tx, cal calendar.Calendar, share calendar.Share) {
	if share.Status != calendar.ShareAccepted {
		tx.WithdrawNotice(share.User.ID, share.Invitation().Notice())
		return
	}
	share.Status = calendar.ShareWithdrawn
	notify(tx, cal, share)
}

// notifyOwner tells the owner the answer of the sharee, who is the caller, and removes the sharee's notification.
func notifyOwner(tx *change.Tx, cal calendar.Calendar, share calendar.Share, r calendar.Reply) {
	n := share.About(cal)
	n.Name, n.Reply, n.Title = n.Invitation.Reply(), true, r.Name
	tx.WithdrawNotice(share.User.ID, n.Invitation.Notice())
	tx.SendNotice(cal.Owner, n)
}

// announce tells all sharees that a calendar of the caller has come back, or is gone.
func announce(ctx context.Context, tx *change.Tx, cal calendar.Calendar, there bool) error {
	shares, err := tx.Shares(ctx, cal.ID)
	for _, share := range shares {
		switch {
		case !there:
			notifyGone(tx, cal, share)
		case share.Status != calendar.ShareDeclined:
			notify(tx, cal, share)
		}
	}
	return err
}

// Dismiss removes a notification. A pending invitation stays pending. To remove a notification that is already gone,
// for example because its invitation was answered, is no error.
func (s *Sharer) Dismiss(
	ctx context.Context, c calendar.Caller, name calendar.NoticeName, when calendar.Precondition,
) error {
	if err := c.MayOwn(calendar.AnswerInvitation); err != nil {
		return err
	}
	n, err := s.reader.Notification(ctx, c, name)
	if err != nil {
		if gone, failed := s.reader.Dismissed(ctx, c, name); gone || failed != nil {
			return failed
		}
		return err
	}
	if err := when.Check(n.ETag); err != nil {
		return err
	}
	return s.forget(ctx, c, name)
}

// forget removes the caller's notification.
func (s *Sharer) forget(ctx context.Context, c calendar.Caller, name calendar.NoticeName) error {
	return s.change(ctx, c, func(tx *change.Tx) error {
		tx.WithdrawNotice(c.User.ID, name)
		return nil
	})
}
