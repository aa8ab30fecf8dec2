package auth

import (
	"context"
	"fmt"
	"time"

	"caldav-mcp-server/calendar"
)

// Access is what an access token is checked against: a token that an OAuth client shows for a grant.
type Access struct {
	// Credential is the grant's.
	Credential
	Digest SecretHash
	// Scopes are what the client asked for when it got this one, of those that were granted.
	Scopes  calendar.Scope
	Expires time.Time
	// Generation is that of the user's credentials.
	Generation int64
}

// VerifyAccess returns the caller for whom an access token speaks at a resource: ErrUnauthorized, whatever is wrong with
// it, or Unavailable. It asks the store each time, as for links, and nobody pays for guesses, of which
// there are none worth the name.
func (s *Service) VerifyAccess(ctx context.Context, token string, at Resource) (calendar.Caller, error) {
	id, digest, ok := AccessForm.Parse(token)
	if !ok || at == "" {
		return calendar.Caller{}, ErrUnauthorized
	}
	a, err := s.store.AccessByID(ctx, id)
	now := s.now()
	switch {
	case err != nil && calendar.ReasonOf(err) != calendar.NotFound:
		return calendar.Caller{}, fmt.Errorf("looking up the access token: %w", err)
	case err != nil || !digest.Is(a.Digest) || a.Token.Resource != at || !a.good(now):
		return calendar.Caller{}, ErrUnauthorized
	}
	note(ctx, a.User.ID, a.Generation)
	s.uses.note(used{token: a.Token.ID}, now)
	return a.caller(), nil
}

func (a Access) good(now time.Time) bool {
	return a.User.GetsIn() && a.Token.Valid(now) && now.Before(a.Expires)
}

// caller is that of the grant, so that all that is counted by token, written to the journal or taken back goes
// on when the access token is replaced by the next.
func (a Access) caller() calendar.Caller {
	c := a.Credential.caller()
	c.Scopes &= a.Scopes
	c.Delegated = true
	if c.Expires.IsZero() || a.Expires.Before(c.Expires) {
		c.Expires = a.Expires
	}
	return c
}
