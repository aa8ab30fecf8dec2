package auth

import (
	"context"
	"fmt"

	"caldav-mcp-server/calendar"
)

// NarrowToken takes from a token, or a grant, what it may do beyond some scopes, and, unless they are nil, what it reaches
// beyond some calendars: at once, in every process. Something must be left.
func (s *Service) NarrowToken(ctx context.Context, id calendar.TokenID, scopes calendar.Scope, calendars []calendar.CalendarID) error {
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
	return during("narrowing the token", s.store.NarrowToken(ctx, id, scopes, calendars))
}
