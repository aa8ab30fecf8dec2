package calendar

import (
	"context"
	"time"
)

// SubscriberID stands for one who is told of changes, such as a session of an assistant.
type SubscriberID string

// State is what something was like at a time. A holder of one learns from another whether
// there was a change in between, and nothing else.
type State string

// Target is what one can be told the changes of: an object by its UID, a calendar (no UID), or
// which calendars one has (neither).
type Target struct {
	Calendar CalendarID
	UID      UID
}

// Subscription is what a subscriber wants to be told of.
type Subscription struct {
	Subscriber SubscriberID
	// Name is what the subscriber calls it.
	Name string
	User UserID
	Target
	// Seen is the state that the subscriber knows of.
	Seen State
	// Until is when the subscription is over.
	Until time.Time
}

// Subscriptions is the part of a Store that keeps them, for whichever process tells the
// subscriber.
type Subscriptions interface {
	// Subscribe keeps a subscription, over one of that name, and forgets those of the user that
	// were over by now. TooLarge when the subscriber then had more than each; a user who had more
	// than all loses those that are over first.
	Subscribe(ctx context.Context, sub Subscription, now time.Time, each, all int) error
	// Unsubscribe forgets one by its name, or, with none, all of the subscriber. A missing one is no error.
	Unsubscribe(ctx context.Context, id SubscriberID, name string) error
	// Subscriptions returns those that are not over, by name.
	Subscriptions(ctx context.Context, id SubscriberID, now time.Time) ([]Subscription, error)
	// Seen notes what the subscriber knows by now of those that are still there.
	Seen(ctx context.Context, known []Subscription) error
}
