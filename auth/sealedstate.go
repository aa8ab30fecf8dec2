package auth

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"time"

	"caldav-mcp-server/calendar"
)

// SealedState is the state of a form: the browser returns it with the next step. It is encrypted and authenticated, and
// valid for minutes. The server therefore stores nothing for visitors who leave halfway.
type SealedState string

// purpose says what sealed state is for. Sealed state is valid for one purpose only.
type purpose string

const (
	secondStep     purpose = "second step"
	newCodes       purpose = "new code app"
	makePasskey    purpose = "new passkey"
	usePasskey     purpose = "passkey"
	elsewhere      purpose = "elsewhere"
	linking        purpose = "linking"
	aDevice        purpose = "device"
	appLoginUser   purpose = "app login, user"
	appLoginApp    purpose = "app login, app"
	maxSealedState         = 16 << 10
	sealedStateKey         = "parcels"
)

// SealedStateLasts is the validity of sealed state.
const SealedStateLasts = 10 * time.Minute

// formState is the content of sealed state.
type formState struct {
	User calendar.UserID `json:"user,omitempty"`
	// Once names state that works only once.
	Once  string `json:"once,omitempty"`
	State []byte `json:"state,omitempty"`
	// Generation is the generation of the user's credentials when the state was sealed. Some purposes require that it
	// has not changed.
	Generation int64 `json:"generation,omitempty"`
	Until      int64 `json:"until"`
}

// until returns its expiry.
func (t formState) until() time.Time { return time.Unix(t.Until, 0).UTC() }

// cipher reads the key from the store on first use.
func (s *SignInFlow) cipher(ctx context.Context) (cipher.AEAD, error) {
	if box := s.box.Load(); box != nil {
		return *box, nil
	}
	key, err := s.store.Secret(ctx, sealedStateKey)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("sealed states: %w", err)
	}
	box, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return nil, fmt.Errorf("sealed states: %w", err)
	}
	s.box.Store(&box)
	return box, nil
}

func (s *SignInFlow) seal(ctx context.Context, of purpose, t formState) (SealedState, error) {
	return s.sealUntil(ctx, of, t, s.seconds().Add(SealedStateLasts))
}

func (s *SignInFlow) sealUntil(ctx context.Context, of purpose, t formState, until time.Time) (SealedState, error) {
	box, err := s.cipher(ctx)
	if err != nil {
		return "", err
	}
	t.Until = until.Unix()
	plain, err := json.Marshal(t)
	if err != nil {
		return "", fmt.Errorf("writing JSON: %w", err)
	}
	sealed := box.Seal(nil, nil, plain, []byte(of)) //nolint:gosec // it adds a random nonce by itself
	return SealedState(base64.RawURLEncoding.EncodeToString(sealed)), nil
}

// open reads sealed state. The error is Invalid if it is damaged or expired; the user must start over.
func (s *SignInFlow) open(ctx context.Context, of purpose, text SealedState) (t formState, err error) {
	box, err := s.cipher(ctx)
	if err != nil {
		return t, err
	}
	if len(text) > maxSealedState {
		return t, errStale()
	}
	raw, err := base64.RawURLEncoding.DecodeString(string(text))
	if err != nil {
		return t, errStale()
	}
	plain, err := box.Open(nil, nil, raw, []byte(of))
	if err != nil {
		return t, errStale()
	}
	if err := json.Unmarshal(plain, &t); err != nil {
		return t, fmt.Errorf("reading JSON: %w", err)
	}
	if !s.now().Before(t.until()) {
		return t, errStale()
	}
	return t, nil
}

func errStale() error { return invalid("that took too long; begin again") }
