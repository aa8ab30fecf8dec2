package calendar

import (
	"context"
	"time"
)

// Digest is what mail of their day a user wants.
type Digest struct {
	User UserID
	// Hour is that of their own day at which it comes.
	Hour int
	// Agenda is what is on tomorrow, Changes what assistants changed since the last one. With neither there is none.
	Agenda, Changes bool
	// Posted is the last day of their own (2006-01-02) for which there was one.
	Posted string
	// Due is when the next one is.
	Due time.Time
}

// Wanted tells whether there is any mail at all.
func (d Digest) Wanted() bool { return d.Agenda || d.Changes }

// Digests is the part of a Store that keeps what mail users want.
type Digests interface {
	// Digest returns a user's wishes; one who has none has no Hour and wants nothing.
	Digest(ctx context.Context, user UserID) (Digest, error)
	// SetDigest keeps a user's wishes; Posted stays as it is.
	SetDigest(ctx context.Context, d Digest) error
	// DueDigests returns those that are due, the earliest first.
	DueDigests(ctx context.Context, now time.Time, most int) ([]Digest, error)
	// PostDigest notes that the day of d was dealt with, and when the next one is due, and puts its letter into the outbox,
	// if there is one: both or nothing. It does nothing where another process did it meanwhile. With no day in it, only the
	// time moves.
	PostDigest(ctx context.Context, d Digest, l *Letter, most OutboxLimits) error
}
