package auth

import (
	"context"
	"strings"
	"time"

	"caldav-mcp-server/calendar"
)

// Address is a mail address beside the user's main one, [calendar.User.Email]. It is theirs for invitations once it
// is verified.
type Address struct {
	// Text is in lower case.
	Text    string
	Created time.Time
	// Verified is zero for what nobody has looked at yet.
	Verified time.Time
}

// maxAddresses bounds how many a user may have beside the main one.
const maxAddresses = 10

// AddressStore is the part of a [Store] that keeps mail addresses.
type AddressStore interface {
	// Addresses returns those of a user beside the main one, in order.
	Addresses(ctx context.Context, user calendar.UserID) ([]Address, error)
	// InsertAddress adds one. Exists when they have it already.
	InsertAddress(ctx context.Context, user calendar.UserID, a Address) error
	// VerifyAddress makes it theirs. NotFound when they have not added it; Exists when it is another user's.
	VerifyAddress(ctx context.Context, user calendar.UserID, address string, at time.Time) error
	// DropAddress takes one away. NotFound when they have no such.
	DropAddress(ctx context.Context, user calendar.UserID, address string) error
	// SwapAddress makes a verified address the main one, and the main one, if there is any, a verified one beside it.
	// NotFound when they have no such.
	SwapAddress(ctx context.Context, user calendar.UserID, address string, at time.Time) error
}

// Addresses returns a user's mail addresses beside the main one.
func (s *Service) Addresses(ctx context.Context, u calendar.User) ([]Address, error) {
	all, err := s.store.Addresses(ctx, u.ID)
	return all, during("listing mail addresses", err)
}

// AddAddress notes that a user says an address is theirs.
func (s *Service) AddAddress(ctx context.Context, u calendar.User, text string) error {
	text = strings.ToLower(strings.TrimSpace(text))
	if text == "" {
		return invalid("say which address; it looks like name@example.com")
	}
	if err := validateEmail(text); err != nil {
		return err
	}
	all, err := s.Addresses(ctx, u)
	if err != nil {
		return err
	}
	if len(all) >= maxAddresses {
		return invalid("there are %d addresses already; remove one first", maxAddresses)
	}
	if strings.EqualFold(text, u.Email) {
		return errHas(text)
	}
	err = s.store.InsertAddress(ctx, u.ID, Address{Text: text, Created: s.seconds()})
	if err != nil && calendar.ReasonOf(err) == calendar.Exists {
		err = errHas(text)
	}
	return during("adding the address", err)
}

func errHas(address string) error {
	return calendar.Errorf(calendar.Exists, "", "%q is among the addresses already", address)
}

// VerifyAddress makes an address a user's own, once somebody has made sure that it is.
func (s *Service) VerifyAddress(ctx context.Context, u calendar.User, text string) error {
	err := s.store.VerifyAddress(ctx, u.ID, strings.ToLower(text), s.seconds())
	err = reworded(err, calendar.Exists, "%q is another user's", shortened(text, maxTitle))
	return during("verifying the address", err)
}

// DropAddress takes an address away from a user.
func (s *Service) DropAddress(ctx context.Context, u calendar.User, text string) error {
	return during("removing the address", s.store.DropAddress(ctx, u.ID, strings.ToLower(text)))
}

// MainAddress makes a verified address the one that invitations name.
func (s *Service) MainAddress(ctx context.Context, u calendar.User, text string) error {
	return during("choosing the main address", s.store.SwapAddress(ctx, u.ID, strings.ToLower(text), s.seconds()))
}
