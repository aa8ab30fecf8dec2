package calendar

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"time"
)

// Share is what one user was offered of another one's calendar, and what they made of it.
type Share struct {
	Calendar CalendarID
	// User is the sharee.
	User User
	// Access is what they may do once they have accepted.
	Access Access
	Status ShareStatus
	// Meanwhile is what they may do while they have not answered: what they had before they were
	// offered more.
	Meanwhile Access
	// Title is what the owner calls the calendar towards them, CommonName what the owner calls
	// them; both may be empty.
	Title, CommonName string
	Created           time.Time
	// Maker is the token that shared it or last changed its access; zero for none.
	Maker Actor
}

// ShareStatus says what a user made of what they were offered.
type ShareStatus string

// The states that there are.
const (
	// SharePending waits for an answer. Until it comes, they have what they had before.
	SharePending  ShareStatus = "pending"
	ShareAccepted ShareStatus = "accepted"
	// ShareDeclined is one that was refused, or given up later.
	ShareDeclined ShareStatus = "declined"
	// ShareWithdrawn is none any more; only notices tell of it.
	ShareWithdrawn ShareStatus = "withdrawn"
)

// InForce is what the user may do by now.
func (s Share) InForce() Access {
	switch s.Status {
	case ShareAccepted:
		return s.Access
	case SharePending:
		return s.Meanwhile
	default:
		return NoAccess
	}
}

// Offer is a share as its sharee sees it: with the calendar, to which they need not have access.
type Offer struct {
	Share
	From Calendar
}

// Name is the calendar's name for its sharee, cut to the length that other users see.
func (o Offer) Name() string { return cut(cmp.Or(o.Title, o.From.Name), longestForeign) }

// Offered is how much a user was offered: by one owner in all, by them without an answer yet, and by everybody
// without an answer. Calendars in the trash count, since they may come back.
type Offered struct{ Shared, Waiting, WaitingOfAll int }

// ShareReader is the part of a Store that knows the shares.
type ShareReader interface {
	// Shares returns the shares of a calendar, by the names of their users.
	Shares(ctx context.Context, id CalendarID) ([]Share, error)
	// Offers returns what a user was offered of live calendars, by the calendars' ids.
	Offers(ctx context.Context, user UserID) ([]Offer, error)
	// Blocked returns the users whom a user has blocked, sorted by name.
	Blocked(ctx context.Context, user UserID) ([]User, error)
}

// OfferMails is the part of a Store for mail about pending shares.
type OfferMails interface {
	// UnmailedOffers returns the pending shares of live calendars that were made since a time, and that no mail was sent about.
	UnmailedOffers(ctx context.Context, since time.Time, most int) ([]Share, error)
	// MailOffer marks a share as mailed, and puts the letter into the outbox if it is not nil, in one transaction. It does nothing
	// if another process has marked the share.
	MailOffer(ctx context.Context, s Share, l *Letter, most OutboxLimits) error
}

// ShareKeeper is the part of a Tx that changes shares. The calendar is locked.
type ShareKeeper interface {
	// Shares is ShareReader.Shares within the transaction.
	Shares(ctx context.Context, id CalendarID) ([]Share, error)
	// Offered counts what a user was offered.
	Offered(ctx context.Context, user, by UserID) (Offered, error)
	// HoldSharer locks an owner: no other transaction shares a calendar of theirs, or blocks them, until the commit.
	HoldSharer(ctx context.Context, owner UserID) error
	// NoteShare records a new share, and returns the number of new shares from the owner to its user since a time, this
	// one included. It deletes older records.
	NoteShare(ctx context.Context, s Share, owner UserID, since time.Time) (int, error)
	// Blocks reports whether a user has blocked another one.
	Blocks(ctx context.Context, user, whom UserID) (bool, error)
	// PutBlock stores a block. Groups stop giving the user calendars of the blocked one, and shares of calendars in the
	// trash are declined.
	PutBlock(ctx context.Context, user, whom UserID) error
	// DropBlock deletes a block; NotFound when there is none.
	DropBlock(ctx context.Context, user, whom UserID) error
	// PutShare writes a share, in place of what its user had. They may do then what is InForce;
	// where that is nothing, what they had set for themselves is lost. NotFound when the calendar
	// or the user does not exist.
	PutShare(ctx context.Context, s Share) error
	// DropShare takes a share away, with all that came of it.
	DropShare(ctx context.Context, id CalendarID, user UserID) error
	// SharedAccess returns what a user may do with a calendar of somebody else's, by name or by a group.
	SharedAccess(ctx context.Context, id CalendarID, user UserID) (Access, error)
	// LeaveGroups has no group give a user a calendar any more, until they are taken into one of these anew.
	LeaveGroups(ctx context.Context, id CalendarID, user UserID) error
	// Arrangement returns what a user has set for themselves; NotFound when they have no access.
	Arrangement(ctx context.Context, id CalendarID, user UserID) (Arrangement, error)
	// Arrange writes it; NotFound when they have no access.
	Arrange(ctx context.Context, id CalendarID, user UserID, a Arrangement) error
}

// InvitationID names what a user was offered of a calendar. It stays the same however often the
// offer changes, so that the newest word about it takes the place of the ones before.
type InvitationID string

// Invitation returns what the share is known by to both sides.
func (s Share) Invitation() InvitationID {
	sum := sha256.Sum256([]byte(string(s.Calendar) + "\x00" + string(s.User.ID)))
	return InvitationID(hex.EncodeToString(sum[:16]))
}

// ShareEdit is what is to become of one user's share of a calendar.
type ShareEdit struct {
	With User
	// Access is what they are offered; NoAccess takes the share away.
	Access Access
	// Title and CommonName stay what they were where they are empty.
	Title, CommonName string
	// Settled tells that the user need not be asked: the operator has decided it with them.
	Settled bool
}

// Reply is what a user says to an invitation.
type Reply struct {
	Accept bool
	// Name is what they call the calendar; empty is what its owner does.
	Name string
	// leave gives up all that there is of a share. To decline more is to keep what one has.
	Leave bool
}

// Answered is what a user says to an offer, and what their share is then: a user who declines more keeps
// what they had.
func (s Share) Answered(r Reply) (said, next Share) {
	said, said.Meanwhile = s, NoAccess
	if said.Status = ShareDeclined; r.Accept {
		said.Status = ShareAccepted
	}
	next = said
	if has := s.Meanwhile; has > NoAccess && !r.Accept && !r.Leave {
		next.Access, next.Status = has, ShareAccepted
	}
	return said, next
}
