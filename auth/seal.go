package auth

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"sync"

	"caldav-mcp-server/calendar"
)

// Seal is the HMAC-SHA-256 of a token's secret under a key that only the store has. It can be cheap, unlike a password
// hash: 32 random bytes cannot be guessed. It covers the token's id, so it is useless for another token.
type Seal string

// sealPurpose is the purpose of the seals' key in the store.
const sealPurpose = "token seals"

// sealer computes seals. It reads the key on first use: the tables may not exist earlier.
type sealer struct {
	store Store
	mu    sync.Mutex
	key   []byte
}

// seal returns the seal of a token's secret.
func (s *sealer) seal(ctx context.Context, id calendar.TokenID, half string) (Seal, error) {
	key, err := s.keyOf(ctx)
	if err != nil {
		return "", err
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(id)) // of fixed length, as is the half that follows
	mac.Write([]byte(half))
	return Seal(hex.EncodeToString(mac.Sum(nil))), nil
}

func (s *sealer) keyOf(ctx context.Context) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.key != nil {
		return s.key, nil
	}
	key, err := s.store.Secret(ctx, sealPurpose)
	if err != nil {
		return nil, fmt.Errorf("the key of tokens' seals: %w", err)
	}
	s.key = key
	return key, nil
}

// unseal decides on a token by its seal, without a hash or a place in the gate. It leaves open passwords and tokens
// without a seal, that is, tokens last used before seals existed.
func (s *Verifier) unseal(ctx context.Context, a attempt) (v verdict, decided bool, err error) {
	if a.subject.Token == "" {
		return verdict{}, false, nil
	}
	cred, err := a.load(ctx)
	switch {
	case calendar.ReasonOf(err) == calendar.NotFound:
		return verdict{}, true, nil
	case err != nil:
		return verdict{}, true, fmt.Errorf("looking up the token: %w", err)
	case cred.Seal == "":
		return verdict{}, false, nil
	}
	seal, err := s.sealer.seal(ctx, a.subject.Token, a.secret)
	if err != nil || subtle.ConstantTimeCompare([]byte(seal), []byte(cred.Seal)) != 1 || !cred.usable(s.now()) {
		return verdict{}, true, err
	}
	return cred.verdict(), true, nil
}

// sealLate adds the seal to a token that has none, while its secret is at hand.
func (s *Verifier) sealLate(ctx context.Context, id calendar.TokenID, half string) {
	seal, err := s.sealer.seal(ctx, id, half)
	if err == nil {
		err = s.store.SealToken(ctx, id, seal)
	}
	if err != nil {
		s.log.WarnContext(ctx, "a token was not sealed", "token", id, "error", err)
	}
}
