package ledger

import (
	"context"
	"time"

	"caldav-mcp-server/calendar"
)

const (
	// attemptKept is how long a response is stored.
	attemptKept = 24 * time.Hour
	// attemptLease is how long a call may take. After that, its process is considered dead.
	attemptLease = time.Minute
	// maxAttemptName bounds an idempotency key.
	maxAttemptName = 255
)

// Attempts records calls with idempotency keys and their responses.
type Attempts struct {
	store calendar.Store
	now   func() time.Time
	newID func() string
}

// BeginAttempt starts a call with an idempotency key. It reports whether the caller should execute it; if it was
// executed before, the attempt has its response. The digest must be the same each time.
func (s *Attempts) BeginAttempt(
	ctx context.Context, c calendar.Caller, name, digest string,
) (calendar.Attempt, bool, error) {
	if len(name) > maxAttemptName {
		return calendar.Attempt{}, false, calendar.Errorf(calendar.Invalid, "",
			"the key of a call has more than %d bytes", maxAttemptName)
	}
	now := s.now()
	a, mine, err := s.store.Begin(ctx, calendar.Attempt{
		User: c.User.ID, Token: c.Token, Name: name, Digest: digest, UID: calendar.UID(newUID(s.newID)), At: now,
	}, now.Add(-attemptLease), now.Add(-attemptKept))
	switch {
	case err != nil || mine:
		return a, mine, err
	case a.Digest != digest:
		return a, false, calendar.Errorf(calendar.Invalid, "", "the key %q was used for another call", name).
			Advising("use a new key for each call, and the same one only to repeat it word for word")
	case a.Answer == nil:
		return a, false, calendar.Errorf(calendar.Exists, "", "the first call with the key %q has no answer yet",
			name).Advising("repeat it in a minute")
	}
	return a, false, nil
}

// AttemptAnswer returns the response of an attempt, or nil if there is none yet. It writes nothing.
func (s *Attempts) AttemptAnswer(ctx context.Context, a calendar.Attempt) ([]byte, error) {
	is, err := s.store.Attempt(ctx, a.User, a.Token, a.Name)
	if err != nil && calendar.ReasonOf(err) == calendar.NotFound {
		return nil, nil
	}
	return is.Answer, err
}

// SettleAttempt stores the response of a call. A nil response, for a refused call, lets the client try again.
func (s *Attempts) SettleAttempt(ctx context.Context, a calendar.Attempt, answer []byte) error {
	a.Answer = answer
	return s.store.Settle(ctx, a)
}
