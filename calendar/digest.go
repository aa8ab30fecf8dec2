package calendar

import (
	"context"
	"time"
)

// Digest is a user's settings for the daily mail.
type Digest struct {
	User UserID
	// Hour is the user's local hour when the mail is sent.
	Hour int
	// Agenda includes tomorrow's events, Changes includes what assistants changed since the last mail. Without
	// either no mail is sent.
	Agenda, Changes bool
	// Posted is the local date (2006-01-02) of the last mail.
	Posted string
	// Due is the time of the next mail.
	Due time.Time
}

// Wanted reports whether the user wants any mail.
func (d Digest) Wanted() bool { return d.Agenda || d.Changes }

// Digests is the part of a Store that holds the settings for the daily mail.
type Digests interface {
	// Digest returns a user's settings. A user without settings wants no mail and has no Hour.
	Digest(ctx context.Context, user UserID) (Digest, error)
	// SetDigest stores a user's settings, except Posted.
	SetDigest(ctx context.Context, d Digest) error
	// DueDigests returns the settings whose mail is due, earliest first.
	DueDigests(ctx context.Context, now time.Time, most int) ([]Digest, error)
	// PostDigest stores Posted and Due of d and puts the letter, if any, into the outbox, in one transaction. It
	// does nothing if another process was first. If d has no Posted, only Due changes.
	PostDigest(ctx context.Context, d Digest, l *Letter, most OutboxLimits) error
}
