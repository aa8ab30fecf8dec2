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

// ResetLink returns a link for a user who has forgotten the password, or who was invited and has lost the invitation:
// then it is another invitation, also when the first has expired, but not when an administrator cancelled it. typed is
// the name or a mail address. NotFound if the user does not exist, cannot sign in, has no mail address or signs
// in without a password, and if several users have the address.
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
	kind := f.PasswordLinkKind()
	if kind == Invitation {
		all, err := s.store.WaitingLinks(ctx)
		if err != nil {
			return PasswordLink{}, "", during("listing links", err)
		}
		if !slices.ContainsFunc(all, func(v PasswordLink) bool { return v.User.ID == u.ID && v.Kind == kind }) {
			return PasswordLink{}, "", errNoReset()
		}
	}
	if !u.GetsIn() || u.Email == "" || !f.Password && kind == Reset {
		return PasswordLink{}, "", errNoReset()
	}
	return s.CreatePasswordLink(ctx, u.Name, kind)
}

// nameOf returns the name of the user that a person means on the sign-in page: the text itself, or the name of the only
// user with this mail address. It finds the same user as an invitation to the address.
func (s *Directory) nameOf(ctx context.Context, typed string) (string, error) {
	if !isAddress(typed) {
		return typed, nil
	}
	typed = strings.ToLower(typed)
	found, err := s.store.UsersAt(ctx, []string{typed}, []string{typed})
	named := func(u calendar.UserAt) bool { return u.Name == typed }
	if err != nil || len(found) != 1 || slices.ContainsFunc(found, named) {
		return typed, during("looking up the mail address", err)
	}
	return found[0].Name, nil
}

func errNoReset() error {
	return calendar.Errorf(calendar.NotFound, "", "this user gets no link to choose a password")
}
