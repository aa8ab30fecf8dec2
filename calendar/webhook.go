package calendar

import (
	"context"
	"time"
)

type (
	// WebhookID names a webhook; it has no dots, which would end it in what is signed.
	WebhookID string
	// DeliveryID names a message to a webhook, the same at every try.
	DeliveryID string
	// WebhookState tells whether a webhook is told.
	WebhookState string
	// DeliveryState is how far a message came.
	DeliveryState string
)

// The states of webhooks and of their messages.
const (
	// WebhookOn is told; WebhookGone answered that it is gone, WebhookFailing took nothing for days.
	WebhookOn      WebhookState = "on"
	WebhookGone    WebhookState = "gone"
	WebhookFailing WebhookState = "failing"

	DeliveryWaiting   DeliveryState = "waiting"
	DeliveryDelivered DeliveryState = "delivered"
	DeliveryFailed    DeliveryState = "failed"
)

// Webhook is a program elsewhere that is told what changes in the calendars that its owner reads.
type Webhook struct {
	ID   WebhookID
	User UserID
	URL  string
	// Kinds are those of the changes that it is told of; none for all.
	Kinds []ChangeKind
	// Content has the titles of what changed told as well.
	Content bool
	// Number counts its secrets, Rotated is since when the present one is used.
	Number  int64
	Rotated time.Time
	State   WebhookState
	// Failing is since when nothing arrived; zero where the last did.
	Failing time.Time
	Created time.Time
	// Maker is the token that added it; zero for none.
	Maker Actor
}

// Delivery is a message to a webhook, about one calendar, or about none to try it out.
type Delivery struct {
	ID       DeliveryID
	Webhook  WebhookID
	Calendar CalendarID
	Made     time.Time
	// Due is when it is tried next, Tries how often it was.
	Due   time.Time
	Tries int64
	State DeliveryState
	// Answer is what came of the last try.
	Answer string
	// Ended is when it arrived or was given up.
	Ended time.Time
	Body  []byte
}

// WebhookLag is a calendar of which a webhook does not know the latest changes.
type WebhookLag struct {
	Webhook
	Calendar CalendarID
	// Told is the version up to which it was told, -1 where it was told nothing yet; Version is the calendar's.
	Told, Version Version
	// Began is when the calendar was made, Since when the owner got a share of it; zero where it is their own.
	Began, Since time.Time
}

// DueDelivery is a message that is to be tried now.
type DueDelivery struct {
	Delivery
	To Webhook
}

// TryResult is what a try says of the webhook.
type TryResult int

// What a try says.
const (
	// TryNone was no try.
	TryNone TryResult = iota
	// TryTaken arrived.
	TryTaken
	// TryFailed did not.
	TryFailed
	// TryGone was answered that nothing need come any more.
	TryGone
)

// Settling is what came of a try.
type Settling struct {
	Result TryResult
	Now    time.Time
	// Patience is how long a webhook may fail.
	Patience time.Duration
	// News is for its owner if it is turned off by that; nil for none.
	News *News
}

// WebhookRoom is how much may wait for one webhook.
type WebhookRoom struct {
	Messages int
	Bytes    int64
}

// DefaultWebhookRoom is what may wait: what changes then is told in fewer messages, later.
func DefaultWebhookRoom() WebhookRoom { return WebhookRoom{Messages: 100, Bytes: 256 << 10} }

// Webhooks is the part of a Store that keeps them.
type Webhooks interface {
	// AddWebhook keeps a webhook, which is told of what changes from now on. TooLarge where the user then had more than most.
	AddWebhook(ctx context.Context, w Webhook, most int) error
	// WebhooksOf returns a user's, the oldest first.
	WebhooksOf(ctx context.Context, user UserID) ([]Webhook, error)
	// RotateWebhook gives one of a user's the next secret, and turns it on again; NotFound when there is none.
	RotateWebhook(ctx context.Context, user UserID, id WebhookID, now time.Time) error
	// ResumeWebhook turns one of a user's on again; NotFound when there is none.
	ResumeWebhook(ctx context.Context, user UserID, id WebhookID) error
	// RemoveWebhook forgets one of a user's with its messages; NotFound when there is none.
	RemoveWebhook(ctx context.Context, user UserID, id WebhookID) error
	// Deliveries returns messages to a webhook, the latest first.
	Deliveries(ctx context.Context, id WebhookID, most int) ([]Delivery, error)

	// PostDelivery has a message wait that is about no calendar; TooLarge where as many wait as there is room for. Nothing
	// comes of it where the webhook is off or gone.
	PostDelivery(ctx context.Context, d Delivery, room WebhookRoom) error

	// WebhookLags returns what webhooks that are on have not been told, but for those for which more waits than there is room:
	// one of everybody's before a second of anybody's.
	WebhookLags(ctx context.Context, room WebhookRoom, most int) ([]WebhookLag, error)
	// CatchUp notes that a webhook was told of a calendar up to a version, with the message that says it, if there is
	// one. It does nothing where another process did it meanwhile.
	CatchUp(ctx context.Context, lag WebhookLag, told Version, d *Delivery) error
	// DueDeliveries returns messages that are due: of each user the earliest first, and one of everybody's before a second of
	// anybody's.
	DueDeliveries(ctx context.Context, now time.Time, most int) ([]DueDelivery, error)
	// SettleDelivery notes what became of a message, which has no Body any more once it has ended, and of its webhook, as that
	// is by now: Failing since the first of the tries that failed, and after so long turned off. What waits for one that is no
	// longer on is given up. It tells whether the webhook was turned off by this; then the news of it is posted, or nothing happens.
	SettleDelivery(ctx context.Context, d Delivery, s Settling) (ended WebhookState, err error)
}
