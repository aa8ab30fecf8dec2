package oauth

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
)

func errRefresh() error {
	return fault(InvalidGrant, "the refresh token is not good, or no longer: ask the user again")
}

// renew exchanges a refresh token for a new pair. A token that was exchanged before is in two hands, so a second use
// revokes the grant. An exception is a second use within the grace period: the first response may be lost, or two
// workers of the client have renewed at once. Only one of the resulting pairs can be renewed further.
func (s *Service) renew(ctx context.Context, site Site, c Client, form url.Values) (Tokens, error) {
	t, grant, err := s.ticket(ctx, refreshForm, form.Get("refresh_token"))
	if err != nil {
		return Tokens{}, err
	}
	now := s.seconds()
	switch {
	case grant.Client != c.ID, t.Disabled, !grant.Valid(now), !now.Before(t.Expires):
		return Tokens{}, errRefresh()
	case !t.Used.IsZero() && now.Sub(t.Used) > grace:
		return Tokens{}, s.betrayed(ctx, grant.ID, "a refresh token was shown again")
	case t.Rival:
		return Tokens{}, s.betrayed(ctx, grant.ID, "two tokens from the same renewal were both renewed")
	}
	if got, err := target(site, form.Get("resource")); err != nil || got != grant.Resource {
		return Tokens{}, fault(InvalidTarget, "the refresh token is for %s", grant.Resource)
	}
	scopes, err := narrowed(grant.Scopes, form.Get("scope"))
	if err != nil {
		return Tokens{}, err
	}
	pair, tokens := newPair(grant, scopes, t.ID, now)
	err = s.store.Renew(ctx, t, now, pair)
	switch {
	case err != nil && calendar.ReasonOf(err) == calendar.Stale:
		return s.renew(ctx, site, c, form)
	case missing(err):
		return Tokens{}, errRefresh()
	case err != nil:
		return Tokens{}, fmt.Errorf("renewing: %w", err)
	}
	return tokens, nil
}

// narrowed returns the scopes of the next access token; the client may request fewer than were granted (RFC 6749 §6).
func narrowed(granted calendar.Scope, list string) (calendar.Scope, error) {
	asked := scopesOf(list)
	switch {
	case asked == 0:
		return granted, nil
	case asked&^granted != 0:
		return 0, fault(InvalidScope, "the user has allowed %s: to get more, ask the user again", scopeText(granted))
	}
	return asked, nil
}

func scopeText(set calendar.Scope) string { return strings.Join(auth.ScopeNames(set), " ") }

// ticket returns the ticket of a token with its grant; InvalidGrant when there is none.
func (s *Service) ticket(ctx context.Context, f auth.Form, text string) (Ticket, auth.Token, error) {
	if text == "" {
		return Ticket{}, auth.Token{}, fault(InvalidRequest, "the token is missing")
	}
	id, digest, ok := f.Parse(text)
	if !ok {
		return Ticket{}, auth.Token{}, errRefresh()
	}
	t, grant, err := s.store.Ticket(ctx, id)
	switch {
	case err != nil && !missing(err):
		return Ticket{}, auth.Token{}, fmt.Errorf("looking up the token: %w", err)
	case err != nil || !digest.Is(t.Digest):
		return Ticket{}, auth.Token{}, errRefresh()
	}
	return t, grant, nil
}
