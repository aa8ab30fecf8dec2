package auth

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/netip"
	"time"

	"caldav-mcp-server/calendar"
)

// Identity is an account at another service (an OpenID provider) that a user signs in with. The issuer never gives the
// same subject to another person, but it may give a mail address to another one.
type Identity struct {
	Issuer, Subject string
	// Name is the person's display name at that service.
	Name    string
	Created time.Time
}

// IdentityStore is the part of a [Store] that keeps identities.
type IdentityStore interface {
	// UserByIdentity returns the user linked with an identity, or NotFound.
	UserByIdentity(ctx context.Context, issuer, subject string) (calendar.User, error)
	// Identities returns a user's identities, the oldest first.
	Identities(ctx context.Context, user calendar.UserID) ([]Identity, error)
	// InsertIdentity links an identity with a user. Exists when it is linked already, with any user.
	InsertIdentity(ctx context.Context, user calendar.UserID, i Identity) error
	// DropIdentity removes an identity. NotFound when the user does not have it.
	DropIdentity(ctx context.Context, user calendar.UserID, issuer, subject string) error
}

// SignInByIdentity opens a session for a person whom another service has authenticated. That service decides how
// strictly to check, so it replaces both steps. NotFound when no user is linked with the identity.
func (s *SignInFlow) SignInByIdentity(ctx context.Context, i Identity, browser string) (Entry, error) {
	u, err := s.store.UserByIdentity(ctx, i.Issuer, i.Subject)
	if err != nil {
		return Entry{}, fmt.Errorf("looking up who signs in: %w", err)
	}
	return s.enter(ctx, u, ByIdentity, browser)
}

// ProveByIdentity re-authenticates a signed-in user through another service.
func (s *SignInFlow) ProveByIdentity(ctx context.Context, session Session, i Identity) error {
	u, err := s.store.UserByIdentity(ctx, i.Issuer, i.Subject)
	if err != nil {
		return gone(err)
	}
	if u.ID != session.User.ID {
		return ErrUnauthorized
	}
	return s.sessions.prove(ctx, session)
}

// LinkIdentity lets a user sign in through another service.
func (s *SignInFlow) LinkIdentity(ctx context.Context, u calendar.User, i Identity) error {
	i.Created, i.Name = s.seconds(), agent(i.Name)
	err := reworded(s.store.InsertIdentity(ctx, u.ID, i), calendar.Exists, "that account is linked with a user already")
	return during("linking", err)
}

// OfferIdentity seals an identity until the session's user confirms that it may be linked.
func (s *SignInFlow) OfferIdentity(ctx context.Context, session Session, i Identity) (SealedState, error) {
	state, err := json.Marshal(i)
	if err != nil {
		return "", fmt.Errorf("writing JSON: %w", err)
	}
	return s.seal(ctx, linking, formState{User: session.User.ID, Once: string(session.ID), State: state})
}

// AcceptIdentity links the identity that was offered in the same session.
func (s *SignInFlow) AcceptIdentity(ctx context.Context, session Session, t SealedState) error {
	state, err := s.open(ctx, linking, t)
	if err != nil {
		return err
	}
	if state.User != session.User.ID || state.Once != string(session.ID) {
		return errStale()
	}
	var i Identity
	if err := json.Unmarshal(state.State, &i); err != nil {
		return fmt.Errorf("reading JSON: %w", err)
	}
	return s.LinkIdentity(ctx, session.User, i)
}

// Identities returns a user's linked identities.
func (s *SignInFlow) Identities(ctx context.Context, u calendar.User) ([]Identity, error) {
	all, err := s.store.Identities(ctx, u.ID)
	return all, during("listing identities", err)
}

// UnlinkIdentity removes a linked identity. It refuses if the user has no other way to sign in.
func (s *SignInFlow) UnlinkIdentity(ctx context.Context, u calendar.User, issuer, subject string) error {
	f, err := s.Factors(ctx, u)
	if err != nil {
		return err
	}
	if !f.Password && f.Passkeys == 0 && f.Identities <= 1 {
		return errOnlyWay()
	}
	return during("unlinking", s.store.DropIdentity(ctx, u.ID, issuer, subject))
}

// SealState seals the state that a browser brings back from the other service.
func (s *SignInFlow) SealState(ctx context.Context, state []byte) (SealedState, error) {
	return s.seal(ctx, elsewhere, formState{Once: rand.Text(), State: state})
}

// OpenState is the inverse of SealState. A state works once. Each use leads to a request to the other service, so the
// number of uses per address is limited.
func (s *SignInFlow) OpenState(ctx context.Context, from netip.Addr, t SealedState) ([]byte, error) {
	state, err := s.open(ctx, elsewhere, t)
	if err != nil {
		return nil, err
	}
	if wait := s.returns.Take(from); wait > 0 {
		return nil, &ThrottledError{RetryAfter: wait}
	}
	if err := s.store.Spend(ctx, "elsewhere "+state.Once, state.until()); err != nil {
		if calendar.ReasonOf(err) == calendar.Exists {
			return nil, invalid("that was answered already; begin again")
		}
		return nil, fmt.Errorf("noting the answer of another service: %w", err)
	}
	return state.State, nil
}
