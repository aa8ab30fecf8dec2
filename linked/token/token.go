// Package token manages the OAuth 2 grant of a linked account: the consent address, the exchange of the code, and an
// access token that is renewed before it expires.
package token

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"golang.org/x/oauth2"

	"caldav-mcp-server/calendar/mirror"
)

// early is how long before its expiry an access token is renewed.
const early = 5 * time.Minute

// Client is this server's OAuth client at a provider.
type Client struct {
	ID, Secret string
	// AuthURL is the authorization endpoint, TokenURL the token endpoint.
	AuthURL, TokenURL string
	Scopes            []string
	// Ask are further parameters of AuthURL.
	Ask map[string]string
	// Ended is added to the message that asks an owner with an expired grant to sign in again.
	Ended string
	HTTP  *http.Client
	Now   func() time.Time
}

// Token is the stored state of a grant.
type Token struct {
	Access  string    `json:"access,omitempty"`
	Refresh string    `json:"refresh"`
	Expires time.Time `json:"expires,omitzero"`
	// Scopes are the granted scopes, separated by blanks.
	Scopes string `json:"scopes,omitempty"`
}

// Address returns the consent page's address. The verifier stays here until the owner comes back (PKCE, RFC 7636).
func (c *Client) Address(redirect, state, verifier string) string {
	options := []oauth2.AuthCodeOption{oauth2.S256ChallengeOption(verifier)}
	for name, value := range c.Ask {
		options = append(options, oauth2.SetAuthURLParam(name, value))
	}
	return c.config(redirect).AuthCodeURL(state, options...)
}

// Verifier makes a PKCE verifier.
func Verifier() string { return oauth2.GenerateVerifier() }

func (c *Client) config(redirect string) *oauth2.Config {
	return &oauth2.Config{
		ClientID: c.ID, ClientSecret: c.Secret, RedirectURL: redirect, Scopes: c.Scopes,
		Endpoint: oauth2.Endpoint{AuthURL: c.AuthURL, TokenURL: c.TokenURL, AuthStyle: oauth2.AuthStyleInParams},
	}
}

// Exchange exchanges the code that an owner came back with.
func (c *Client) Exchange(ctx context.Context, redirect, code, verifier string) (Token, error) {
	got, err := c.config(redirect).Exchange(c.with(ctx), code, oauth2.VerifierOption(verifier))
	if err != nil {
		return Token{}, c.told(err)
	}
	t := read(got)
	if t.Refresh == "" {
		return t, mirror.Refusef("The provider granted no lasting access. Link the account again, and grant " +
			"everything that it asks for.")
	}
	for _, scope := range c.Scopes {
		if t.Scopes != "" && !granted(t.Scopes, scope) {
			return t, mirror.Refusef("The account lacks a permission (%s). Link it again, and leave all boxes "+
				"ticked.", scope)
		}
	}
	return t, nil
}

// granted reports whether a scope was granted. Microsoft returns scopes in full or only by their last part, and omits
// offline_access.
func granted(scopes, scope string) bool {
	if scope == "offline_access" || scope == "openid" {
		return true
	}
	for one := range strings.FieldsSeq(scopes) {
		one, scope := strings.ToLower(one), strings.ToLower(scope)
		if one == scope || strings.HasSuffix(one, "/"+scope) || strings.HasSuffix(scope, "/"+one) {
			return true
		}
	}
	return false
}

func read(t *oauth2.Token) Token {
	scopes, _ := t.Extra("scope").(string)
	return Token{Access: t.AccessToken, Refresh: t.RefreshToken, Expires: t.Expiry, Scopes: scopes}
}

func (c *Client) with(ctx context.Context) context.Context {
	return context.WithValue(ctx, oauth2.HTTPClient, c.HTTP)
}

// told converts a provider's error to the mirror's errors. It drops the response, which may repeat parts of the
// request.
func (c *Client) told(err error) error {
	answer, is := errors.AsType[*oauth2.RetrieveError](err)
	switch {
	case !is:
		return &mirror.Later{Cause: errors.New("the token endpoint did not answer"), Unknown: true}
	case answer.ErrorCode == "invalid_grant":
		return fmt.Errorf("%w. %s", mirror.ErrSignIn, c.Ended)
	case answer.ErrorCode == "invalid_client" || answer.ErrorCode == "unauthorized_client":
		return &mirror.Later{
			After: time.Hour, Why: "the provider does not know this server any more: its client id or secret is wrong",
			Cause: errors.New(answer.ErrorCode),
		}
	case answer.ErrorCode != "" && answer.Response.StatusCode < http.StatusInternalServerError:
		return fmt.Errorf("%w (%.60s)", mirror.ErrSignIn, answer.ErrorCode)
	default:
		return &mirror.Later{Cause: fmt.Errorf("the token endpoint answered %d", answer.Response.StatusCode)}
	}
}
