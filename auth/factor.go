package auth

import (
	"cmp"
	"context"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"caldav-mcp-server/calendar"
)

// Factors are a user's means of authentication.
type Factors struct {
	Password, Codes                     bool
	Passkeys, Identities, RecoveryCodes int
}

// Second reports whether signing in takes more than a password.
func (f Factors) Second() bool { return f.Codes || f.Passkeys > 0 }

// ByPassword reports whether the user can sign in with the password, with a code as well if a second factor is set up.
func (f Factors) ByPassword() bool {
	return f.Password && (!f.Second() || f.Codes || f.RecoveryCodes > 0)
}

// Guarded reports whether programs may not authenticate with the password.
func (f Factors) Guarded() bool { return f.Second() || f.Identities > 0 }

// FactorStore is the part of a [Store] that keeps second factors. Any change of [Credential.Guarded] increments the
// credential generation. Removing the last second factor also removes the recovery codes.
type FactorStore interface {
	// UserByID returns a user, or NotFound.
	UserByID(ctx context.Context, id calendar.UserID) (calendar.User, error)
	// Factors returns a user's factors, or the zero value if the user does not exist.
	Factors(ctx context.Context, user calendar.UserID) (Factors, error)
	// Spend records the use of something that works only once. Exists when it was used before.
	Spend(ctx context.Context, name string, until time.Time) error
	// Tidy deletes sessions last seen before idle, and password links, spent entries and answers to apps that expired
	// before now.
	Tidy(ctx context.Context, now, idle time.Time) error

	// CodeSecret returns the secret of a user's one-time codes, or NotFound.
	CodeSecret(ctx context.Context, user calendar.UserID) ([]byte, error)
	// SetCodeSecret replaces a user's secret; codes up to and including the step are not accepted.
	SetCodeSecret(ctx context.Context, user calendar.UserID, secret []byte, at time.Time, step int64) error
	// SpendCode records the step of a used code. NotFound when this step or a later one was used.
	SpendCode(ctx context.Context, user calendar.UserID, step int64) error
	// DropCodeSecret removes a user's secret, if there is one.
	DropCodeSecret(ctx context.Context, user calendar.UserID) error
	// SetRecoveryCodes replaces a user's recovery codes.
	SetRecoveryCodes(ctx context.Context, user calendar.UserID, codes []SecretHash) error
	// SpendRecoveryCode removes one recovery code. NotFound when the user has no such code.
	SpendRecoveryCode(ctx context.Context, user calendar.UserID, code SecretHash) error
	// DropFactors removes all second factors of a user.
	DropFactors(ctx context.Context, user calendar.UserID) error

	// Passkeys returns a user's passkeys, the oldest first.
	Passkeys(ctx context.Context, user calendar.UserID) ([]Passkey, error)
	// InsertPasskey adds a passkey. Exists when any user has one with that id.
	InsertPasskey(ctx context.Context, user calendar.UserID, p Passkey) error
	// UsePasskey records a use and the passkey's new data. NotFound when it is gone.
	UsePasskey(ctx context.Context, user calendar.UserID, id PasskeyID, data []byte, at time.Time) error
	// DropPasskey removes a passkey. NotFound when the user has no such passkey.
	DropPasskey(ctx context.Context, user calendar.UserID, id PasskeyID) error
}

// Entry is the outcome of a sign-in step: a session, or a request for the second step.
type Entry struct {
	Session Session
	// Secret is the session's secret, or empty if a second step must follow.
	Secret Secret
	// SealedState must come back with the second step; Factors are the user's choices for it.
	SealedState SealedState
	Factors     Factors
}

// Done reports whether there is a session.
func (e Entry) Done() bool { return e.Secret != "" }

// SignIn checks a password with a name or a mail address, and returns a session or the first step to one. It fails
// like [Verifier.VerifyBasic]. A throttled request reads nothing from the store.
func (s *SignInFlow) SignIn(ctx context.Context, user, password string, from netip.Addr,
	browser string,
) (Entry, error) {
	l := login{strings.ToLower(user), password, from}
	if err := s.verifier.admits(l); err != nil {
		return Entry{}, err
	}
	name, err := s.directory.nameOf(ctx, l.typed)
	if err != nil {
		return Entry{}, err
	}
	// Read before the password is checked, so that a change in between invalidates the second step as well.
	generation, err := s.verifier.generation(ctx, name)
	if err != nil {
		return Entry{}, err
	}
	c, err := s.verifier.verifyLogin(ctx, l, name)
	if err != nil {
		return Entry{}, err
	}
	factors, err := s.Factors(ctx, c.User)
	if err != nil {
		return Entry{}, err
	}
	if !factors.Second() {
		return s.enter(ctx, c.User, ByPassword, browser)
	}
	sealed, err := s.seal(ctx, secondStep, formState{User: c.User.ID, Generation: generation})
	return Entry{SealedState: sealed, Factors: factors}, err
}

// enter opens a session.
func (s *SignInFlow) enter(ctx context.Context, u calendar.User, way Way, browser string) (Entry, error) {
	if !u.GetsIn() {
		return Entry{}, ErrUnauthorized
	}
	session, secret, err := s.sessions.openSession(ctx, u, way, browser)
	return Entry{Session: session, Secret: secret}, err
}

// Factors returns a user's means of authentication.
func (s *SignInFlow) Factors(ctx context.Context, u calendar.User) (Factors, error) {
	f, err := s.store.Factors(ctx, u.ID)
	return f, during("looking up what "+u.Name+" signs in with", err)
}

// SecondStep completes a sign-in with a code of the user's app or a recovery code.
func (s *SignInFlow) SecondStep(ctx context.Context, sealed SealedState, code, browser string) (Entry, error) {
	t, err := s.open(ctx, secondStep, sealed)
	if err != nil {
		return Entry{}, err
	}
	u, err := s.store.UserByID(ctx, t.User)
	if err != nil {
		return Entry{}, gone(err)
	}
	// The first step expires when the password or another credential of the user changes.
	if now, err := s.verifier.generation(ctx, u.Name); err != nil || now != t.Generation {
		return Entry{}, cmp.Or(err, invalid("the account has changed meanwhile; sign in again"))
	}
	way, err := s.checkCode(ctx, u, code)
	if err != nil {
		return Entry{}, err
	}
	return s.enter(ctx, u, way, browser)
}

// generation returns the generation of a user's credentials, or 0 if the user does not exist.
func (s *Verifier) generation(ctx context.Context, name string) (int64, error) {
	n, err := s.store.CredentialGeneration(ctx, Subject{Name: name})
	return n, during("reading the credential generation", err)
}

// addFactor stores a second factor. If it is the user's first, all other sessions end: a password alone opened them.
func (s *SignInFlow) addFactor(ctx context.Context, session Session, keep func() error) error {
	before, err := s.Factors(ctx, session.User)
	if err != nil {
		return err
	}
	if err := keep(); err != nil || before.Second() {
		return err
	}
	return s.sessions.EndSessions(ctx, session.User, session.ID)
}

// gone turns NotFound into ErrUnauthorized, for a user who no longer exists.
func gone(err error) error {
	if calendar.ReasonOf(err) == calendar.NotFound {
		return ErrUnauthorized
	}
	return fmt.Errorf("looking up who signs in: %w", err)
}

// checkCode counts wrong codes per user only, not per address: the caller here knows the password, so strangers
// cannot use up the attempts.
func (s *SignInFlow) checkCode(ctx context.Context, u calendar.User, code string) (Way, error) {
	if err := s.verifier.throttle.takeStep(u.ID); err != nil {
		return "", err
	}
	way, err := s.spendCode(ctx, u, strings.Join(strings.Fields(code), ""))
	if err == nil {
		s.verifier.throttle.giveStepBack(u.ID)
	}
	return way, err
}

func (s *SignInFlow) spendCode(ctx context.Context, u calendar.User, code string) (Way, error) {
	if len(code) == codeDigits {
		return ByCode, s.spendAppCode(ctx, u, code)
	}
	return ByRecovery, s.spendRecoveryCode(ctx, u, code)
}

// DropFactors removes all second factors of a user who has lost them.
func (s *SignInFlow) DropFactors(ctx context.Context, name string) error {
	u, err := s.directory.User(ctx, name)
	if err != nil {
		return err
	}
	return during("taking second factors away", s.store.DropFactors(ctx, u.ID))
}

// errOnlyWay keeps users from locking themselves out.
func errOnlyWay() error {
	return invalid("it is your only way in; choose a password or make a passkey first")
}

// Tidy deletes expired sessions, password links and spent entries.
func (s *SessionManager) Tidy(ctx context.Context) error {
	now := s.seconds()
	return during("deleting expired entries", s.store.Tidy(ctx, now, now.Add(-sessionIdle)))
}
