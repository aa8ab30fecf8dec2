package calendar

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"
)

// Share is an offer of a calendar to another user, and that user's answer.
type Share struct {
	Calendar CalendarID
	// User is the sharee.
	User User
	// Access is the access after acceptance.
	Access Access
	Status ShareStatus
	// Meanwhile is the access until the sharee answers: the access that they had before a larger offer.
	Meanwhile Access
	// Title is the owner's name for the calendar as shown to the sharee, CommonName is the owner's name for the
	// sharee. Both may be empty.
	Title, CommonName string
	Created           time.Time
	// Maker is the token that created the share or last changed its access; zero for none.
	Maker Actor
}

// ShareStatus is the state of a share.
type ShareStatus string

// The states.
const (
	// SharePending waits for an answer. Until then the sharee has Meanwhile.
	SharePending  ShareStatus = "pending"
	ShareAccepted ShareStatus = "accepted"
	// ShareDeclined was refused, or was accepted and left later.
	ShareDeclined ShareStatus = "declined"
	// ShareWithdrawn no longer exists; only notices use it.
	ShareWithdrawn ShareStatus = "withdrawn"
)

// InForce returns the sharee's current access.
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

// Offer is a share as its sharee sees it, with the calendar, even if the sharee has no access yet.
type Offer struct {
	Share
	From Calendar
}

// Name returns the calendar's name for its sharee, cut to the length that other users see.
func (o Offer) Name() string { return cut(cmp.Or(o.Title, o.From.Name), longestForeign) }

// Offered counts the offers to a user: all from one owner, the unanswered ones from that owner, and all unanswered
// ones. Calendars in the trash count, because they may be restored.
type Offered struct{ Shared, Waiting, WaitingOfAll int }

// GroupShare is the access that a user has to a calendar through a group.
type GroupShare struct {
	User   UserID
	Access Access
	// Group is the group's name for people.
	Group string
}

// ShareReader is the part of a Store that reads shares.
type ShareReader interface {
	// Shares returns the shares of a calendar, sorted by the names of the sharees.
	Shares(ctx context.Context, id CalendarID) ([]Share, error)
	// Offers returns the offers of live calendars to a user, sorted by calendar ID.
	Offers(ctx context.Context, user UserID) ([]Offer, error)
	// GroupShares returns the access that users have to a calendar through groups, for users who also have a share by
	// name. It is sorted by the groups' names.
	GroupShares(ctx context.Context, id CalendarID) ([]GroupShare, error)
	// Blocked returns the users whom a user has blocked, sorted by name.
	Blocked(ctx context.Context, user UserID) ([]User, error)
}

// OfferMails is the part of a Store for mail about pending shares.
type OfferMails interface {
	// UnmailedOffers returns the pending shares of live calendars that were created since a time and not yet
	// mailed.
	UnmailedOffers(ctx context.Context, since time.Time, most int) ([]Share, error)
	// MailOffer marks a share as mailed, and puts the letter into the outbox if it is not nil, in one transaction.
	// It does nothing if another process has marked the share.
	MailOffer(ctx context.Context, s Share, l *Letter, most OutboxLimits) error
}

// ShareKeeper is the part of a Tx that changes shares. The calendar must be locked.
type ShareKeeper interface {
	// Shares is ShareReader.Shares within the transaction.
	Shares(ctx context.Context, id CalendarID) ([]Share, error)
	// Offered counts the offers to a user.
	Offered(ctx context.Context, user, by UserID) (Offered, error)
	// HoldSharer locks an owner: no other transaction shares a calendar of theirs, or blocks them, until the
	// commit.
	HoldSharer(ctx context.Context, owner UserID) error
	// NoteShare records a new share, and returns the number of new shares from the owner to its user since a time,
	// including this one. It deletes older records.
	NoteShare(ctx context.Context, s Share, owner UserID, since time.Time) (int, error)
	// Blocks reports whether a user has blocked another one.
	Blocks(ctx context.Context, user, whom UserID) (bool, error)
	// PutBlock stores a block. Groups stop giving the user calendars of the blocked user, and shares of calendars
	// in the trash are declined.
	PutBlock(ctx context.Context, user, whom UserID) error
	// DropBlock deletes a block; NotFound when there is none.
	DropBlock(ctx context.Context, user, whom UserID) error
	// PutShare stores a share, in place of an existing one with the same user. The user's access becomes InForce.
	// If that is NoAccess, the user's own settings of the calendar are deleted. NotFound when the calendar or the
	// user does not exist.
	PutShare(ctx context.Context, s Share) error
	// DropShare deletes a share and everything that depends on it.
	DropShare(ctx context.Context, id CalendarID, user UserID) error
	// SharedAccess returns a user's access to another user's calendar, by a share with the user or with a group.
	SharedAccess(ctx context.Context, id CalendarID, user UserID) (Access, error)
	// LeaveGroups ends a user's access to a calendar through groups, until the user is added to one of the groups
	// again.
	LeaveGroups(ctx context.Context, id CalendarID, user UserID) error
	// Arrangement returns a sharee's own settings of a calendar; NotFound if the user has no access.
	Arrangement(ctx context.Context, id CalendarID, user UserID) (Arrangement, error)
	// Arrange stores a sharee's own settings; NotFound if the user has no access.
	Arrange(ctx context.Context, id CalendarID, user UserID, a Arrangement) error
}

// InvitationID identifies the offer of a calendar to a user. It stays the same when the offer changes, so that a
// newer message replaces the earlier ones.
type InvitationID string

// Invitation returns the share's ID for both sides.
func (s Share) Invitation() InvitationID {
	sum := sha256.Sum256([]byte(string(s.Calendar) + "\x00" + string(s.User.ID)))
	return InvitationID(hex.EncodeToString(sum[:16]))
}

// ShareEdit is a change to one user's share of a calendar.
type ShareEdit struct {
	With User
	// Access is the offered access; NoAccess deletes the share.
	Access Access
	// Title and CommonName keep their values where empty.
	Title, CommonName string
	// Settled skips the user's acceptance, because the administrator has decided it with them.
	Settled bool
}

// Reply is a user's answer to an invitation.
type Reply struct {
	Accept bool
	// Name is the user's own name for the calendar; empty means the owner's.
	Name string
	// Leave gives up the whole share. Declining a larger offer alone keeps the access from before.
	Leave bool
}

// Answered returns the share with the user's answer, and the share that results from it. A user who declines a
// larger offer keeps the former access.
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

// Terms are the terms of an offered share, as the journal stores them. The JSON names are stored and must not
// change.
type Terms struct {
	Access     Access `json:"access"`
	Title      string `json:"title,omitempty"`
	CommonName string `json:"common_name,omitempty"`
}

// TermsOf returns the terms of a share.
func TermsOf(s Share) Terms { return Terms{s.Access, s.Title, s.CommonName} }

// Encode encodes the terms for the journal.
func (o Terms) Encode() []byte {
	data, err := json.Marshal(o)
	if err != nil {
		// A number and texts: JSON can encode all of them.
		panic(fmt.Sprintf("encoding an offer: %v", err))
	}
	return data
}

// DecodeTerms decodes terms from the journal.
func DecodeTerms(data []byte) (Terms, error) {
	var o Terms
	if err := json.Unmarshal(data, &o); err != nil {
		return o, fmt.Errorf("reading a share from the journal: %w", err)
	}
	return o, nil
}
