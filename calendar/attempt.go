package calendar

import (
	"context"
	"time"
)

// Attempt is an idempotent call: a client that lost the response may retry it.
type Attempt struct {
	User  UserID
	Token TokenID
	// Name is the client's idempotency key, Digest is the hash of the request.
	Name, Digest string
	// UID is for the object that the call creates. Every attempt has the same one.
	UID UID
	// Answer is nil while the call is in progress.
	Answer []byte
	// At is the time of the last start.
	At time.Time
}

// Attempts is the part of a Store that remembers idempotent calls.
type Attempts interface {
	// Begin stores an attempt, unless one with the same user, token and name exists. The user's attempts from
	// before forgotten are deleted first. It returns the stored attempt and whether the caller must make the call:
	// because it is new, or because an attempt with the same digest from before abandoned has no answer. In the
	// second case the UID stays.
	Begin(ctx context.Context, a Attempt, abandoned, forgotten time.Time) (Attempt, bool, error)
	// Attempt returns the attempt of a user, token and name without changing it, or NotFound.
	Attempt(ctx context.Context, user UserID, token TokenID, name string) (Attempt, error)
	// Settle stores the answer of an attempt, or deletes the attempt if it has no answer.
	Settle(ctx context.Context, a Attempt) error
}
