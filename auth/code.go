package auth

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha1" //nolint:gosec // RFC 6238 uses SHA-1, the only hash that all apps support
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base32"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"net/url"
	"strings"
	"time"

	"caldav-mcp-server/calendar"
)

// One-time codes with the parameters that all authenticator apps support (RFC 6238 and RFC 4226).
const (
	codeDigits  = 6
	codeModulus = 1_000_000
	codePeriod  = 30 * time.Second
	// codeDrift is how many periods a phone's clock may be off.
	codeDrift = 1
	// codeSecretLength is the length of the HMAC's hash (RFC 4226 §4).
	codeSecretLength = 20
	// A user gets this many recovery codes. Each is written in groups and has 80 random bits.
	recoveryCodes, recoveryGroups, recoveryGroup = 10, 4, 4
)

// CodeOffer is a new secret for an authenticator app. It takes effect once the user enters a code made with it.
type CodeOffer struct {
	// Secret is the text to type into the app; Address is the otpauth URI that a phone opens.
	Secret, Address string
	SealedState     SealedState
}

// OfferCodes makes a secret for an authenticator app.
func (s *SignInFlow) OfferCodes(ctx context.Context, u calendar.User, site string) (CodeOffer, error) {
	secret := make([]byte, codeSecretLength)
	// Never fails: crypto/rand crashes the program if the system has no randomness.
	_, _ = rand.Read(secret)
	sealed, err := s.seal(ctx, newCodes, formState{User: u.ID, State: secret})
	if err != nil {
		return CodeOffer{}, err
	}
	return s.offer(u, site, secret, sealed), nil
}

// OfferAgain returns the same offer again, for a user who mistyped the code.
func (s *SignInFlow) OfferAgain(
	ctx context.Context, u calendar.User, site string, sealed SealedState,
) (CodeOffer, error) {
	t, err := s.open(ctx, newCodes, sealed)
	if err != nil || t.User != u.ID {
		return s.OfferCodes(ctx, u, site)
	}
	return s.offer(u, site, t.State, sealed), nil
}

func (s *SignInFlow) offer(u calendar.User, site string, secret []byte, sealed SealedState) CodeOffer {
	text := base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(secret)
	address := url.URL{
		Scheme: "otpauth", Host: "totp", Path: "/" + site + ":" + u.Name,
		RawQuery: "secret=" + text + "&issuer=" + url.PathEscape(site),
	}
	return CodeOffer{Secret: text, Address: address.String(), SealedState: sealed}
}

// AcceptCodes checks the app's first code and turns one-time codes on for the session's user. A user without recovery
// codes gets some, too.
func (s *SignInFlow) AcceptCodes(ctx context.Context, session Session, sealed SealedState,
	code string,
) (recovery []string, err error) {
	u := session.User
	t, err := s.open(ctx, newCodes, sealed)
	if err != nil {
		return nil, err
	}
	if t.User != u.ID {
		return nil, errStale()
	}
	step, ok := s.stepOf(t.State, strings.Join(strings.Fields(code), ""))
	if !ok {
		return nil, invalid("that code is not the one of this moment; is the phone's clock right?")
	}
	err = s.addFactor(ctx, session, func() error {
		return s.store.SetCodeSecret(ctx, u.ID, t.State, s.seconds(), step)
	})
	if err != nil {
		return nil, fmt.Errorf("keeping the secret of the codes: %w", err)
	}
	return s.recoverable(ctx, u)
}

// DropCodes turns a user's one-time codes off.
func (s *SignInFlow) DropCodes(ctx context.Context, u calendar.User) error {
	return during("dropping the secret of the codes", s.store.DropCodeSecret(ctx, u.ID))
}

// stepOf returns the time step of a code, if it belongs to the current step or one within the drift.
func (s *SignInFlow) stepOf(secret []byte, code string) (step int64, ok bool) {
	now := s.now().Unix() / int64(codePeriod/time.Second)
	for candidate := now - codeDrift; candidate <= now+codeDrift; candidate++ {
		if subtle.ConstantTimeCompare([]byte(codeAt(secret, candidate)), []byte(code)) == 1 {
			step, ok = candidate, true
		}
	}
	return step, ok
}

// codeAt returns the code of a time step (RFC 4226 §5.3).
func codeAt(secret []byte, step int64) string {
	mac := hmac.New(sha1.New, secret)
	_ = binary.Write(mac, binary.BigEndian, step) // a hash accepts any input
	sum := mac.Sum(nil)
	from := sum[len(sum)-1] & 0x0f
	return fmt.Sprintf("%0*d", codeDigits, (binary.BigEndian.Uint32(sum[from:])&0x7fffffff)%codeModulus)
}

func (s *SignInFlow) spendAppCode(ctx context.Context, u calendar.User, code string) error {
	secret, err := s.store.CodeSecret(ctx, u.ID)
	if err != nil {
		return gone(err)
	}
	step, ok := s.stepOf(secret, code)
	if !ok {
		return ErrUnauthorized
	}
	// Each code works once, so a code that a bystander has read is useless.
	if err := s.store.SpendCode(ctx, u.ID, step); err != nil {
		return gone(err)
	}
	return nil
}

func (s *SignInFlow) spendRecoveryCode(ctx context.Context, u calendar.User, code string) error {
	if err := s.store.SpendRecoveryCode(ctx, u.ID, recoveryHash(u.ID, code)); err != nil {
		return gone(err)
	}
	return nil
}

// recoverable creates recovery codes for a user who has none and returns them: they are shown only once.
func (s *SignInFlow) recoverable(ctx context.Context, u calendar.User) ([]string, error) {
	f, err := s.Factors(ctx, u)
	if err != nil || f.RecoveryCodes > 0 {
		return nil, err
	}
	return s.NewRecoveryCodes(ctx, u)
}

// NewRecoveryCodes replaces a user's recovery codes.
func (s *SignInFlow) NewRecoveryCodes(ctx context.Context, u calendar.User) ([]string, error) {
	codes := make([]string, recoveryCodes)
	hashes := make([]SecretHash, recoveryCodes)
	for i := range codes {
		codes[i] = grouped(recoveryGroups, recoveryGroup)
		hashes[i] = recoveryHash(u.ID, codes[i])
	}
	if err := s.store.SetRecoveryCodes(ctx, u.ID, hashes); err != nil {
		return nil, fmt.Errorf("keeping the recovery codes: %w", err)
	}
	return codes, nil
}

// recoveryHash ignores case and dashes. A fast hash is enough: 80 random bits cannot be guessed.
func recoveryHash(user calendar.UserID, code string) SecretHash {
	sum := sha256.Sum256([]byte(string(user) + " " + strings.ToLower(strings.ReplaceAll(code, "-", ""))))
	return SecretHash(hex.EncodeToString(sum[:]))
}
