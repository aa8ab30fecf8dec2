package calendar

import "context"

// Asked is what somebody without an account is invited to, as a link says that they got by mail.
type Asked struct {
	Title, When, Repeats, Where, Description string
	// Organizer is the organizer's name or address, Recipient the guest's.
	Organizer string
	Recipient MailAddress
	// Status is their answer as far as it is known (PARTSTAT).
	Status string
	// Start and End are when it is, as the fields of a form have it, on the clock of Zone, or days; "" where no other time can
	// be proposed.
	Start, End, Zone string
	Days             bool
	// Cancelled tells that there is nothing to answer any more.
	Cancelled bool
}

// Answers lets people answer an invitation by a link. A link that is not good is NotFound, whatever is wrong with it.
type Answers interface {
	// Open tells what a link is about. It changes nothing: programs that look for viruses open links.
	Open(ctx context.Context, token string) (Asked, error)
	// Give answers with a PARTSTAT and a comment. Stale where the event was called off.
	Give(ctx context.Context, token, status, comment string) (Asked, error)
	// Propose asks for another time, written as Asked has it. The event stays as it is until the organizer has decided.
	Propose(ctx context.Context, token, start, end, comment string) (Asked, error)
}
