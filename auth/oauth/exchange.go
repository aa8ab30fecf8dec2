package oauth

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"time"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
)

// refreshForm is the form of refresh tokens.
const refreshForm auth.Form = "mcpr_"

// Identity is a client's authentication at the token, revocation and introspection endpoints.
type Identity struct {
	ID     auth.ClientID
	Secret string
	// Basic is set if it came in the Authorization header.
	Basic bool
}

// Tokens is the response of the token endpoint (RFC 6749 §5.1).
type Tokens struct {
	Access  auth.Secret `json:"access_token"`
	Type    string      `json:"token_type"`
	Expires int64       `json:"expires_in"`
	Refresh auth.Secret `json:"refresh_token"`
	Scope   string      `json:"scope"`
}

// Exchange serves the token endpoint.
func (s *Service) Exchange(ctx context.Context, site Site, from netip.Addr, who Identity,
	form url.Values,
) (Tokens, error) {
	if err := pay(s.tokens, from); err != nil {
		return Tokens{}, err
	}
	if err := once(form, "grant_type", "code", "redirect_uri", "code_verifier", "refresh_token", "scope", "resource",
		"client_id", "client_secret"); err != nil {
		return Tokens{}, err
	}
	c, err := s.identify(ctx, who)
	if err != nil {
		return Tokens{}, err
	}
	switch form.Get("grant_type") {
	case "authorization_code":
		return s.exchangeCode(ctx, site, c, form)
	case "refresh_token":
		return s.renew(ctx, site, c, form)
	case "":
		return Tokens{}, fault(InvalidRequest, "grant_type is missing")
	}
	return Tokens{}, fault(UnsupportedGrant, "grant_type is authorization_code or refresh_token")
}

// identify authenticates the client.
func (s *Service) identify(ctx context.Context, who Identity) (Client, error) {
	c, err := s.known(ctx, who.ID)
	if err != nil {
		return Client{}, err
	}
	if c.Digest == "" {
		// The client has no secret, so ignore one that it sends: some send an empty one.
		return c, nil
	}
	_, digest, ok := secretForm.Parse(who.Secret)
	if !ok || !digest.Is(c.Digest) {
		return Client{}, fault(InvalidClient, "the client's secret is missing or wrong")
	}
	return c, nil
}

// verifierForm is the syntax of RFC 7636 §4.1.
var verifierForm = regexp.MustCompile(`^[A-Za-z0-9._~-]{43,128}$`)

func errCode() error {
	return fault(InvalidGrant, "the code is not good, or no longer: ask the user again")
}

// exchangeCode exchanges a code.
func (s *Service) exchangeCode(ctx context.Context, site Site, c Client, form url.Values) (Tokens, error) {
	offer, err := s.offer(ctx, form.Get("code"))
	if err != nil {
		return Tokens{}, err
	}
	if offer.Grant != "" {
		return Tokens{}, s.betrayed(ctx, offer.Grant, "a code was shown twice")
	}
	if err := offer.check(s.now(), site, c, form); err != nil {
		return Tokens{}, err
	}
	grant, pair, tokens := s.grant(offer)
	err = s.store.TakeUp(ctx, offer.ID, grant, pair)
	switch {
	case err != nil && calendar.ReasonOf(err) == calendar.Stale:
		// Another request with the same code was faster.
		return s.exchangeCode(ctx, site, c, form)
	case missing(err):
		return Tokens{}, errCode()
	case err != nil:
		return Tokens{}, fmt.Errorf("exchanging the code: %w", err)
	}
	return tokens, nil
}

// offer returns the offer of a code.
func (s *Service) offer(ctx context.Context, code string) (Offer, error) {
	if code == "" {
		return Offer{}, fault(InvalidRequest, "code is missing")
	}
	id, digest, ok := codeForm.Parse(code)
	if !ok {
		return Offer{}, errCode()
	}
	o, err := s.store.Offer(ctx, id)
	switch {
	case err != nil && !missing(err):
		return Offer{}, fmt.Errorf("looking up the code: %w", err)
	case err != nil || !digest.Is(o.Digest):
		return Offer{}, errCode()
	}
	return o, nil
}

// check compares the token request with the authorization request. The redirect URI may be missing: with PKCE, OAuth
// 2.1 does not need it.
func (o Offer) check(now time.Time, site Site, c Client, form url.Values) error {
	verifier := form.Get("code_verifier")
	sum := sha256.Sum256([]byte(verifier))
	proof := base64.RawURLEncoding.EncodeToString(sum[:])
	switch {
	case o.Client != c.ID:
		return errCode()
	case !now.Before(o.Expires):
		return errCode()
	case form.Has("redirect_uri") && form.Get("redirect_uri") != o.Redirect:
		return fault(InvalidGrant, "redirect_uri is not the one that the code was sent to")
	case verifier == "":
		return fault(InvalidRequest, "code_verifier is missing")
	case !verifierForm.MatchString(verifier) || subtle.ConstantTimeCompare([]byte(proof), []byte(o.Challenge)) != 1:
		return fault(InvalidGrant, "code_verifier does not fit the code")
	}
	if got, err := target(site, form.Get("resource")); err != nil || got != o.Resource {
		return fault(InvalidTarget, "the code is for %s", o.Resource)
	}
	return nil
}

// grant makes the grant of an offer.
func (s *Service) grant(o Offer) (auth.Token, Pair, Tokens) {
	id, _, _ := codeForm.New()
	now := s.seconds()
	grant := auth.Token{
		ID: calendar.TokenID(id), User: o.User, Name: o.Name, Scopes: o.Scopes, Calendars: slices.Clone(o.Calendars),
		Created: now, Expires: o.GrantExpires, Client: o.Client, Resource: o.Resource,
		ForOthers: o.ForOthers, Rights: o.Rights,
	}
	pair, tokens := newPair(grant, o.Scopes, "", now)
	return grant, pair, tokens
}

// newPair makes new tickets for a grant. parent is the refresh ticket that they replace; it is empty for the first
// pair.
func newPair(grant auth.Token, scopes calendar.Scope, parent auth.SecretID, now time.Time) (Pair, Tokens) {
	id, digest, access := auth.AccessForm.New()
	p := Pair{
		Access: Ticket{
			ID: id, Digest: digest, Grant: grant.ID, Use: ForAccess, Scopes: scopes, Parent: parent, Created: now,
			Expires: now.Add(accessAge),
		},
	}
	id, digest, refresh := refreshForm.New()
	p.Refresh = Ticket{
		ID: id, Digest: digest, Grant: grant.ID, Use: ForRefresh, Scopes: grant.Scopes, Parent: parent, Created: now,
		Expires: now.Add(refreshAge),
	}
	if end := grant.Expires; !end.IsZero() {
		p.Access.Expires, p.Refresh.Expires = earlier(p.Access.Expires, end), earlier(p.Refresh.Expires, end)
	}
	return p, Tokens{
		Access: access, Type: string(auth.Bearer), Expires: int64(p.Access.Expires.Sub(now) / time.Second),
		Refresh: refresh,
		Scope:   scopeText(scopes),
	}
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// betrayed revokes a grant because a secret of its client was used by two parties.
func (s *Service) betrayed(ctx context.Context, grant calendar.TokenID, why string) error {
	s.log.WarnContext(ctx, "a grant was ended", "grant", grant, "reason", why)
	if err := s.store.RevokeToken(ctx, grant, s.seconds()); err != nil && !missing(err) {
		return fmt.Errorf("ending the grant: %w", err)
	}
	return fault(InvalidGrant, "%s: the grant has been revoked, ask the user again", why)
}
