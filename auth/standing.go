package auth

import (
	"context"
	"fmt"

	"caldav-mcp-server/calendar"
)

// Standing re-authenticates a caller of the past: it returns the present caller of the user's password or, if token is
// set, of that token. ErrUnauthorized when the credential no longer admits programs.
func (s *Verifier) Standing(ctx context.Context, user calendar.User, token calendar.TokenID) (calendar.Caller, error) {
	find := func() (Credential, error) { return s.store.PasswordByName(ctx, user.Name) }
	if token != "" {
		find = func() (Credential, error) { return s.store.TokenByID(ctx, token) }
	}
	cred, err := find()
	switch {
	case err != nil && calendar.ReasonOf(err) != calendar.NotFound:
		return calendar.Caller{}, fmt.Errorf("looking up the credential: %w", err)
	case err != nil, cred.User.ID != user.ID, !cred.usable(s.now()), token == "" && (cred.Guarded || cred.Hash == ""):
		return calendar.Caller{}, ErrUnauthorized
	}
	return cred.caller(), nil
}
