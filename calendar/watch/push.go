package watch

import (
	"context"
	"time"

	"caldav-mcp-server/calendar"
)

// How long a program is told before it must ask again, and how many of a user's may be told at once: of anything, and of their home.
const (
	leastPush   = 3 * 24 * time.Hour
	longestPush = 14 * 24 * time.Hour
	maxPushes   = 200
	maxHomes    = 20
)

// RegisterPush has a program told of what changes in a calendar, or, without one, in the caller's home. Expires is when it
// wants that to end, zero for whenever.
func (s *Hub) RegisterPush(ctx context.Context, c calendar.Caller, sub calendar.PushSubscription) (calendar.PushSubscription, error) {
	if err := s.mayPush(ctx, c, sub.Calendar); err != nil {
		return sub, err
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
	sub, err := s.store.RegisterPush(ctx, sub, maxPushes, maxHomes)
	if err != nil && calendar.ReasonOf(err) == calendar.TooLarge {
		return sub, calendar.Errorf(calendar.TooLarge, "", "%d programs are told of all your calendars, and no more may be", maxHomes).
			Advising("register for single calendars, or end a registration: one that is not renewed ends within two weeks")
	}
	return sub, err
}

// mayPush tells whether a caller may know when something changes there.
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

// UnregisterPush ends what a program of the caller's is told.
func (s *Hub) UnregisterPush(ctx context.Context, c calendar.Caller, id calendar.PushID) error {
	err := s.store.UnregisterPush(ctx, c.User.ID, id)
	if err != nil && calendar.ReasonOf(err) == calendar.NotFound {
		return calendar.Errorf(calendar.NotFound, "", "there is no such registration")
	}
	return err
}

// QuietPush has some of the caller's programs, or with none all of them, not told of the one change that lies between two
// looks at a calendar, where it is the caller's own.
func (s *Hub) QuietPush(ctx context.Context, c calendar.Caller, ids []calendar.PushID, before calendar.Calendar) error {
	after, err := s.Calendar(ctx, c, before.ID)
	if err != nil || after.Version != before.Version+1 || after.Own != before.Own {
		return err
	}
	return s.store.QuietPush(ctx, c.User.ID, ids, calendar.Moved{Calendar: before.ID, Before: before.Version, After: after.Version, Own: after.Own, By: c})
}
