package calendar

import "context"

// Inbound is a scheduling message from outside.
type Inbound struct {
	// From is the sender. It is proven by the sender's domain, or by a link that only they received.
	From MailAddress
	// By is the person who sent the message on behalf of From, and is proven instead of From; "" if From sent it.
	// The message is followed only if the stored event already names By as a deputy. A message's own claim about
	// its sender does not count.
	By MailAddress
	// To are the envelope recipients, if known. The message is for users who have one of these addresses; if To is
	// empty, for the users that the message names.
	To []MailAddress
	// Header are the addresses in the To and Cc fields of the mail. They prove nothing. If To names no user, a
	// message that is not followed is shown to the users who have these addresses.
	Header []MailAddress
	// Method is the METHOD of Data, which is a VCALENDAR about one UID.
	Method Method
	Data   []byte
}

// Correspondence is the interface for packages that carry scheduling messages.
type Correspondence interface {
	// Receive applies a message, as far as its sender may ask for it: an organizer or their deputy invites and
	// cancels, an attendee answers. Receiving a message again has no effect. On error nothing has changed: NotFound
	// if it is for no user here, Forbidden if From may not send it, Stale if a newer one is known, Invalid if it
	// makes no sense.
	Receive(ctx context.Context, in Inbound) error
	// Refused shows the addressees of a message that it was not followed, and why. It concerns invitations, and
	// updates or cancellations of an event that they have. proven reports whether From is proven.
	Refused(ctx context.Context, in Inbound, why Distrust, proven bool) error
	// Delivered stores the outcome of a letter in the sender's event, as the SCHEDULE-STATUS of its recipient. It
	// is idempotent, and does nothing if the event or the recipient is gone.
	Delivered(ctx context.Context, l Letter) error
}
