package calendar

import (
	"context"
	"time"

	"caldav-mcp-server/ical"
)

// Unverified is an invitation that came by mail and was not followed, as its addressee sees it. It is in no calendar and takes no
// time. Its texts are the sender's.
type Unverified struct {
	// Name is made of the event's UID: a later mail about the same event takes the place of the earlier one.
	Name    ObjectName
	Created time.Time
	Method  Method
	// From is the mail's sender. Proven reports whether the sender's domain stands for it.
	From      MailAddress
	Proven    bool
	Organizer string
	Title     string
	// Start is never zoned; zero where the message has none that can be read.
	Start ical.Time
	Why   Distrust
	// Known reports whether the user had the event when the mail came: it was to change or cancel it.
	Known bool
}

// Distrust is why a message was not followed. The words are stored.
type Distrust string

// The reasons shown to the addressee.
const (
	// NotOrganizer is a mail from another address than the organizer's, such as that of a secondary Google calendar.
	NotOrganizer Distrust = "organizer"
	// NotProven is a mail whose sender's domain does not stand for it (DKIM, DMARC).
	NotProven Distrust = "proof"
	// NotInvited is a message that names none of the user's addresses, such as one that was forwarded.
	NotInvited Distrust = "uninvited"
)

var distrust = map[Distrust]string{
	NotOrganizer: "the mail is not from the event's organizer",
	NotProven:    "nothing proves that the mail is from this sender",
	NotInvited:   "it names no mail address of this account",
}

// Reason is why it was not followed, in words.
func (u Unverified) Reason() string { return distrust[u.Why] }

// Standing is whether the sender is proven, in a word.
func (u Unverified) Standing() string {
	if u.Proven {
		return "verified"
	}
	return "not verified"
}

// Subject describes the mail in words.
func (u Unverified) Subject() string {
	switch {
	case u.Method == MethodCancel:
		return "A cancellation"
	case u.Known:
		return "An update"
	}
	return "An invitation"
}

// UnverifiedReader is the part of a Store that lists unverified invitations.
type UnverifiedReader interface {
	// Unverified returns a user's unverified invitations within [UnverifiedFor], the latest first.
	Unverified(ctx context.Context, user UserID) ([]Unverified, error)
}

// UnverifiedKeeper is the part of a Tx that keeps it.
type UnverifiedKeeper interface {
	// PutUnverified keeps the latest [UnverifiedMost] of a user. Once as many came within a day, it keeps no other event's.
	PutUnverified(ctx context.Context, user UserID, u Unverified) error
	// DropUnverified deletes one, if it is there.
	DropUnverified(ctx context.Context, user UserID, name ObjectName) error
}

// The bounds of the texts that strangers can show a user.
const (
	UnverifiedMost = 20
	UnverifiedFor  = 30 * 24 * time.Hour
)
