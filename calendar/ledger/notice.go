package ledger

import (
	"context"

	"caldav-mcp-server/calendar"
)

// notify tells a sharee about an offer. A free/busy share needs no notification, because no client can show it.
func (w *work) notify(cal calendar.Calendar, share calendar.Share) {
	n := share.About(cal)
	n.Name, n.Owner, n.Title = n.Invitation.Notice(), calendar.PersonOf(w.Caller.User), calendar.Offer{Share: share, From: cal}.Name()
	if share.Access == calendar.FreeBusyAccess {
		w.WithdrawNotice(share.User.ID, n.Name)
		return
	}
	w.SendNotice(share.User.ID, n)
}

// notifyGone tells a sharee that a calendar is no longer shared with them. A sharee who has not accepted loses nothing
// and gets no notification.
func (w *work) notifyGone(cal calendar.Calendar, share calendar.Share) {
	if share.Status != calendar.ShareAccepted {
		w.WithdrawNotice(share.User.ID, share.Invitation().Notice())
		return
	}
	share.Status = calendar.ShareWithdrawn
	w.notify(cal, share)
}

// notifyOwner tells the owner the answer of the sharee, who is the caller, and removes the sharee's notification.
func (w *work) notifyOwner(cal calendar.Calendar, share calendar.Share, r calendar.Reply) {
	n := share.About(cal)
	n.Name, n.Reply, n.Title = n.Invitation.Reply(), true, r.Name
	w.WithdrawNotice(share.User.ID, n.Invitation.Notice())
	w.SendNotice(cal.Owner, n)
}

// announce tells all sharees that a calendar of the caller has come back, or is gone.
func (w *work) announce(ctx context.Context, cal calendar.Calendar, there bool) error {
	shares, err := w.Tx.Shares(ctx, cal.ID)
	for _, share := range shares {
		switch {
		case !there:
			w.notifyGone(cal, share)
		case share.Status != calendar.ShareDeclined:
			w.notify(cal, share)
		}
	}
	return err
}

// Dismiss removes a notification. A pending invitation stays pending. To remove a notification that is already gone,
// for example because its invitation was answered, is no error.
func (s *Ledger) Dismiss(ctx context.Context, c calendar.Caller, name calendar.NoticeName, when calendar.Precondition) error {
	if err := c.MayOwn(calendar.AnswerInvitation); err != nil {
		return err
	}
	n, err := s.Notification(ctx, c, name)
	if err != nil {
		if gone, failed := s.Dismissed(ctx, c, name); gone || failed != nil {
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
func (s *Ledger) forget(ctx context.Context, c calendar.Caller, name calendar.NoticeName) error {
	return s.change(ctx, c, func(w *work) error {
		w.WithdrawNotice(c.User.ID, name)
		return nil
	})
}
