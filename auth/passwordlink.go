package auth

import (
	"context"
	"fmt"
	"time"

	"caldav-mcp-server/calendar"
)

// PasswordLinkID is the public half of a password link's secret.
type PasswordLinkID string

// PasswordLinkKind is the purpose of a password link.
type PasswordLinkKind string

// The kinds: a new user chooses their first password, and a user who has lost theirs another one.
const (
	Invitation PasswordLinkKind = "invitation"
	Reset      PasswordLinkKind = "reset"
)

// passwordLinkLasts is the validity of each kind: an invitation may wait through a holiday, a reset is expected.
var passwordLinkLasts = map[PasswordLinkKind]time.Duration{Invitation: 7 * 24 * time.Hour, Reset: 24 * time.Hour}

// PasswordLink is an invite or reset link: it lets a user choose a password, once.
type PasswordLink struct {
	ID               PasswordLinkID
	User             calendar.User
	Kind             PasswordLinkKind
	Created, Expires time.Time
}

// PasswordLinkStore is the part of a [Store] that keeps password links.
type PasswordLinkStore interface {
	// PasswordLinkByID returns a password link and the hash of its secret, even if it has expired, or NotFound.
	PasswordLinkByID(ctx context.Context, id PasswordLinkID) (PasswordLink, SecretHash, error)
	// WaitingLinks returns the unused links, with nothing but the user's id, kind and expiry.
	WaitingLinks(ctx context.Context) ([]PasswordLink, error)
	// SetPasswordLink adds a password link and removes the user's others. NotFound when the user does not exist.
	SetPasswordLink(ctx context.Context, v PasswordLink, h SecretHash) error
	// DropPasswordLinks revokes a user's password links.
	DropPasswordLinks(ctx context.Context, user calendar.UserID) error
	// Redeem uses up a password link: it sets the user's password and ends all their sessions. NotFound when the link
	// is gone.
	Redeem(ctx context.Context, id PasswordLinkID, h Hash) error
}

// PasswordLinkKind returns the kind of link that the user needs: an invitation before they have any way to sign in.
func (f Factors) PasswordLinkKind() PasswordLinkKind {
	if f == (Factors{}) {
		return Invitation
	}
	return Reset
}

// CreatePasswordLink creates a link for a user and revokes their others. Its secret is shown once.
func (s *Directory) CreatePasswordLink(
	ctx context.Context, name string, kind PasswordLinkKind,
) (PasswordLink, Secret, error) {
	u, err := s.User(ctx, name)
	if err != nil {
		return PasswordLink{}, "", err
	}
	if err := notARoom(u); err != nil {
		return PasswordLink{}, "", err
	}
	raw, now := newRaw(), s.seconds()
	id, hash := rawParts(raw)
	v := PasswordLink{
		ID: PasswordLinkID(id), User: u, Kind: kind, Created: now, Expires: now.Add(passwordLinkLasts[kind]),
	}
	if err := s.store.SetPasswordLink(ctx, v, hash); err != nil {
		return PasswordLink{}, "", fmt.Errorf("making the link: %w", err)
	}
	return v, Secret(encodeRaw(raw)), nil
}

// PasswordLink returns the link of a link. NotFound when it is used, expired or unknown.
func (s *Directory) PasswordLink(ctx context.Context, secret string) (PasswordLink, error) {
	raw, ok := decodeRaw(secret)
	if !ok {
		return PasswordLink{}, errUsed()
	}
	id, hash := rawParts(raw)
	v, stored, err := s.store.PasswordLinkByID(ctx, PasswordLinkID(id))
	switch {
	case err != nil && calendar.ReasonOf(err) != calendar.NotFound:
		return PasswordLink{}, fmt.Errorf("looking up the link: %w", err)
	case err != nil || !hash.Is(stored) || !s.now().Before(v.Expires) || !v.User.GetsIn():
		return PasswordLink{}, errUsed()
	}
	return v, nil
}

func errUsed() error {
	return calendar.Errorf(calendar.NotFound, "",
		"this link has been used, has expired or was replaced; ask for another one")
}

// Redeem sets the password that the user of a link chose, and ends all their sessions.
func (s *Directory) Redeem(ctx context.Context, secret, password string) (calendar.User, error) {
	v, err := s.PasswordLink(ctx, secret)
	if err != nil {
		return v.User, err
	}
	if err := validatePassword(password); err != nil {
		return v.User, err
	}
	h, err := s.verifier.hash(ctx, password)
	if err != nil {
		return v.User, err
	}
	err = s.store.Redeem(ctx, v.ID, h)
	if err != nil && calendar.ReasonOf(err) == calendar.NotFound {
		err = errUsed()
	}
	return v.User, during("choosing the password", err)
}

// WaitingLinks returns the unused links by user, with nothing but the user's id, kind and expiry.
func (s *Directory) WaitingLinks(ctx context.Context) (map[calendar.UserID]PasswordLink, error) {
	all, err := s.store.WaitingLinks(ctx)
	waiting := make(map[calendar.UserID]PasswordLink, len(all))
	for _, v := range all {
		if s.now().Before(v.Expires) {
			waiting[v.User.ID] = v
		}
	}
	return waiting, during("listing links", err)
}

// DropPasswordLinks revokes a user's links.
func (s *Directory) DropPasswordLinks(ctx context.Context, u calendar.User) error {
	return during("taking links back", s.store.DropPasswordLinks(ctx, u.ID))
}
