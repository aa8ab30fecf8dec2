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

// Factors are what a user can prove themselves with.
type Factors struct {
	Password, Codes                     bool
	Passkeys, Identities, RecoveryCodes int
}

// Second tells whether a session takes more than a password.
func (f Factors) Second() bool { return f.Codes || f.Passkeys > 0 }

// ByPassword tells whether a password opens one, with a code where it does not do so alone.
func (f Factors) ByPassword() bool {
	return f.Password && (!f.Second() || f.Codes || f.RecoveryCodes > 0)
}

// Guarded tells whether the password opens no door to programs.
func (f Factors) Guarded() bool { return f.Second() || f.Identities > 0 }

// FactorStore is the part of a [Store] that keeps second factors. Whatever changes what [Credential.Guarded] says moves
// the generation on. The recovery codes go with the last second factor.
type FactorStore interface {
	// UserByID returns a user, or NotFound.
	UserByID(ctx context.Context, id calendar.UserID) (calendar.User, error)
	// Factors returns what a user has; of nobody, nothing.
	Factors(ctx context.Context, user calendar.UserID) (Factors, error)
	// Spend notes that something was used that is good once. Exists when it was already.
	Spend(ctx context.Context, name string, until time.Time) error
	// Tidy drops what has ended: sessions that were not seen since idle, vouchers and what was spent before now.
	Tidy(ctx context.Context, now, idle time.Time) error

	// CodeSecret returns the secret of a user's one-time codes, or NotFound.
	CodeSecret(ctx context.Context, user calendar.UserID) ([]byte, error)
	// SetCodeSecret gives a user another one; codes up to a step are not taken.
	SetCodeSecret(ctx context.Context, user calendar.UserID, secret []byte, at time.Time, step int64) error
	// SpendCode notes the step of a code. NotFound when that or a later one was used.
	SpendCode(ctx context.Context, user calendar.UserID, step int64) error
	// DropCodeSecret takes a user's one-time codes away, if there are any.
	DropCodeSecret(ctx context.Context, user calendar.UserID) error
	// SetRecoveryCodes replaces a user's recovery codes.
	SetRecoveryCodes(ctx context.Context, user calendar.UserID, codes []SecretHash) error
	// SpendRecoveryCode takes one away. NotFound when they have no such.
	SpendRecoveryCode(ctx context.Context, user calendar.UserID, code SecretHash) error
	// DropFactors takes all second factors of a user away.
	DropFactors(ctx context.Context, user calendar.UserID) error

	// Passkeys returns a user's, the oldest first.
	Passkeys(ctx context.Context, user calendar.UserID) ([]Passkey, error)
	// InsertPasskey makes one. Exists when there is one of that id, whosever it is.
	InsertPasskey(ctx context.Context, user calendar.UserID, p Passkey) error
	// UsePasskey notes a use, and what is known of the passkey since. NotFound when it is gone.
	UsePasskey(ctx context.Context, user calendar.UserID, id PasskeyID, data []byte, at time.Time) error
	// DropPasskey takes one of a user's away. NotFound when they have no such.
	DropPasskey(ctx context.Context, user calendar.UserID, id PasskeyID) error
}

// Entry is how far a sign-in came: a session, or what it still takes.
type Entry struct {
	Session Session
	// Secret is the session's, or empty where a second step is still to come.
	Secret Secret
	// Parcel goes with the second step; Factors are what it can be taken with.
	Parcel  Parcel
	Factors Factors
}

// Done tells whether there is a session.
func (e Entry) Done() bool { return e.Secret != "" }

// SignIn takes a user's name and password: that is a session, or the first step to one. The errors are those of
// [Service.VerifyBasic].
func (s *Service) SignIn(ctx context.Context, user, password string, from netip.Addr, browser string) (Entry, error) {
	// Read before the password is looked at: a change in between must end the second step, too.
	generation, err := s.generation(ctx, strings.ToLower(user))
	if err != nil {
		return Entry{}, err
	}
	c, err := s.verifyPassword(ctx, user, password, from)
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
	parcel, err := s.pack(ctx, secondStep, packed{User: c.User.ID, Generation: generation})
	return Entry{Parcel: parcel, Factors: factors}, err
}

// enter opens a session.
func (s *Service) enter(ctx context.Context, u calendar.User, way Way, browser string) (Entry, error) {
	if !u.GetsIn() {
		return Entry{}, ErrUnauthorized
	}
	session, secret, err := s.openSession(ctx, u, way, browser)
	return Entry{Session: session, Secret: secret}, err
}

// Factors returns what a user can prove themselves with.
func (s *Service) Factors(ctx context.Context, u calendar.User) (Factors, error) {
	f, err := s.store.Factors(ctx, u.ID)
	return f, during("looking up what "+u.Name+" signs in with", err)
}

// SecondStep takes a code of the user's app, or one of their recovery codes.
func (s *Service) SecondStep(ctx context.Context, parcel Parcel, code, browser string) (Entry, error) {
	t, err := s.unpack(ctx, secondStep, parcel)
	if err != nil {
		return Entry{}, err
	}
	u, err := s.store.UserByID(ctx, t.User)
	if err != nil {
		return Entry{}, gone(err)
	}
	// The first step stands no more once the password was changed, or anything else that lets the user in.
	if now, err := s.generation(ctx, u.Name); err != nil || now != t.Generation {
		return Entry{}, cmp.Or(err, invalid("something about the account was changed meanwhile; begin again"))
	}
	way, err := s.checkCode(ctx, u, code)
	if err != nil {
		return Entry{}, err
	}
	return s.enter(ctx, u, way, browser)
}

// generation is that of a user's credentials; of nobody's, 0.
func (s *Service) generation(ctx context.Context, name string) (int64, error) {
	n, err := s.store.CredentialGeneration(ctx, Subject{Name: name})
	return n, during("reading the credential generation", err)
}

// addFactor keeps a second factor. The first one ends what a password alone had opened: all sessions but the one in
// which the factor was made.
func (s *Service) addFactor(ctx context.Context, session Session, keep func() error) error {
	before, err := s.Factors(ctx, session.User)
	if err != nil {
		return err
	}
	if err := keep(); err != nil || before.Second() {
		return err
	}
	return s.EndSessions(ctx, session.User, session.ID)
}

// gone makes a user who is no longer there somebody who does not get in.
func gone(err error) error {
	if calendar.ReasonOf(err) == calendar.NotFound {
		return ErrUnauthorized
	}
	return fmt.Errorf("looking up who signs in: %w", err)
}

// checkCode counts wrong codes by user only, from wherever it comes: a caller who gets here knows the password, so
// that nobody else can use the guesses up.
func (s *Service) checkCode(ctx context.Context, u calendar.User, code string) (Way, error) {
	if err := s.throttle.takeStep(u.ID); err != nil {
		return "", err
	}
	way, err := s.spendCode(ctx, u, strings.Join(strings.Fields(code), ""))
	if err == nil {
		s.throttle.giveStepBack(u.ID)
	}
	return way, err
}

func (s *Service) spendCode(ctx context.Context, u calendar.User, code string) (Way, error) {
	if len(code) == codeDigits {
		return ByCode, s.spendAppCode(ctx, u, code)
	}
	return ByRecovery, s.spendRecoveryCode(ctx, u, code)
}

// DropFactors takes all second factors of a user away, for a user who has lost them.
func (s *Service) DropFactors(ctx context.Context, name string) error {
	u, err := s.User(ctx, name)
	if err != nil {
		return err
	}
	return during("taking second factors away", s.store.DropFactors(ctx, u.ID))
}

// errOnlyWay keeps people from locking themselves out.
func errOnlyWay() error {
	return invalid("it is your only way in; choose a password or make a passkey first")
}

// Tidy forgets sessions, links to choose a password and the like that have ended.
func (s *Service) Tidy(ctx context.Context) error {
	now := s.seconds()
	return during("forgetting what has ended", s.store.Tidy(ctx, now, now.Add(-sessionIdle)))
}
