// Package token keeps the key of an account that was linked by OAuth 2: the address at which its owner agrees, what comes back
// from there, and an access token that is renewed before it ends.
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

// early is how long before its end an access token is renewed.
const early = 5 * time.Minute

// Client is this server, as it is known at a provider.
type Client struct {
	ID, Secret string
	// AuthURL is where people agree, TokenURL where codes and keys become tokens.
	AuthURL, TokenURL string
	Scopes            []string
	// Ask are further parameters of AuthURL.
	Ask map[string]string
	// Ended is what an owner is told whose key is good no more, beside that they have to sign in again.
	Ended string
	HTTP  *http.Client
	Now   func() time.Time
}

// Token is what is kept of an account.
type Token struct {
	Access  string    `json:"access,omitempty"`
	Refresh string    `json:"refresh"`
	Expires time.Time `json:"expires,omitzero"`
	// Scopes are those that the owner has agreed to, parted by spaces.
	Scopes string `json:"scopes,omitempty"`
}

// Address is where the owner of an account agrees. The verifier stays here until they come back (PKCE, RFC 7636).
func (c *Client) Address(redirect, state, verifier string) string {
	options := []oauth2.AuthCodeOption{oauth2.S256ChallengeOption(verifier)}
	for name, value := range c.Ask {
		options = append(options, oauth2.SetAuthURLParam(name, value))
	}
	return c.config(redirect).AuthCodeURL(state, options...)
}

// Verifier makes a verifier.
func Verifier() string { return oauth2.GenerateVerifier() }

func (c *Client) config(redirect string) *oauth2.Config {
	return &oauth2.Config{
		ClientID: c.ID, ClientSecret: c.Secret, RedirectURL: redirect, Scopes: c.Scopes,
		Endpoint: oauth2.Endpoint{AuthURL: c.AuthURL, TokenURL: c.TokenURL, AuthStyle: oauth2.AuthStyleInParams},
	}
}

// Exchange makes a token of the code that an owner came back with.
func (c *Client) Exchange(ctx context.Context, redirect, code, verifier string) (Token, error) {
	got, err := c.config(redirect).Exchange(c.with(ctx), code, oauth2.VerifierOption(verifier))
	if err != nil {
		return Token{}, c.told(err)
	}
	t := read(got)
	if t.Refresh == "" {
		return t, mirror.Refusef("The account was not linked for good: no key came back that lasts. Link it once more, and agree to all that is asked.")
	}
	for _, scope := range c.Scopes {
		if t.Scopes != "" && !granted(t.Scopes, scope) {
			return t, mirror.Refusef("The account was linked without leave to do what is needed (%s). Link it once more, and leave all boxes ticked.", scope)
		}
	}
	return t, nil
}

// granted tells whether a scope is among those that were granted. Microsoft names them whole, or by their last part alone, and tells
// nothing of offline_access.
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

// told says an error of a provider in the mirror's words. What it answered is not told: it may hold what was sent.
func (c *Client) told(err error) error {
	answer, is := errors.AsType[*oauth2.RetrieveError](err)
	switch {
	case !is:
		return &mirror.Later{Cause: errors.New("the token endpoint did not answer"), Unknown: true}
	case answer.ErrorCode == "invalid_grant":
		return fmt.Errorf("%w. %s", mirror.ErrSignIn, c.Ended)
	case answer.ErrorCode == "invalid_client" || answer.ErrorCode == "unauthorized_client":
		return &mirror.Later{After: time.Hour, Why: "the provider does not know this server any more: its client id or secret is wrong", Cause: errors.New(answer.ErrorCode)}
	case answer.ErrorCode != "" && answer.Response.StatusCode < http.StatusInternalServerError:
		return fmt.Errorf("%w (%.60s)", mirror.ErrSignIn, answer.ErrorCode)
	default:
		return &mirror.Later{Cause: fmt.Errorf("the token endpoint answered %d", answer.Response.StatusCode)}
	}
}
