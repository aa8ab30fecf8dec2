package watch

import (
	"context"
	"time"

	"caldav-mcp-server/calendar"
)

// The limits on the lifetime of a push subscription, and on a user's subscriptions in total and to their home.
const (
	leastPush   = 3 * 24 * time.Hour
	longestPush = 14 * 24 * time.Hour
	maxPushes   = 200
	maxHomes    = 20
)

// RegisterPush subscribes a program to changes in a calendar, or in the caller's home if sub.Calendar is empty.
// Expires is the requested end; zero means the minimum.
func (s *Hub) RegisterPush(
	ctx context.Context, c calendar.Caller, sub calendar.PushSubscription,
) (calendar.PushSubscription, error) {
	if err := s.mayPush(ctx, c, sub.Calendar); err != nil {
		return sub, err
	}
	if err := s.sendable(ctx, sub.Endpoint); err != nil {
		return sub, calendar.Errorf(calendar.Invalid, "", "%s", err)
	}
	now := s.now().UTC().Truncate(time.Second)
	least, longest := now.Add(leastPush), now.Add(longestPush)
	switch {
	case sub.Expires.IsZero(), sub.Expires.Before(least):
		sub.Expires = least
	case sub.Expires.After(longest):
		sub.Expires = longest
	}
	sub.Expires = sub.Expires.UTC()
	sub.ID, sub.User, sub.Token, sub.Due = calendar.PushID(s.newID()), c.User.ID, c.Token, now
	return s.store.RegisterPush(ctx, sub, maxPushes, maxHomes)
}

// mayPush authorizes a caller to watch a calendar or the home.
func (s *Hub) mayPush(ctx context.Context, c calendar.Caller, id calendar.CalendarID) error {
	if id == "" {
		return c.MayOwn(calendar.ReadObjects)
	}
	cal, err := s.Calendar(ctx, c, id)
	if err != nil {
		return err
	}
	return c.May(calendar.ReadObjects, cal)
}

// UnregisterPush ends a subscription of the caller.
func (s *Hub) UnregisterPush(ctx context.Context, c calendar.Caller, id calendar.PushID) error {
	err := s.store.UnregisterPush(ctx, c.User.ID, id)
	if err != nil && calendar.ReasonOf(err) == calendar.NotFound {
		return calendar.Errorf(calendar.NotFound, "", "there is no such registration")
	}
	return err
}

// QuietPush stops notifications of the caller's own change to the caller's programs, or to the given ones only. It
// does so only if exactly one change was made since before.
func (s *Hub) QuietPush(ctx context.Context, c calendar.Caller, ids []calendar.PushID, before calendar.Calendar) error {
	after, err := s.Calendar(ctx, c, before.ID)
	if err != nil || after.Version != before.Version+1 || after.Own != before.Own {
		return err
	}
	return s.store.QuietPush(ctx, c.User.ID, ids,
		calendar.Moved{Calendar: before.ID, Before: before.Version, After: after.Version, Own: after.Own, By: c})
}
