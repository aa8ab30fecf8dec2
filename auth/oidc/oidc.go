// Package oidc asks another service for somebody's identity (OpenID Connect Core 1.0, the code flow with PKCE). It keeps
// no state: the caller keeps what must come back with the browser.
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

// patience is how long the other service may take for one answer.
const patience = 10 * time.Second

const (
	// askers is how many browsers may make us ask the service at once.
	askers = 16
	// askAgain is how long a service that did not answer is not asked again.
	askAgain = 10 * time.Second
)

// Config is what the administrator has agreed with the other service.
type Config struct {
	// Issuer is the service's name for itself, an address.
	Issuer                 string
	ClientID, ClientSecret string
	Now                    func() time.Time
}

// Provider is the other service. What it says of itself is asked for once, when it is first needed.
type Provider struct {
	config Config
	client *http.Client

	// places bounds how many browsers make us ask at once.
	places chan struct{}

	mu    sync.Mutex
	found *oidc.Provider
	// failed is what came of asking the last time, at.
	failed error
	at     time.Time
}

// New makes a Provider; it asks nothing yet.
func New(c Config) *Provider {
	return &Provider{config: c, client: &http.Client{Timeout: patience}, places: make(chan struct{}, askers)}
}

// Name is what people read: the service's host.
func (p *Provider) Name() string {
	u, err := url.Parse(p.config.Issuer)
	if err != nil || u.Host == "" {
		return p.config.Issuer
	}
	return u.Hostname()
}

// Person is somebody for whom the service vouches. Only issuer and subject identify one: the rest changes hands.
type Person struct {
	Issuer, Subject       string
	Username, Name, Email string
}

// AwayError says that the service could not be asked.
type AwayError struct{ err error }

// Error tells what happened, for the log.
func (a *AwayError) Error() string { return "the sign-in service does not answer: " + a.err.Error() }

func (a *AwayError) Unwrap() error { return a.err }

// ErrRefused says that the service vouches for nobody, or that the answer is not one to our question. What it wraps is
// for the log.
var ErrRefused = errors.New("the sign-in was not completed")

// question is what the browser brings back.
type question struct {
	State    string `json:"state"`
	Nonce    string `json:"nonce"`
	Verifier string `json:"verifier"`
	Redirect string `json:"redirect"`
	Since    int64  `json:"since"`

	Proof Proof `json:"proof"`
}

// Proof is what the service must do for its word to count.
type Proof int

// The proofs there are. Some services never say when they asked somebody: anyone who only confirms what is known already is
// believed, anyone who gets a new way in is not.
const (
	// Known lets the service vouch for a browser that it knows.
	Known Proof = iota
	// Asked wants the person to be asked anew, and refuses a service that says it did not do so.
	Asked
	// Said refuses a service that does not say so, too.
	Said
)

// ErrSilent says that the service does not tell when it asked the person, where it must.
var ErrSilent = errors.New("the service does not say when it asked the person (auth_time)")

// Ask returns where to send a browser, and what it must bring back.
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
		Scopes: []string{oidc.ScopeOpenID, "profile", "email"},
	}
}

// style is how we show our secret: as the service says it wants that (OpenID Connect Discovery 1.0 §3), and not by
// trying both ways, which would make two requests of each code that is none.
func (p *Provider) style(found *oidc.Provider) oauth2.AuthStyle {
	var says struct {
		Methods []string `json:"token_endpoint_auth_methods_supported"`
	}
	// What cannot be read says nothing.
	_ = found.Claims(&says)
	basic := len(says.Methods) == 0 || slices.Contains(says.Methods, "client_secret_basic")
	if p.config.ClientSecret == "" || !basic && slices.Contains(says.Methods, "client_secret_post") {
		return oauth2.AuthStyleInParams
	}
	return oauth2.AuthStyleInHeader
}

// Answer takes what the browser came back with.
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
	// RFC 9207: an answer of another service's.
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
	verified, err := found.VerifierContext(ctx, &oidc.Config{ClientID: p.config.ClientID, Now: p.config.Now}).Verify(ctx, raw)
	if err != nil {
		return Person{}, refused("%w", err)
	}
	if subtle.ConstantTimeCompare([]byte(verified.Nonce), []byte(q.Nonce)) != 1 {
		return Person{}, refused("the nonce is another one")
	}
	return q.person(verified)
}

// clocks is how far the service's clock may be behind ours.
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
	return Person{t.Issuer, t.Subject, claims.Username, claims.Name, claims.Email}, nil
}

// fresh refuses a person who was not asked anew. With max_age the service must say when it did (OpenID Connect Core
// §3.1.2.1). Some never do; to refuse these always would leave their people no way to prove anything, so that what we
// asked of the service (prompt=login) has to do where nothing is given away by it.
func (q question) fresh(asked int64) error {
	switch {
	case q.Proof == Said && asked == 0:
		return refused("%w", ErrSilent)
	case q.Proof != Known && asked != 0 && asked < q.Since-int64(clocks/time.Second):
		return refused("the person was not asked again")
	}
	return nil
}

// discover asks the service what it is like, until it has said so.
func (p *Provider) discover(ctx context.Context) (*oidc.Provider, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.found != nil {
		return p.found, nil
	}
	if since := p.config.Now().Sub(p.at); p.failed != nil && since >= 0 && since < askAgain {
		return nil, p.failed
	}
	// What is found asks for keys later on, with the context that it was found with.
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
