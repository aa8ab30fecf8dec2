package ledger

import (
	"context"
	"time"

	"caldav-mcp-server/calendar"
)

const (
	// attemptKept is how long an answer is remembered.
	attemptKept = 24 * time.Hour
	// attemptLease is how long a call may take: after that, the caller is gone.
	attemptLease = time.Minute
	// maxAttemptName bounds what a client calls an attempt.
	maxAttemptName = 255
)

// BeginAttempt asks whether a call that the client has given a name is to be made, or was
// made: then the attempt has its answer. The digest must be the same each time.
func (s *Ledger) BeginAttempt(ctx context.Context, c calendar.Caller, name, digest string) (calendar.Attempt, bool, error) {
	if len(name) > maxAttemptName {
		return calendar.Attempt{}, false, calendar.Errorf(calendar.Invalid, "", "the key of a call has more than %d bytes", maxAttemptName)
	}
	now := s.now()
	a, mine, err := s.store.Begin(ctx, calendar.Attempt{
		User: c.User.ID, Token: c.Token, Name: name, Digest: digest, UID: calendar.UID(s.newUID()), At: now,
	}, now.Add(-attemptLease), now.Add(-attemptKept))
	switch {
	case err != nil || mine:
		return a, mine, err
	case a.Digest != digest:
		return a, false, calendar.Errorf(calendar.Invalid, "", "the key %q was used for another call", name).
			Advising("use a new key for each call, and the same one only to repeat it word for word")
	case a.Answer == nil:
		return a, false, calendar.Errorf(calendar.Exists, "", "the first call with the key %q has no answer yet", name).Advising("repeat it in a minute")
	}
	return a, false, nil
}

// AttemptAnswer is the answer of an attempt, nil while there is none. To look for it writes nothing.
func (s *Ledger) AttemptAnswer(ctx context.Context, a calendar.Attempt) ([]byte, error) {
	is, err := s.store.Attempt(ctx, a.User, a.Token, a.Name)
	if err != nil && calendar.ReasonOf(err) == calendar.NotFound {
		return nil, nil
	}
	return is.Answer, err
}

// SettleAttempt keeps the answer of a call that was made; nil, of one that was refused, lets
// the client begin anew.
func (s *Ledger) SettleAttempt(ctx context.Context, a calendar.Attempt, answer []byte) error {
	a.Answer = answer
	return s.store.Settle(ctx, a)
}
