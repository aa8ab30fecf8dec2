package calendar

import (
	"context"
	"time"

	"caldav-mcp-server/ical"
)

// Unverified is an invitation by mail that was not followed, as the addressee sees it. It is in no calendar and
// does not count as busy. Its texts are the sender's.
type Unverified struct {
	// Name is derived from the event's UID: a later mail about the same event replaces the earlier one.
	Name    ObjectName
	Created time.Time
	Method  Method
	// From is the mail's sender. Proven reports whether the sender's domain authenticates it.
	From      MailAddress
	Proven    bool
	Organizer string
	Title     string
	// Start is never zoned; it is zero if the message has none that can be parsed.
	Start ical.Time
	Why   Distrust
	// Known reports whether the user had the event when the mail came, so that the mail was meant to change or
	// cancel it.
	Known bool
}

// Distrust is the reason why a message was not followed. The words are stored.
type Distrust string

// The reasons shown to the addressee.
const (
	// NotOrganizer is a mail from another address than the organizer's, such as from a secondary Google calendar.
	NotOrganizer Distrust = "organizer"
	// NotProven is a mail that the sender's domain does not authenticate (DKIM, DMARC).
	NotProven Distrust = "proof"
	// NotInvited is a message that names none of the user's addresses, such as a forwarded one.
	NotInvited Distrust = "uninvited"
)

var distrust = map[Distrust]string{
	NotOrganizer: "the mail is not from the event's organizer",
	NotProven:    "nothing proves that the mail is from this sender",
	NotInvited:   "it names no mail address of this account",
}

// Reason returns the reason in words.
func (u Unverified) Reason() string { return distrust[u.Why] }

// Standing returns in words whether the sender is proven.
func (u Unverified) Standing() string {
	if u.Proven {
		return "verified"
	}
	return "not verified"
}

// Subject returns the kind of the mail in words.
func (u Unverified) Subject() string {
	switch {
	case u.Method == MethodCancel:
		return "A cancellation"
	case u.Known:
		return "An update"
	}
	return "An invitation"
}

// UnverifiedReader is the part of a Store that reads unverified invitations.
type UnverifiedReader interface {
	// Unverified returns a user's unverified invitations within [UnverifiedFor], latest first.
	Unverified(ctx context.Context, user UserID) ([]Unverified, error)
}

// UnverifiedKeeper is the part of a Tx that writes unverified invitations.
type UnverifiedKeeper interface {
	// PutUnverified stores an invitation and deletes all but the user's latest [UnverifiedMost]. After that many
	// within a day, it ignores further events.
	PutUnverified(ctx context.Context, user UserID, u Unverified) error
	// DropUnverified deletes an invitation if it exists.
	DropUnverified(ctx context.Context, user UserID, name ObjectName) error
}

// Limits on the texts that strangers can show a user.
const (
	UnverifiedMost = 20
	UnverifiedFor  = 30 * 24 * time.Hour
)
