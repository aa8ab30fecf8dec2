package oidc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

// Claim is a claim about a person, and the value that it must have, or contain if it is a list.
type Claim struct{ Name, Value string }

// ErrNotAllowed means that the person lacks the required claim.
var ErrNotAllowed = errors.New("the person lacks the required claim")

// claims are the claims about a person, of the ID token or the userinfo endpoint.
type claims map[string]any

// values returns the values of a claim as texts. The name of a nested claim has dots, such as realm_access.roles.
func (c claims) values(name string) []string {
	value, ok := c[name]
	if !ok {
		outer, inner, nested := strings.Cut(name, ".")
		if object, is := c[outer].(map[string]any); nested && is {
			return claims(object).values(inner)
		}
		return nil
	}
	list, is := value.([]any)
	if !is {
		list = []any{value}
	}
	var texts []string
	for _, one := range list {
		switch one := one.(type) {
		case string:
			texts = append(texts, one)
		case bool, json.Number, float64:
			texts = append(texts, fmt.Sprint(one))
		}
	}
	return texts
}

// needed returns the names of the claims that the settings ask for.
func (c Config) needed() []string {
	var names []string
	if c.Require.Name != "" {
		names = append(names, c.Require.Name)
	}
	if c.GroupsClaim != "" {
		names = append(names, c.GroupsClaim)
	}
	return names
}

// claimsOf returns the claims of an ID token. If a needed claim is not among them, it also asks the userinfo endpoint:
// some providers have groups only there.
func (p *Provider) claimsOf(
	ctx context.Context, found *oidc.Provider, t *oidc.IDToken, tokens *oauth2.Token,
) (claims, error) {
	var all claims
	if err := t.Claims(&all); err != nil {
		return nil, refused("%w", err)
	}
	missing := false
	for _, name := range p.config.needed() {
		missing = missing || all.values(name) == nil
	}
	if !missing || found.UserInfoEndpoint() == "" {
		return all, nil
	}
	info, err := found.UserInfo(ctx, oauth2.StaticTokenSource(tokens))
	if err != nil {
		return nil, &AwayError{err}
	}
	// OpenID Connect Core §5.3.2: the subject must be the same, or the answer is about another person.
	if info.Subject != t.Subject {
		return nil, refused("the userinfo endpoint tells of another subject")
	}
	var more claims
	if err := info.Claims(&more); err != nil {
		return nil, refused("%w", err)
	}
	maps.Copy(more, all) // the signed token decides
	return more, nil
}
