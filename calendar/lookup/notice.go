package lookup

import (
	"cmp"
	"context"
	"slices"

	"caldav-mcp-server/calendar"
)

// Notifications returns what the caller was told, the latest change last.
func (s *Reader) Notifications(ctx context.Context, c calendar.Caller) ([]calendar.Notification, error) {
	changes, err := s.NotificationChanges(ctx, c, calendar.SyncToken{})
	return changes.There, err
}

// Notification returns one of them.
func (s *Reader) Notification(ctx context.Context, c calendar.Caller, name calendar.NoticeName) (calendar.Notification, error) {
	all, err := s.Notifications(ctx, c)
	if i := slices.IndexFunc(all, func(n calendar.Notification) bool { return n.Name == name }); err == nil && i >= 0 {
		return all[i], nil
	}
	if err == nil {
		err = calendar.Errorf(calendar.NotFound, "", "there is no notification %q", string(name))
	}
	return calendar.Notification{}, err
}

// Dismissed tells whether there was a notification of that name.
func (s *Reader) Dismissed(ctx context.Context, c calendar.Caller, name calendar.NoticeName) (bool, error) {
	box, err := s.store.Notices(ctx, c.User.ID)
	return slices.ContainsFunc(box.Notices, func(n calendar.Notice) bool { return n.Name == name && n.Gone }), err
}

// NotificationChanges tells what changed among the caller's notifications since a token; the
// zero token yields all that there are.
func (s *Reader) NotificationChanges(ctx context.Context, c calendar.Caller, since calendar.SyncToken) (calendar.NotificationChanges, error) {
	var changes calendar.NotificationChanges
	if err := c.MayOwn(calendar.ReadObjects); err != nil {
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
	past := calendar.History{Epoch: epoch, Of: calendar.CalendarID("notices-" + c.User.ID), Version: box.Version, Pruned: box.Pruned}
	if err := past.Check(since); err != nil {
		return changes, err
	}
	changes.Now = past.Now()
	slices.SortFunc(box.Notices, func(a, b calendar.Notice) int { return cmp.Compare(a.Version, b.Version) })
	for _, n := range box.Notices {
		switch {
		case n.Version <= since.Version:
		case n.Gone && since != (calendar.SyncToken{}):
			changes.Gone = append(changes.Gone, n)
		case !n.Gone:
			read, err := n.Decode()
			if err != nil {
				return changes, err
			}
			changes.There = append(changes.There, read)
		}
	}
	return changes, nil
}
