package calendar

import (
	"context"
	"time"
)

// SubscriberID identifies a recipient of notifications, such as an assistant's session.
type SubscriberID string

// State identifies the state of a target at some time. Two states that differ show that it changed, and nothing
// else.
type State string

// Target is a thing to watch: an object by its UID, a calendar (no UID), or the user's list of calendars (neither).
type Target struct {
	Calendar CalendarID
	UID      UID
}

// Subscription requests notifications about a target.
type Subscription struct {
	Subscriber SubscriberID
	// Name is the subscriber's name for it.
	Name string
	User UserID
	Target
	// Seen is the state that the subscriber knows.
	Seen State
	// Until is the expiry time.
	Until time.Time
}

// Subscriptions is the part of a Store that holds subscriptions, for the process that has the subscriber's
// connection.
type Subscriptions interface {
	// Subscribe stores a subscription, replacing one with the same name, and deletes the user's expired ones.
	// TooLarge when the subscriber would have more than each. If the user has more than all, the first to expire
	// are deleted.
	Subscribe(ctx context.Context, sub Subscription, now time.Time, each, all int) error
	// Unsubscribe deletes a subscription by name, or all of the subscriber's if name is empty. A missing one is no
	// error.
	Unsubscribe(ctx context.Context, id SubscriberID, name string) error
	// Subscriptions returns a subscriber's unexpired subscriptions, sorted by name.
	Subscriptions(ctx context.Context, id SubscriberID, now time.Time) ([]Subscription, error)
	// Seen stores the states that the subscriber knows now, for subscriptions that still exist.
	Seen(ctx context.Context, known []Subscription) error
}

// Hint says where something changed. Hints may be duplicated or spurious.
type Hint struct {
	Calendars []CalendarID
	// Subscribers are the subscribers whose subscriptions changed.
	Subscribers []SubscriberID
	// Everything is set when anything may have changed, such as access or the list of calendars.
	Everything bool
}

// Empty reports whether the hint names no change.
func (n Hint) Empty() bool {
	return !n.Everything && len(n.Calendars) == 0 && len(n.Subscribers) == 0
}

// Watchable is the part of a Store that reports changes.
type Watchable interface {
	// Watch registers heard for every change that is committed from now on: immediately for changes by this
	// process, soon for those by other processes. heard must not block. It is not called again after stop.
	Watch(heard func(Hint)) (stop func())
}
