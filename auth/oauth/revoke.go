package oauth

import (
	"context"
	"fmt"
	"net/netip"
	"net/url"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
)

// Revoke serves the revocation endpoint (RFC 7009). A refresh token ends its grant. An access token ends alone, since
// clients return old ones. Another client's token counts as revoked.
func (s *Service) Revoke(ctx context.Context, from netip.Addr, who Identity, form url.Values) error {
	t, grant, err := s.presented(ctx, from, who, form)
	if err != nil || t.ID == "" {
		return err
	}
	if t.Use == ForAccess {
		err = s.store.DropTicket(ctx, t.ID)
	} else {
		err = s.store.RevokeToken(ctx, grant.ID, s.seconds())
	}
	if err != nil && !missing(err) {
		return fmt.Errorf("revoking: %w", err)
	}
	return nil
}

// Claims are the facts about a token (RFC 7662 §2.2).
type Claims struct {
	Active   bool            `json:"active"`
	Scope    string          `json:"scope,omitempty"`
	Client   auth.ClientID   `json:"client_id,omitempty"`
	Username string          `json:"username,omitempty"`
	Type     string          `json:"token_type,omitempty"`
	Subject  calendar.UserID `json:"sub,omitempty"`
	Issuer   string          `json:"iss,omitempty"`
	Audience auth.Resource   `json:"aud,omitempty"`
	Issued   int64           `json:"iat,omitempty"`
	Expires  int64           `json:"exp,omitempty"`
}

// Introspect serves the introspection endpoint. A client can inspect only its own tokens; any other token gets the same
// response as an invalid one.
func (s *Service) Introspect(ctx context.Context, site Site, from netip.Addr, who Identity,
	form url.Values,
) (Claims, error) {
	t, grant, err := s.presented(ctx, from, who, form)
	if err != nil {
		return Claims{}, err
	}
	now := s.now()
	if t.ID == "" || t.Disabled || !grant.Valid(now) || !now.Before(t.Expires) || !t.Used.IsZero() {
		return Claims{}, nil
	}
	c := Claims{
		Active: true, Scope: scopeText(t.Scopes & grant.Scopes), Client: grant.Client, Username: grant.UserName,
		Subject: grant.User,
		Issuer:  site.Issuer, Audience: grant.Resource, Issued: t.Created.Unix(), Expires: t.Expires.Unix(),
	}
	if t.Use == ForAccess {
		c.Type = string(auth.Bearer)
	}
	return c, nil
}

// presented returns the ticket of the token in a form if it belongs to the client; otherwise the ticket has no id. It
// ignores the token type hint.
func (s *Service) presented(ctx context.Context, from netip.Addr, who Identity,
	form url.Values,
) (Ticket, auth.Token, error) {
	if err := pay(s.tokens, from); err != nil {
		return Ticket{}, auth.Token{}, err
	}
	if err := once(form, "token", "token_type_hint", "client_id", "client_secret"); err != nil {
		return Ticket{}, auth.Token{}, err
	}
	c, err := s.identify(ctx, who)
	if err != nil {
		return Ticket{}, auth.Token{}, err
	}
	text, kind := form.Get("token"), refreshForm
	if _, _, ok := auth.AccessForm.Parse(text); ok {
		kind = auth.AccessForm
	}
	t, grant, err := s.ticket(ctx, kind, text)
	if e := FaultOf(err); e != nil && e.Code == InvalidGrant || err == nil && grant.Client != c.ID {
		return Ticket{}, auth.Token{}, nil
	}
	return t, grant, err
}
