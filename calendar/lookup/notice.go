package lookup

import (
	"cmp"
	"context"
	"slices"

	"caldav-mcp-server/calendar"
)

// Notifications returns the caller's notifications, latest change last.
func (s *Reader) Notifications(ctx context.Context, c calendar.Caller) ([]calendar.Notification, error) {
	changes, err := s.NotificationChanges(ctx, c, calendar.SyncToken{})
	return changes.Items, err
}

// Notification returns one notification by name.
func (s *Reader) Notification(
	ctx context.Context, c calendar.Caller, name calendar.NoticeName,
) (calendar.Notification, error) {
	all, err := s.Notifications(ctx, c)
	if i := slices.IndexFunc(all, func(n calendar.Notification) bool { return n.Name == name }); err == nil && i >= 0 {
		return all[i], nil
	}
	if err == nil {
		err = calendar.Errorf(calendar.NotFound, "", "there is no notification %q", string(name))
	}
	return calendar.Notification{}, err
}

// Dismissed reports whether a notification of that name existed and is gone.
func (s *Reader) Dismissed(ctx context.Context, c calendar.Caller, name calendar.NoticeName) (bool, error) {
	box, err := s.store.Notices(ctx, c.User.ID)
	return slices.ContainsFunc(box.Items, func(n calendar.Notice) bool { return n.Name == name && n.Gone }), err
}

// NotificationChanges returns the changes to the caller's notifications since a token; the zero token returns all
// notifications.
func (s *Reader) NotificationChanges(
	ctx context.Context, c calendar.Caller, since calendar.SyncToken,
) (changes calendar.BoxChanges[calendar.Notification], err error) {
	told, err := boxChanges(ctx, s, c, notices, s.store.Notices, since)
	changes.Now = told.Now
	for _, n := range told.Items {
		read, err := n.Decode()
		if err != nil {
			return changes, err
		}
		changes.Items = append(changes.Items, read)
	}
	return changes, err
}

// NotificationToken returns the token of the box's current state.
func (s *Reader) NotificationToken(ctx context.Context, c calendar.Caller) (calendar.SyncToken, error) {
	_, past, err := openBox(ctx, s, c, notices, s.store.NoticeState)
	return past.Now(), err
}

// The prefixes of the boxes' IDs in tokens. They tell a box from the home, whose token has the user's ID too.
const notices, inbox calendar.CalendarID = "notices-", "inbox-"

// openBox reads a box of the caller.
func openBox[T any](ctx context.Context, s *Reader, c calendar.Caller, name calendar.CalendarID,
	open func(context.Context, calendar.UserID) (calendar.Box[T], error),
) (box calendar.Box[T], past calendar.History, err error) {
	if err := c.MayOwn(calendar.ReadObjects); err != nil {
		return box, past, err
	}
	epoch, err := s.store.Epoch(ctx)
	if err != nil {
		return box, past, err
	}
	box, err = open(ctx, c.User.ID)
	return box, calendar.History{
		Epoch: epoch, Of: name + calendar.CalendarID(c.User.ID), Version: box.Version, Pruned: box.Pruned,
	}, err
}

// boxChanges returns the changes to a box of the caller since a token, which must belong to that box.
func boxChanges[T calendar.BoxItem](ctx context.Context, s *Reader, c calendar.Caller, name calendar.CalendarID,
	open func(context.Context, calendar.UserID) (calendar.Box[T], error), since calendar.SyncToken,
) (changes calendar.BoxChanges[T], err error) {
	box, past, err := openBox(ctx, s, c, name, open)
	if err != nil {
		return changes, err
	}
	if err := past.Check(since); err != nil {
		return changes, err
	}
	changes.Now = past.Now()
	changes.Items = slices.DeleteFunc(box.Items, func(i T) bool {
		version, gone := i.Latest()
		return version <= since.Version || gone && since == (calendar.SyncToken{})
	})
	slices.SortFunc(changes.Items, func(a, b T) int {
		one, _ := a.Latest()
		other, _ := b.Latest()
		return cmp.Compare(one, other)
	})
	return changes, nil
}
