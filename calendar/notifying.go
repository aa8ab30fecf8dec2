package calendar

import (
	"cmp"
	"context"
	"slices"
)

// notify tells a sharee what they are offered. Of busy times there is nothing to tell: no
// program can show them.
func (w *work) notify(cal Calendar, share Share) {
	n := share.about(cal)
	n.Name, n.Owner, n.Title = n.Invitation.notice(), PersonOf(w.caller.User), cmp.Or(share.Title, cal.Name)
	if share.Access == FreeBusyAccess {
		w.recall(share.User.ID, n.Name)
		return
	}
	w.tell(share.User.ID, n)
}

// notifyGone tells a sharee that what they had is no longer offered. Who has not accepted loses
// nothing, and need not hear of it.
func (w *work) notifyGone(cal Calendar, share Share) {
	if share.Status != ShareAccepted {
		w.recall(share.User.ID, share.Invitation().notice())
		return
	}
	share.Status = ShareWithdrawn
	w.notify(cal, share)
}

// notifyOwner tells the owner what the sharee, who is the caller, answered. The invitation is
// dealt with.
func (w *work) notifyOwner(cal Calendar, share Share, r Reply) {
	n := share.about(cal)
	n.Name, n.Reply, n.Title = n.Invitation.reply(), true, r.Name
	w.recall(share.User.ID, n.Invitation.notice())
	w.tell(cal.Owner, n)
}

// announce tells all sharees of a calendar of the caller's that it is there again, or that it is
// not.
func (w *work) announce(ctx context.Context, cal Calendar, there bool) error {
	shares, err := w.Tx.Shares(ctx, cal.ID)
	for _, share := range shares {
		switch {
		case !there:
			w.notifyGone(cal, share)
		case share.Status != ShareDeclined:
			w.notify(cal, share)
		}
	}
	return err
}

// Notifications returns what the caller was told, the latest change last.
func (s *Service) Notifications(ctx context.Context, c Caller) ([]Notification, error) {
	changes, err := s.NotificationChanges(ctx, c, SyncToken{})
	return changes.There, err
}

// Notification returns one of them.
func (s *Service) Notification(ctx context.Context, c Caller, name NoticeName) (Notification, error) {
	all, err := s.Notifications(ctx, c)
	if i := slices.IndexFunc(all, func(n Notification) bool { return n.Name == name }); err == nil && i >= 0 {
		return all[i], nil
	}
	if err == nil {
		err = Errorf(NotFound, "", "there is no notification %q", string(name))
	}
	return Notification{}, err
}

// Dismiss removes a notification. An invitation that waits for an answer goes on to wait. What
// was removed already, as an invitation is with its answer, may be removed by its reader still.
func (s *Service) Dismiss(ctx context.Context, c Caller, name NoticeName, when Precondition) error {
	if err := c.MayOwn(AnswerInvitation); err != nil {
		return err
	}
	n, err := s.Notification(ctx, c, name)
	if err != nil {
		if gone, failed := s.dismissed(ctx, c, name); gone || failed != nil {
			return failed
		}
		return err
	}
	if err := when.Check(n.ETag); err != nil {
		return err
	}
	return s.forget(ctx, c, name)
}

// forget takes back what the caller was told.
func (s *Service) forget(ctx context.Context, c Caller, name NoticeName) error {
	return s.change(ctx, c, func(w *work) error {
		w.recall(c.User.ID, name)
		return nil
	})
}

// dismissed tells whether there was a notification of that name.
func (s *Service) dismissed(ctx context.Context, c Caller, name NoticeName) (bool, error) {
	box, err := s.store.Notices(ctx, c.User.ID)
	return slices.ContainsFunc(box.Notices, func(n Notice) bool { return n.Name == name && n.Gone }), err
}

// NotificationChanges tells what changed among the caller's notifications since a token; the
// zero token yields all that there are.
func (s *Service) NotificationChanges(ctx context.Context, c Caller, since SyncToken) (NotificationChanges, error) {
	var changes NotificationChanges
	if err := c.MayOwn(ReadObjects); err != nil {
		return changes, err
	}
	epoch, err := s.store.Epoch(ctx)
	if err != nil {
		return changes, err
	}
	box, err := s.store.Notices(ctx, c.User.ID)
	if err != nil {
		return changes, err
	}
	// A home's token begins with the user's id as well.
	now := Calendar{Epoch: epoch, ID: CalendarID("notices-" + c.User.ID), Version: box.Version, Pruned: box.Pruned}
	if since != (SyncToken{}) {
		if err := since.check(now); err != nil {
			return changes, err
		}
	}
	changes.Now = now.SyncToken()
	slices.SortFunc(box.Notices, func(a, b Notice) int { return cmp.Compare(a.Version, b.Version) })
	for _, n := range box.Notices {
		switch {
		case n.Version <= since.Version:
		case n.Gone && since != (SyncToken{}):
			changes.Gone = append(changes.Gone, n)
		case !n.Gone:
			read, err := n.decode()
			if err != nil {
				return changes, err
			}
			changes.There = append(changes.There, read)
		}
	}
	return changes, nil
}
