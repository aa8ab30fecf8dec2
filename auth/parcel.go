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

// Parcel is sealed form state: the browser returns it with the next step. It is encrypted and authenticated, and valid
// for minutes. The server therefore stores nothing for visitors who leave halfway.
type Parcel string

// errand is the purpose of a parcel. A parcel is valid for one purpose only.
type errand string

const (
	secondStep    errand = "second step"
	newCodes      errand = "new code app"
	makePasskey   errand = "new passkey"
	usePasskey    errand = "passkey"
	elsewhere     errand = "elsewhere"
	linking       errand = "linking"
	aDevice       errand = "device"
	maxParcel            = 16 << 10
	parcelPurpose        = "parcels"
)

// ParcelLasts is the validity of a parcel.
const ParcelLasts = 10 * time.Minute

// packed is the content of a parcel.
type packed struct {
	User calendar.UserID `json:"user,omitempty"`
	// Once is the name of a parcel that works only once.
	Once  string `json:"once,omitempty"`
	State []byte `json:"state,omitempty"`
	// Generation is the generation of the user's credentials when the parcel was made. Some purposes require that it
	// has not changed.
	Generation int64 `json:"generation,omitempty"`
	Until      int64 `json:"until"`
}

// until returns the parcel's expiry.
func (t packed) until() time.Time { return time.Unix(t.Until, 0).UTC() }

// cipher reads the key from the store on first use.
func (s *SignInFlow) cipher(ctx context.Context) (cipher.AEAD, error) {
	if box := s.box.Load(); box != nil {
		return *box, nil
	}
	key, err := s.store.Secret(ctx, parcelPurpose)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("parcels: %w", err)
	}
	box, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return nil, fmt.Errorf("parcels: %w", err)
	}
	s.box.Store(&box)
	return box, nil
}

func (s *SignInFlow) pack(ctx context.Context, of errand, t packed) (Parcel, error) {
	box, err := s.cipher(ctx)
	if err != nil {
		return "", err
	}
	t.Until = s.seconds().Add(ParcelLasts).Unix()
	plain, err := json.Marshal(t)
	if err != nil {
		return "", fmt.Errorf("writing JSON: %w", err)
	}
	sealed := box.Seal(nil, nil, plain, []byte(of)) //nolint:gosec // it adds a random nonce by itself
	return Parcel(base64.RawURLEncoding.EncodeToString(sealed)), nil
}

// unpack opens a parcel. The error is Invalid if the parcel is damaged or expired; the user must start over.
func (s *SignInFlow) unpack(ctx context.Context, of errand, text Parcel) (t packed, err error) {
	box, err := s.cipher(ctx)
	if err != nil {
		return t, err
	}
	if len(text) > maxParcel {
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
