package auth

import (
	"context"
	"fmt"
)

// Living counts the tokens and the links that are good now.
func (s *Service) Living(ctx context.Context) (tokens, links int, err error) {
	now := s.now()
	allTokens, err := s.Tokens(ctx, "")
	for _, t := range allTokens {
		if t.Valid(now) {
			tokens++
		}
	}
	if err != nil {
		return 0, 0, err
	}
	allLinks, err := s.Links(ctx, "")
	for _, l := range allLinks {
		// One whose calendar is in the trash is good again when that is.
		l.Trashed = false
		if l.Valid(now) {
			links++
		}
	}
	return tokens, links, err
}

// RevokeAll ends all tokens, links and sessions at once, in every process.
func (s *Service) RevokeAll(ctx context.Context) error {
	if err := s.store.RevokeAll(ctx, s.seconds()); err != nil {
		return fmt.Errorf("revoking all tokens and links: %w", err)
	}
	return nil
}
