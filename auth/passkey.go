package auth

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"caldav-mcp-server/auth/passkey"
	"caldav-mcp-server/calendar"
)

// PasskeyID is the id that the authenticator chose, in base64url.
type PasskeyID string

// Passkey is a WebAuthn credential of a user.
type Passkey struct {
	ID PasskeyID
	// Name distinguishes the user's passkeys.
	Name    string
	Created time.Time
	// Used is zero for never.
	Used time.Time
	// Data is the record needed to verify a signature.
	Data []byte
}

// maxPasskeys limits how many passkeys one sign-in must search.
const maxPasskeys = 20

// BeginPasskey asks a user's authenticator to create a passkey.
func (s *SignInFlow) BeginPasskey(ctx context.Context, site passkey.Site,
	u calendar.User,
) (options string, t SealedState, err error) {
	p, err := s.personOf(ctx, u)
	if err != nil {
		return "", "", err
	}
	c, err := site.BeginMaking(p)
	if err != nil {
		return "", "", err
	}
	t, err = s.seal(ctx, makePasskey, formState{User: u.ID, Once: c.Challenge, State: c.State})
	return string(c.Options), t, err
}

// AddPasskey stores the authenticator's new passkey. A user without recovery codes gets some.
func (s *SignInFlow) AddPasskey(ctx context.Context, site passkey.Site, session Session, t SealedState,
	name, answer string,
) (recovery []string, err error) {
	u := session.User
	state, err := s.open(ctx, makePasskey, t)
	if err != nil {
		return nil, err
	}
	if state.User != u.ID {
		return nil, errStale()
	}
	if name = strings.TrimSpace(name); name == "" {
		return nil, invalid("a passkey needs a name that tells it from others, such as \"Laptop\"")
	}
	if err := validateTitle(name); err != nil {
		return nil, err
	}
	p, err := s.personOf(ctx, u)
	if err != nil {
		return nil, err
	}
	if len(p.Keys) >= maxPasskeys {
		return nil, invalid("there are %d passkeys already; remove one first", maxPasskeys)
	}
	key, err := site.Make(p, state.State, []byte(answer))
	if err != nil {
		return nil, s.unlessRefused(ctx, err)
	}
	made := Passkey{ID: PasskeyID(key.ID), Name: name, Created: s.seconds(), Data: key.Data}
	err = s.addFactor(ctx, session, func() error { return s.store.InsertPasskey(ctx, u.ID, made) })
	if err != nil {
		return nil, fmt.Errorf("keeping the passkey: %w", err)
	}
	return s.recoverable(ctx, u)
}

// BeginPasskeySignIn asks the browser for a signature by any passkey of this site.
func (s *SignInFlow) BeginPasskeySignIn(
	ctx context.Context, site passkey.Site,
) (options string, t SealedState, err error) {
	c, err := site.BeginUsing()
	if err != nil {
		return "", "", err
	}
	t, err = s.seal(ctx, usePasskey, formState{Once: c.Challenge, State: c.State})
	return string(c.Options), t, err
}

// SignInByPasskey opens a session for the holder of a passkey. The authenticator has verified the person by fingerprint
// or PIN, so a passkey replaces both steps.
func (s *SignInFlow) SignInByPasskey(ctx context.Context, site passkey.Site, t SealedState,
	answer, browser string,
) (Entry, error) {
	u, err := s.checkPasskey(ctx, site, t, answer)
	if err != nil {
		return Entry{}, err
	}
	return s.enter(ctx, u, ByPasskey, browser)
}

// ProveByPasskey re-authenticates a signed-in user with a passkey.
func (s *SignInFlow) ProveByPasskey(ctx context.Context, site passkey.Site, session Session, t SealedState,
	answer string,
) error {
	u, err := s.checkPasskey(ctx, site, t, answer)
	if err != nil {
		return err
	}
	if u.ID != session.User.ID {
		return ErrUnauthorized
	}
	return s.sessions.prove(ctx, session)
}

// checkPasskey returns the user who made the signature. A signature works only once.
func (s *SignInFlow) checkPasskey(ctx context.Context, site passkey.Site, t SealedState,
	answer string,
) (calendar.User, error) {
	state, err := s.open(ctx, usePasskey, t)
	if err != nil {
		return calendar.User{}, err
	}
	var u calendar.User
	key, err := site.Use(state.State, []byte(answer), func(handle string) (p passkey.Person, err error) {
		if u, err = s.store.UserByID(ctx, calendar.UserID(handle)); err != nil {
			return p, gone(err)
		}
		return s.personOf(ctx, u)
	})
	if err != nil {
		return u, s.unlessRefused(ctx, err)
	}
	if err := s.store.Spend(ctx, "passkey "+state.Once, state.until()); err != nil {
		if calendar.ReasonOf(err) == calendar.Exists {
			return u, ErrUnauthorized
		}
		return u, fmt.Errorf("noting the use of a passkey: %w", err)
	}
	if err := s.store.UsePasskey(ctx, u.ID, PasskeyID(key.ID), key.Data, s.seconds()); err != nil {
		return u, gone(err)
	}
	return u, nil
}

// unlessRefused hides the reason of a refusal from the visitor; the log has it.
func (s *SignInFlow) unlessRefused(ctx context.Context, err error) error {
	if !errors.Is(err, passkey.ErrRefused) {
		return err
	}
	s.log.InfoContext(ctx, "a passkey was refused", "error", err)
	return ErrUnauthorized
}

func (s *SignInFlow) personOf(ctx context.Context, u calendar.User) (passkey.Person, error) {
	all, err := s.Passkeys(ctx, u)
	p := passkey.Person{Handle: string(u.ID), Name: u.Name, Title: u.Title()}
	for _, one := range all {
		p.Keys = append(p.Keys, passkey.Key{ID: string(one.ID), Data: one.Data})
	}
	return p, err
}

// Passkeys returns a user's passkeys, the oldest first.
func (s *SignInFlow) Passkeys(ctx context.Context, u calendar.User) ([]Passkey, error) {
	all, err := s.store.Passkeys(ctx, u.ID)
	return all, during("listing passkeys", err)
}

// DropPasskey removes one of a user's passkeys.
func (s *SignInFlow) DropPasskey(ctx context.Context, u calendar.User, id PasskeyID) error {
	f, err := s.Factors(ctx, u)
	if err != nil {
		return err
	}
	if !f.Password && f.Passkeys <= 1 && f.Identities == 0 {
		return errOnlyWay()
	}
	return during("dropping the passkey", s.store.DropPasskey(ctx, u.ID, id))
}
