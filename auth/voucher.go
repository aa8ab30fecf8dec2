package auth

import (
	"context"
	"fmt"
	"time"

	"caldav-mcp-server/calendar"
)

// VoucherID is the public half of a voucher's secret.
type VoucherID string

// VoucherKind is the purpose of a voucher.
type VoucherKind string

// The kinds: a new user chooses their first password, and a user who has lost theirs another one.
const (
	Invitation VoucherKind = "invitation"
	Reset      VoucherKind = "reset"
)

// voucherLasts is the validity of each kind: an invitation may wait through a holiday, a reset is expected.
var voucherLasts = map[VoucherKind]time.Duration{Invitation: 7 * 24 * time.Hour, Reset: 24 * time.Hour}

// Voucher is an invite or reset link: it lets a user choose a password, once.
type Voucher struct {
	ID               VoucherID
	User             calendar.User
	Kind             VoucherKind
	Created, Expires time.Time
}

// VoucherStore is the part of a [Store] that keeps vouchers.
type VoucherStore interface {
	// VoucherByID returns a voucher and the hash of its secret, even if it has expired, or NotFound.
	VoucherByID(ctx context.Context, id VoucherID) (Voucher, SecretHash, error)
	// Vouchers returns all unused vouchers, by user name.
	Vouchers(ctx context.Context) ([]Voucher, error)
	// SetVoucher adds a voucher and removes the user's others. NotFound when the user does not exist.
	SetVoucher(ctx context.Context, v Voucher, h SecretHash) error
	// DropVouchers revokes a user's vouchers.
	DropVouchers(ctx context.Context, user calendar.UserID) error
	// Redeem uses up a voucher: it sets the user's password and ends all their sessions. NotFound when the voucher is
	// gone.
	Redeem(ctx context.Context, id VoucherID, h Hash) error
}

// Vouch creates a link for a user and revokes their others. Its secret is shown once.
func (s *Directory) Vouch(ctx context.Context, name string, kind VoucherKind) (Voucher, Secret, error) {
	u, err := s.User(ctx, name)
	if err != nil {
		return Voucher{}, "", err
	}
	if err := notARoom(u); err != nil {
		return Voucher{}, "", err
	}
	raw, now := newRaw(), s.seconds()
	id, hash := rawParts(raw)
	v := Voucher{ID: VoucherID(id), User: u, Kind: kind, Created: now, Expires: now.Add(voucherLasts[kind])}
	if err := s.store.SetVoucher(ctx, v, hash); err != nil {
		return Voucher{}, "", fmt.Errorf("making the link: %w", err)
	}
	return v, Secret(encodeRaw(raw)), nil
}

// Voucher returns the voucher of a link. NotFound when it is used, expired or unknown.
func (s *Directory) Voucher(ctx context.Context, secret string) (Voucher, error) {
	raw, ok := decodeRaw(secret)
	if !ok {
		return Voucher{}, errUsed()
	}
	id, hash := rawParts(raw)
	v, stored, err := s.store.VoucherByID(ctx, VoucherID(id))
	switch {
	case err != nil && calendar.ReasonOf(err) != calendar.NotFound:
		return Voucher{}, fmt.Errorf("looking up the link: %w", err)
	case err != nil || !hash.Is(stored) || !s.now().Before(v.Expires) || !v.User.GetsIn():
		return Voucher{}, errUsed()
	}
	return v, nil
}

func errUsed() error {
	return calendar.Errorf(calendar.NotFound, "",
		"this link has been used, has expired or was replaced; ask for another one")
}

// Redeem sets the password that the user of a link chose, and ends all their sessions.
func (s *Directory) Redeem(ctx context.Context, secret, password string) (calendar.User, error) {
	v, err := s.Voucher(ctx, secret)
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

// Vouchers returns the unused links, by user name.
func (s *Directory) Vouchers(ctx context.Context) ([]Voucher, error) {
	all, err := s.store.Vouchers(ctx)
	if err != nil {
		return nil, fmt.Errorf("listing links: %w", err)
	}
	return living(all, func(v Voucher, now time.Time) bool { return now.Before(v.Expires) }, s.now()), nil
}

// DropVouchers revokes a user's links.
func (s *Directory) DropVouchers(ctx context.Context, u calendar.User) error {
	return during("taking links back", s.store.DropVouchers(ctx, u.ID))
}
