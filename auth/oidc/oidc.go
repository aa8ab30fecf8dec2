// Package oidc authenticates users through an OpenID provider (OpenID Connect Core 1.0, the code flow with PKCE). It is
// stateless: the caller keeps the state that must come back with the browser.
package oidc

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

// patience is the timeout of one request to the provider.
const patience = 10 * time.Second

const (
	// askers limits how many browsers can cause a request to the provider at once.
	askers = 16
	// askAgain is how long a provider that did not respond is left alone.
	askAgain = 10 * time.Second
)

// Config is the client's registration at the provider.
type Config struct {
	// Issuer is the provider's issuer identifier, an address.
	Issuer                 string
	ClientID, ClientSecret string
	// Scopes are requested in addition to openid, profile and email.
	Scopes []string
	// Require is a claim that a person needs to sign in; zero lets everyone in.
	Require Claim
	// GroupsClaim is the claim with the person's groups; "" if they do not matter.
	GroupsClaim string
	Now         func() time.Time
}

// Provider is an OpenID provider. Its metadata is fetched once, on first use.
type Provider struct {
	config Config
	client *http.Client

	// places limits concurrent requests on behalf of browsers.
	places chan struct{}

	mu    sync.Mutex
	found *oidc.Provider
	// failed is the error of the last failed discovery, at the time of its failure.
	failed error
	at     time.Time
}

// New makes a Provider; it sends no request yet.
func New(c Config) *Provider {
	return &Provider{config: c, client: &http.Client{Timeout: patience}, places: make(chan struct{}, askers)}
}

// Name returns the provider's host, for people to read.
func (p *Provider) Name() string {
	u, err := url.Parse(p.config.Issuer)
	if err != nil || u.Host == "" {
		return p.config.Issuer
	}
	return u.Hostname()
}

// Person is an authenticated end user. Only issuer and subject identify a person: the other claims can change hands.
type Person struct {
	Issuer, Subject       string
	Username, Name, Email string
	// Groups are the values of the groups claim.
	Groups []string
}

// AwayError means that the provider could not be reached.
type AwayError struct{ err error }

// Error describes the failure, for the log.
func (a *AwayError) Error() string { return "the sign-in service does not answer: " + a.err.Error() }

func (a *AwayError) Unwrap() error { return a.err }

// ErrRefused means that the provider refused, or that its answer does not match our request. The wrapped error is for
// the log.
var ErrRefused = errors.New("the sign-in was not completed")

// question is the state that the browser brings back.
type question struct {
	State    string `json:"state"`
	Nonce    string `json:"nonce"`
	Verifier string `json:"verifier"`
	Redirect string `json:"redirect"`
	Since    int64  `json:"since"`

	Proof Proof `json:"proof"`
}

// Proof is how strictly the provider must authenticate the user.
type Proof int

// The levels. Some providers never report auth_time. That is accepted if the user only confirms a known identity, but
// not if they gain a new way to sign in.
const (
	// Known accepts an existing session of the browser at the provider.
	Known Proof = iota
	// Asked requires re-authentication, and refuses a provider whose auth_time is too old.
	Asked
	// Said also refuses a provider that does not report auth_time.
	Said
)

// ErrSilent means that the provider does not report auth_time although it is required.
var ErrSilent = errors.New("the service does not say when it asked the person (auth_time)")

// Ask returns the address to send a browser to, and the state that it must bring back.
func (p *Provider) Ask(ctx context.Context, redirect string, proof Proof) (address string, asked []byte, err error) {
	found, err := p.discover(ctx)
	if err != nil {
		return "", nil, err
	}
	q := question{rand.Text(), rand.Text(), oauth2.GenerateVerifier(), redirect, p.config.Now().Unix(), proof}
	options := []oauth2.AuthCodeOption{oidc.Nonce(q.Nonce), oauth2.S256ChallengeOption(q.Verifier)}
	if proof != Known {
		options = append(options, oauth2.SetAuthURLParam("prompt", "login"), oauth2.SetAuthURLParam("max_age", "0"))
	}
	if asked, err = json.Marshal(q); err != nil {
		return "", nil, fmt.Errorf("writing JSON: %w", err)
	}
	return p.oauth(found, redirect).AuthCodeURL(q.State, options...), asked, nil
}

func (p *Provider) oauth(found *oidc.Provider, redirect string) *oauth2.Config {
	endpoint := found.Endpoint()
	endpoint.AuthStyle = p.style(found)
	return &oauth2.Config{
		ClientID: p.config.ClientID, ClientSecret: p.config.ClientSecret, Endpoint: endpoint, RedirectURL: redirect,
		Scopes: append([]string{oidc.ScopeOpenID, "profile", "email"}, p.config.Scopes...),
	}
}

// style returns how we send our client secret: as the provider's metadata asks (OpenID Connect Discovery 1.0 §3).
// Trying both ways would send each invalid code twice.
func (p *Provider) style(found *oidc.Provider) oauth2.AuthStyle {
	var says struct {
		Methods []string `json:"token_endpoint_auth_methods_supported"`
	}
	// Unreadable claims count as missing.
	_ = found.Claims(&says)
	basic := len(says.Methods) == 0 || slices.Contains(says.Methods, "client_secret_basic")
	if p.config.ClientSecret == "" || !basic && slices.Contains(says.Methods, "client_secret_post") {
		return oauth2.AuthStyleInParams
	}
	return oauth2.AuthStyleInHeader
}

// Answer verifies the provider's answer, which the browser brought back.
func (p *Provider) Answer(ctx context.Context, asked []byte, query url.Values) (Person, error) {
	var q question
	if err := json.Unmarshal(asked, &q); err != nil {
		return Person{}, refused("the question cannot be read")
	}
	if q.State == "" || subtle.ConstantTimeCompare([]byte(query.Get("state")), []byte(q.State)) != 1 {
		return Person{}, refused("the state is another one")
	}
	if fault := query.Get("error"); fault != "" {
		return Person{}, refused("it says %.100q", fault)
	}
	// RFC 9207: the answer of another provider.
	if issuer := query.Get("iss"); issuer != "" && issuer != p.config.Issuer {
		return Person{}, refused("it comes from %.200q", issuer)
	}
	found, err := p.discover(ctx)
	if err != nil {
		return Person{}, err
	}
	select {
	case p.places <- struct{}{}:
		defer func() { <-p.places }()
	default:
		return Person{}, &AwayError{errors.New("too many sign in at once")}
	}
	return p.exchange(oidc.ClientContext(ctx, p.client), found, q, query.Get("code"))
}

func (p *Provider) exchange(ctx context.Context, found *oidc.Provider, q question, code string) (Person, error) {
	tokens, err := p.oauth(found, q.Redirect).Exchange(ctx, code, oauth2.VerifierOption(q.Verifier))
	if err != nil {
		if _, said := errors.AsType[*oauth2.RetrieveError](err); said {
			return Person{}, refused("the code was not taken: %w", err)
		}
		return Person{}, &AwayError{err}
	}
	raw, ok := tokens.Extra("id_token").(string)
	if !ok {
		return Person{}, refused("there is no ID token")
	}
	verified, err := found.VerifierContext(ctx, &oidc.Config{ClientID: p.config.ClientID, Now: p.config.Now}).
		Verify(ctx, raw)
	if err != nil {
		return Person{}, refused("%w", err)
	}
	if subtle.ConstantTimeCompare([]byte(verified.Nonce), []byte(q.Nonce)) != 1 {
		return Person{}, refused("the nonce is another one")
	}
	all, err := p.claimsOf(ctx, found, verified, tokens)
	if err != nil {
		return Person{}, err
	}
	person, err := q.person(verified)
	if err != nil {
		return Person{}, err
	}
	if must := p.config.Require; must.Name != "" && !slices.Contains(all.values(must.Name), must.Value) {
		return Person{}, refused("%w", ErrNotAllowed)
	}
	if p.config.GroupsClaim != "" {
		person.Groups = all.values(p.config.GroupsClaim)
	}
	return person, nil
}

// clocks is how far the provider's clock may be slow.
const clocks = time.Minute

func (q question) person(t *oidc.IDToken) (Person, error) {
	var claims struct {
		Username string `json:"preferred_username"`
		Name     string `json:"name"`
		Email    string `json:"email"`
		Verified bool   `json:"email_verified"`
		AuthTime int64  `json:"auth_time"`
	}
	if err := t.Claims(&claims); err != nil {
		return Person{}, refused("%w", err)
	}
	if err := q.fresh(claims.AuthTime); err != nil {
		return Person{}, err
	}
	if t.Subject == "" {
		return Person{}, refused("there is no subject")
	}
	if !claims.Verified {
		claims.Email = ""
	}
	return Person{
		Issuer: t.Issuer, Subject: t.Subject, Username: claims.Username, Name: claims.Name, Email: claims.Email,
	}, nil
}

// fresh refuses a user whom the provider did not authenticate again. With max_age, it must report auth_time (OpenID
// Connect Core §3.1.2.1), but some providers never do. Always refusing these would leave their users unable to prove
// their identity. So prompt=login has to be enough, unless the proof is for a new way to sign in.
func (q question) fresh(asked int64) error {
	switch {
	case q.Proof == Said && asked == 0:
		return refused("%w", ErrSilent)
	case q.Proof != Known && asked != 0 && asked < q.Since-int64(clocks/time.Second):
		return refused("the person was not asked again")
	}
	return nil
}

// discover fetches the provider's metadata until it succeeds.
func (p *Provider) discover(ctx context.Context) (*oidc.Provider, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.found != nil {
		return p.found, nil
	}
	if since := p.config.Now().Sub(p.at); p.failed != nil && since >= 0 && since < askAgain {
		return nil, p.failed
	}
	// The provider later fetches keys with this context, so it must not end with the request.
	found, err := oidc.NewProvider(oidc.ClientContext(context.WithoutCancel(ctx), p.client), p.config.Issuer)
	if err != nil {
		p.failed, p.at = &AwayError{err}, p.config.Now()
		return nil, p.failed
	}
	p.found = found
	return found, nil
}

func refused(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrRefused, fmt.Errorf(format, args...))
}
