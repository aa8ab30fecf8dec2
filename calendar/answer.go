package calendar

import "context"

// Asked is an invitation as the answer link in the mail shows it to a person without an account.
type Asked struct {
	Title, When, Repeats, Where, Description string
	// Organizer is the organizer's name or address, Recipient the attendee's address.
	Organizer string
	Recipient MailAddress
	// Status is the attendee's current PARTSTAT, if known.
	Status string
	// Start and End fill the form's fields: local times of Zone, or dates if Days is set. They are empty when the
	// attendee cannot propose a new time.
	Start, End, Zone string
	Days             bool
	// Cancelled is set when there is nothing left to answer.
	Cancelled bool
}

// Answers lets attendees answer an invitation through a link. Every bad link is NotFound, for any reason.
type Answers interface {
	// Open returns the invitation of a link, with its times in words of a language (BCP 47). It must change nothing,
	// because virus scanners open links.
	Open(ctx context.Context, token, language string) (Asked, error)
	// Give stores an answer with a PARTSTAT and a comment. Stale when the event was cancelled.
	Give(ctx context.Context, token, language, status, comment string) (Asked, error)
	// Propose proposes another time, in the format of Asked. The event does not change until the organizer decides.
	Propose(ctx context.Context, token, language, start, end, comment string) (Asked, error)
}
