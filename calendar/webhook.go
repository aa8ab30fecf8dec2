package calendar

import (
	"context"
	"time"
)

type (
	// WebhookID identifies a webhook. It contains no dots, because a dot ends it in the signed text.
	WebhookID string
	// DeliveryID identifies a message to a webhook. It is the same for every try.
	DeliveryID string
	// WebhookState says whether a webhook receives messages.
	WebhookState string
	// DeliveryState is the state of a message.
	DeliveryState string
)

// The states of webhooks and of their messages.
const (
	// WebhookOn receives messages. WebhookGone answered that it no longer exists, WebhookFailing has failed for
	// days.
	WebhookOn      WebhookState = "on"
	WebhookGone    WebhookState = "gone"
	WebhookFailing WebhookState = "failing"

	DeliveryWaiting   DeliveryState = "waiting"
	DeliveryDelivered DeliveryState = "delivered"
	DeliveryFailed    DeliveryState = "failed"
)

// Webhook is a URL that is notified of changes in the calendars that its owner can read.
type Webhook struct {
	ID   WebhookID
	User UserID
	URL  string
	// Kinds are the kinds of changes to report; none means all.
	Kinds []ChangeKind
	// Content also sends the titles of changed objects.
	Content bool
	// Number is the number of the current secret, Rotated is the time since when it is used.
	Number  int64
	Rotated time.Time
	State   WebhookState
	// Failing is the time of the first failure in a row; zero if the last try succeeded.
	Failing time.Time
	Created time.Time
	// Maker is the token that added it; zero for none.
	Maker Actor
}

// Delivery is a message to a webhook about one calendar, or a test message about none.
type Delivery struct {
	ID       DeliveryID
	Webhook  WebhookID
	Calendar CalendarID
	Made     time.Time
	// Due is the time of the next try, Tries the number of tries so far.
	Due   time.Time
	Tries int64
	State DeliveryState
	// Answer is the result of the last try.
	Answer string
	// Ended is the time of success or of giving up.
	Ended time.Time
	Body  []byte
}

// WebhookLag is a calendar whose latest changes a webhook has not been told.
type WebhookLag struct {
	Webhook
	Calendar CalendarID
	// Told is the last version that the webhook was told of, -1 for none. Version is the calendar's current
	// version.
	Told, Version Version
	// Began is the creation time of the calendar, Since the time when the owner of the webhook got a share of it;
	// zero for an own calendar.
	Began, Since time.Time
}

// DueDelivery is a message that is due to be sent.
type DueDelivery struct {
	Delivery
	To Webhook
}

// TryResult is the outcome of a try.
type TryResult int

// The outcomes.
const (
	// TryNone means that nothing was sent.
	TryNone TryResult = iota
	// TryTaken means success.
	TryTaken
	// TryFailed means failure.
	TryFailed
	// TryGone means that the receiver wants no more messages.
	TryGone
)

// Settling is the outcome of a try and its consequences.
type Settling struct {
	Result TryResult
	Now    time.Time
	// Patience is how long a webhook may fail before it is turned off.
	Patience time.Duration
	// News is the letter to the owner if the webhook is turned off by this; nil for none.
	News *News
}

// WebhookRoom limits the waiting messages of one webhook.
type WebhookRoom struct {
	Messages int
	Bytes    int64
}

// DefaultWebhookRoom returns the default. Beyond it, changes are combined into fewer messages later.
func DefaultWebhookRoom() WebhookRoom { return WebhookRoom{Messages: 100, Bytes: 256 << 10} }

// Webhooks is the part of a Store that holds webhooks.
type Webhooks interface {
	// AddWebhook stores a webhook, which is told of changes from now on. TooLarge when the user would have more
	// than most.
	AddWebhook(ctx context.Context, w Webhook, most int) error
	// WebhooksOf returns a user's webhooks, oldest first.
	WebhooksOf(ctx context.Context, user UserID) ([]Webhook, error)
	// RotateWebhook gives a user's webhook the next secret and turns it on; NotFound when there is none.
	RotateWebhook(ctx context.Context, user UserID, id WebhookID, now time.Time) error
	// ResumeWebhook turns a user's webhook on; NotFound when there is none.
	ResumeWebhook(ctx context.Context, user UserID, id WebhookID) error
	// RemoveWebhook deletes a user's webhook and its messages; NotFound when there is none.
	RemoveWebhook(ctx context.Context, user UserID, id WebhookID) error
	// Deliveries returns messages to a webhook, latest first.
	Deliveries(ctx context.Context, id WebhookID, most int) ([]Delivery, error)

	// PostDelivery queues a message that concerns no calendar. TooLarge when the queue is full. It does nothing if
	// the webhook is off or gone.
	PostDelivery(ctx context.Context, d Delivery, room WebhookRoom) error

	// WebhookLags returns the changes that active webhooks have not been told of, except for webhooks with a full
	// queue. It returns one of each user before a second of any user.
	WebhookLags(ctx context.Context, room WebhookRoom, most int) ([]WebhookLag, error)
	// CatchUp records that a webhook was told of a calendar up to a version, and queues the message if there is
	// one. It does nothing if another process was first.
	CatchUp(ctx context.Context, lag WebhookLag, told Version, d *Delivery) error
	// DueDeliveries returns messages that are due: per user earliest first, and one of each user before a second of
	// any user.
	DueDeliveries(ctx context.Context, now time.Time, most int) ([]DueDelivery, error)
	// SettleDelivery stores the outcome of a try. It updates the current state of the webhook: Failing since the
	// first failure, and turned off once it has failed for longer than Patience. A finished message loses its Body;
	// messages that wait for a webhook that is off are given up. If this turns the webhook off, it returns the new
	// state and the News are posted; if the News cannot be posted, nothing is stored.
	SettleDelivery(ctx context.Context, d Delivery, s Settling) (ended WebhookState, err error)
}
