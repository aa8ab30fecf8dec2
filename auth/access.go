package auth

import (
	"context"
	"fmt"
	"time"

	"caldav-mcp-server/calendar"
)

// Access is the record against which an access token is checked. An OAuth client presents such a token for a grant.
type Access struct {
	// Credential is the credential of the grant.
	Credential
	Digest SecretHash
	// Scopes are the granted scopes that the client requested for this access token.
	Scopes  calendar.Scope
	Expires time.Time
	// Generation is that of the user's credentials.
	Generation int64
}

// VerifyAccess returns the caller of an access token at a resource. The error is ErrUnauthorized for any fault of the
// token, or Unavailable. It reads the store on every call, as VerifyLink does, and does not throttle: 32 random bytes
// cannot be guessed.
func (s *Verifier) VerifyAccess(ctx context.Context, token string, at Resource) (calendar.Caller, error) {
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

// caller returns the caller of the grant. Counts, the journal and revocation go by the grant's token id, so they carry
// over when the client gets its next access token.
func (a Access) caller() calendar.Caller {
	c := a.Credential.caller()
	c.Scopes &= a.Scopes
	c.Delegated = true
	if c.Expires.IsZero() || a.Expires.Before(c.Expires) {
		c.Expires = a.Expires
	}
	return c
}
