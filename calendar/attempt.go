package calendar

import (
	"context"
	"time"
)

// Attempt is a call that its client may repeat without harm, when it lost the answer.
type Attempt struct {
	User  UserID
	Token TokenID
	// Name is what the client calls it; Digest is of what it asks.
	Name, Digest string
	// UID is for what the call makes, the same in each attempt.
	UID UID
	// Answer is nil while the call goes on.
	Answer []byte
	// At is when it last began.
	At time.Time
}

// Attempts is the part of a Store that remembers calls.
type Attempts interface {
	// Begin remembers an attempt, unless one of that user, token and name is there already. One
	// that began before forgotten is not. It returns what there is, and whether the caller is to
	// make the call: because it is new, or because one with the same digest that began before
	// abandoned never came to an answer. That one's UID is kept.
	Begin(ctx context.Context, a Attempt, abandoned, forgotten time.Time) (Attempt, bool, error)
	// Attempt returns what there is of that user, token and name, and changes nothing; NotFound where there is none.
	Attempt(ctx context.Context, user UserID, token TokenID, name string) (Attempt, error)
	// Settle keeps the answer of an attempt; without one, it forgets the attempt.
	Settle(ctx context.Context, a Attempt) error
}
