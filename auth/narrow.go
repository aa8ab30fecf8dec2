package auth

import (
	"context"
	"fmt"

	"caldav-mcp-server/calendar"
)

// NarrowToken restricts a token or grant to the given scopes, in each calendar to the given right and, unless calendars
// is nil, to the given calendars. It takes effect at once, in every process. At least one scope and one calendar must
// remain.
func (s *TokenIssuer) NarrowToken(ctx context.Context, id calendar.TokenID, scopes calendar.Scope,
	calendars []calendar.CalendarID, rights calendar.Rights,
) error {
	cred, err := s.store.TokenByID(ctx, id)
	if err != nil {
		return fmt.Errorf("looking up the token: %w", err)
	}
	switch {
	case cred.Token.Scopes&scopes == 0:
		return invalid("leave it something that it may do, or revoke it")
	case calendars != nil && len(calendars) == 0:
		return invalid("leave it a calendar, or revoke it")
	}
	return during("narrowing the token", s.store.NarrowToken(ctx, id, scopes, calendars, rights))
}
