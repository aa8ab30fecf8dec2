package auth

import (
	"context"
	"net/netip"
	"slices"
	"strings"

	"caldav-mcp-server/calendar"
)

// AskForReset pays for one request for a new password, by the name that a stranger typed and by their network. The
// error is a [*ThrottledError], the same whether the name exists or not.
func (s *SignInFlow) AskForReset(typed string, from netip.Addr) error {
	if wait := s.resets.Take(from); wait > 0 {
		return &ThrottledError{RetryAfter: wait}
	}
	return s.verifier.throttle.takeReset(account(strings.ToLower(typed)))
}

// ResetLink returns a link for a user who has forgotten the password. typed is the name or the
// main mail address. NotFound if the user does not exist, cannot sign in, has no mail address or signs in without a
// password, and if several users have the address.
func (s *Directory) ResetLink(ctx context.Context, typed string) (PasswordLink, Secret, error) {
	name, err := s.nameOf(ctx, typed)
	if err != nil {
		return PasswordLink{}, "", err
	}
	u, err := s.User(ctx, name)
	if reason := calendar.ReasonOf(err); reason == calendar.NotFound || reason == calendar.Invalid {
		return PasswordLink{}, "", errNoReset()
	}
	if err != nil {
		return PasswordLink{}, "", err
	}
	f, err := s.store.Factors(ctx, u.ID)
	if err != nil {
		return PasswordLink{}, "", during("looking up the user's factors", err)
	}
	if !u.GetsIn() || u.Email == "" || !f.Password {
		return PasswordLink{}, "", errNoReset()
	}
	return s.CreatePasswordLink(ctx, u.Name, Reset)
}

// nameOf returns the name of the user that a person means on the sign-in page: the text itself, or the name of the only
// user with this main mail address.
func (s *Directory) nameOf(ctx context.Context, typed string) (string, error) {
	if !strings.Contains(typed, "@") {
		return typed, nil
	}
	all, err := s.UserNames(ctx)
	if err != nil || slices.ContainsFunc(all, func(u calendar.User) bool { return strings.EqualFold(u.Name, typed) }) {
		return typed, err
	}
	all = slices.DeleteFunc(all, func(u calendar.User) bool { return !strings.EqualFold(u.Email, typed) })
	if len(all) != 1 {
		return typed, nil
	}
	return all[0].Name, nil
}

func errNoReset() error {
	return calendar.Errorf(calendar.NotFound, "", "this user gets no link to choose a password")
}
