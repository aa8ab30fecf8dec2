package calendar

import "context"

// Inbound is a scheduling message that came from outside.
type Inbound struct {
	// From is whose message it is, which is proven: by the sender's domain, or by a link that only they got.
	From MailAddress
	// By is who sent it in their place, which is proven instead; "" where they did so themselves. It is followed where the
	// event as it is known names that deputy already: what a message says of its own sender is no word of anybody else's.
	By MailAddress
	// To are the addresses that it was handed in for, where that is known. It is for users who have one of
	// them, and else for those whom it names.
	To []MailAddress
	// Header are the addresses in the To and Cc fields of the mail. They prove nothing: a message that is not followed is shown to
	// the users who have them, where To names nobody.
	Header []MailAddress
	// Method is as in Data, which is a VCALENDAR about one UID.
	Method Method
	Data   []byte
}

// Correspondence is what the rooms that carry scheduling messages need of the middle.
type Correspondence interface {
	// Receive does what a message asks for, as far as its sender may ask for it: an organizer, or a deputy
	// of theirs, invites and cancels; an attendee answers. A message that comes again does nothing again.
	// NotFound where it is for nobody here, Forbidden where From may not say so, Stale where something
	// newer is known, Invalid where it makes no sense: nothing has changed then.
	Receive(ctx context.Context, in Inbound) error
	// Refused shows the people to whom a message went that it was not followed, and why: an invitation, or an update or a
	// cancellation of an event that they have. Proven reports whether From is proven.
	Refused(ctx context.Context, in Inbound, why Distrust, proven bool) error
	// Delivered notes in the sender's event what came of a letter (SCHEDULE-STATUS of its To, which is the letter's Status).
	// It does so again without harm, and nothing where the event, or the letter's recipient, is gone.
	Delivered(ctx context.Context, l Letter) error
}
