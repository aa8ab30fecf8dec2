package auth

import (
	"context"
)

// Living counts the tokens and links that are valid now.
func (s *TokenIssuer) Living(ctx context.Context) (tokens, links int, err error) {
	now := s.now()
	allTokens, err := s.Tokens(ctx, "")
	if err != nil {
		return 0, 0, err
	}
	allLinks, err := s.Links(ctx, "")
	for i := range allLinks {
		// A link whose calendar is in the trash works again once the calendar is restored.
		allLinks[i].Trashed = false
	}
	return len(living(allTokens, Token.Valid, now)), len(living(allLinks, Link.Valid, now)), err
}

// RevokeAll revokes all tokens, links and sessions at once, in every process.
func (s *TokenIssuer) RevokeAll(ctx context.Context) error {
	return during("revoking all tokens and links", s.store.RevokeAll(ctx, s.seconds()))
}
