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

// Identity is a person for whom another service vouches: the names of the service and of the person, which is never
// given to anybody else. Their mail address there may be.
type Identity struct {
	Issuer, Subject string
	// Name is what they are called there, for people to read.
	Name    string
	Created time.Time
}

// IdentityStore is the part of a [Store] that keeps identities.
type IdentityStore interface {
	// UserByIdentity returns whose identity it is, or NotFound.
	UserByIdentity(ctx context.Context, issuer, subject string) (calendar.User, error)
	// Identities returns a user's, the oldest first.
	Identities(ctx context.Context, user calendar.UserID) ([]Identity, error)
	// InsertIdentity gives a user an identity. Exists when it is somebody's.
	InsertIdentity(ctx context.Context, user calendar.UserID, i Identity) error
	// DropIdentity takes it away. NotFound when they have no such.
	DropIdentity(ctx context.Context, user calendar.UserID, issuer, subject string) error
}

// SignInByIdentity opens a session for a person for whom another service vouches. It has asked for all that it wants, so
// it stands for both steps. NotFound when nobody here is linked with the identity.
func (s *Service) SignInByIdentity(ctx context.Context, i Identity, browser string) (Entry, error) {
	u, err := s.store.UserByIdentity(ctx, i.Issuer, i.Subject)
	if err != nil {
		return Entry{}, fmt.Errorf("looking up who signs in: %w", err)
	}
	return s.enter(ctx, u, ByIdentity, browser)
}

// ProveByIdentity lets somebody who is signed in prove their identity again.
func (s *Service) ProveByIdentity(ctx context.Context, session Session, i Identity) error {
	u, err := s.store.UserByIdentity(ctx, i.Issuer, i.Subject)
	if err != nil {
		return gone(err)
	}
	if u.ID != session.User.ID {
		return ErrUnauthorized
	}
	return s.prove(ctx, session)
}

// LinkIdentity lets a user sign in by another service from now on.
func (s *Service) LinkIdentity(ctx context.Context, u calendar.User, i Identity) error {
	i.Created, i.Name = s.seconds(), agent(i.Name)
	err := reworded(s.store.InsertIdentity(ctx, u.ID, i), calendar.Exists, "that account is linked with a user already")
	return during("linking", err)
}

// OfferIdentity seals an identity until the session's user has said that it is to be linked.
func (s *Service) OfferIdentity(ctx context.Context, session Session, i Identity) (Parcel, error) {
	state, err := json.Marshal(i)
	if err != nil {
		return "", fmt.Errorf("writing JSON: %w", err)
	}
	return s.pack(ctx, linking, packed{User: session.User.ID, Once: string(session.ID), State: state})
}

// AcceptIdentity links what was offered in the same session.
func (s *Service) AcceptIdentity(ctx context.Context, session Session, t Parcel) error {
	parcel, err := s.unpack(ctx, linking, t)
	if err != nil {
		return err
	}
	if parcel.User != session.User.ID || parcel.Once != string(session.ID) {
		return errStale()
	}
	var i Identity
	if err := json.Unmarshal(parcel.State, &i); err != nil {
		return fmt.Errorf("reading JSON: %w", err)
	}
	return s.LinkIdentity(ctx, session.User, i)
}

// Identities returns what a user is linked with.
func (s *Service) Identities(ctx context.Context, u calendar.User) ([]Identity, error) {
	all, err := s.store.Identities(ctx, u.ID)
	return all, during("listing identities", err)
}

// UnlinkIdentity ends that. A user with no other way in must make one first.
func (s *Service) UnlinkIdentity(ctx context.Context, u calendar.User, issuer, subject string) error {
	f, err := s.Factors(ctx, u)
	if err != nil {
		return err
	}
	if !f.Password && f.Passkeys == 0 && f.Identities <= 1 {
		return errOnlyWay()
	}
	return during("unlinking", s.store.DropIdentity(ctx, u.ID, issuer, subject))
}

// SealState keeps what a browser brings back from the other service.
func (s *Service) SealState(ctx context.Context, state []byte) (Parcel, error) {
	return s.pack(ctx, elsewhere, packed{Once: rand.Text(), State: state})
}

// OpenState is the inverse of SealState. It is good once, and so often from where it comes: what is in it has the
// other service asked.
func (s *Service) OpenState(ctx context.Context, from netip.Addr, t Parcel) ([]byte, error) {
	parcel, err := s.unpack(ctx, elsewhere, t)
	if err != nil {
		return nil, err
	}
	if wait := s.returns.Take(from); wait > 0 {
		return nil, &ThrottledError{RetryAfter: wait}
	}
	if err := s.store.Spend(ctx, "elsewhere "+parcel.Once, parcel.until()); err != nil {
		if calendar.ReasonOf(err) == calendar.Exists {
			return nil, invalid("that was answered already; begin again")
		}
		return nil, fmt.Errorf("noting the answer of another service: %w", err)
	}
	return parcel.State, nil
}
