package auth

import (
	"context"
	"strings"
	"time"
	"unicode"

	"caldav-mcp-server/calendar"
)

// Address is an additional mail address of a user; the main one is [calendar.User.Email]. Once verified, it receives
// the user's invitations.
type Address struct {
	// Text is in lower case.
	Text    string
	Created time.Time
	// Verified is zero until the address is verified.
	Verified time.Time
}

// maxAddresses limits a user's additional addresses.
const maxAddresses = 10

// AddressStore is the part of a [Store] that keeps mail addresses.
type AddressStore interface {
	// Addresses returns a user's additional addresses, in order.
	Addresses(ctx context.Context, user calendar.UserID) ([]Address, error)
	// InsertAddress adds an address. Exists when the user already has it.
	InsertAddress(ctx context.Context, user calendar.UserID, a Address) error
	// VerifyAddress marks an address as verified. NotFound when the user has not added it; Exists when it belongs to
	// another user.
	VerifyAddress(ctx context.Context, user calendar.UserID, address string, at time.Time) error
	// DropAddress removes an address. NotFound when the user does not have it.
	DropAddress(ctx context.Context, user calendar.UserID, address string) error
	// SwapAddress makes a verified address the main one. The former main address, if any, becomes a verified additional
	// one. NotFound when the user does not have the address.
	SwapAddress(ctx context.Context, user calendar.UserID, address string, at time.Time) error
	// AddressHolder returns the first user by name, other than the given one, who has an address in lower case: as
	// main or as additional one, verified or not. NotFound when there is none.
	AddressHolder(ctx context.Context, address string, but calendar.UserID) (calendar.User, error)
	// UsersAt is [calendar.Store.UsersAt].
	UsersAt(ctx context.Context, mails, names []string) ([]calendar.UserAt, error)
}

// stored returns a main mail address as it is stored. Letters beyond ASCII are in lower case: databases fold only
// ASCII, and look addresses up in lower case.
func stored(address string) string {
	return strings.Map(func(r rune) rune {
		if r <= unicode.MaxASCII {
			return r
		}
		return unicode.ToLower(r)
	}, address)
}

func isAddress(text string) bool { return text != "" && validateEmail(text) == nil }

// sameAddress reports whether two mail addresses find the same user. [strings.EqualFold] equates more of them.
func sameAddress(a, b string) bool {
	a, b = strings.ToLower(a), strings.ToLower(b)
	return a == b
}

// Addresses returns a user's additional mail addresses.
func (s *Directory) Addresses(ctx context.Context, u calendar.User) ([]Address, error) {
	all, err := s.store.Addresses(ctx, u.ID)
	return all, during("listing mail addresses", err)
}

// AddAddress adds an unverified mail address.
func (s *Directory) AddAddress(ctx context.Context, u calendar.User, text string) error {
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
	if sameAddress(text, u.Email) {
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

// VerifyAddress marks an address as the user's own, and makes it the main one if there is none. The caller has checked
// that it is theirs.
func (s *Directory) VerifyAddress(ctx context.Context, u calendar.User, text string) error {
	err := s.store.VerifyAddress(ctx, u.ID, strings.ToLower(text), s.seconds())
	if err == nil && u.Email == "" {
		return s.MainAddress(ctx, u, text)
	}
	err = reworded(err, calendar.Exists, "%q is another user's", shortened(text, maxTitle))
	return during("verifying the address", err)
}

// DropAddress removes a user's additional address.
func (s *Directory) DropAddress(ctx context.Context, u calendar.User, text string) error {
	return during("removing the address", s.store.DropAddress(ctx, u.ID, strings.ToLower(text)))
}

// MainAddress makes a verified address the user's main one, which invitations name.
func (s *Directory) MainAddress(ctx context.Context, u calendar.User, text string) error {
	return during("choosing the main address", s.store.SwapAddress(ctx, u.ID, strings.ToLower(text), s.seconds()))
}

// CheckAddress refuses a main mail address that another user has, verified or not: an address that two users have
// belongs to neither. A user who has such an address already keeps it.
func (s *Directory) CheckAddress(ctx context.Context, u calendar.User, text string) error {
	if text == "" || sameAddress(text, u.Email) {
		return nil
	}
	holder, err := s.store.AddressHolder(ctx, strings.ToLower(text), u.ID)
	switch {
	case err == nil && holder.Name == u.Name: // a new user, whose name is taken as well
		return nil
	case err == nil:
		return ErrAddressHeld(text, holder.Name)
	case calendar.ReasonOf(err) == calendar.NotFound:
		return nil
	}
	return during("looking up the address", err)
}

// ErrAddressHeld is the error for a main mail address that another user has.
func ErrAddressHeld(address, holder string) error {
	return calendar.Errorf(calendar.Exists, "", "%q is the mail address of the user %s", shortened(address, maxTitle),
		holder).Advising("two users with one address would both get no invitations; enter another address, or none")
}
