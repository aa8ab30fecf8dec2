package app

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"caldav-mcp-server/calendar/mirror"
	"caldav-mcp-server/calendar/zone"
	"caldav-mcp-server/cmd/caldav-mcp-server/console"
	"caldav-mcp-server/cmd/caldav-mcp-server/settings"
	"caldav-mcp-server/linked/gmail"
	"caldav-mcp-server/linked/google"
	"caldav-mcp-server/linked/microsoft"
	"caldav-mcp-server/linked/token"
)

// AgreedAt is the redirect URL after an owner has given consent. No server listens there: the owner pastes the URL, so
// that this also works on servers that no browser can reach.
const AgreedAt = "http://localhost:5234"

// exchangeTime limits one request to a provider.
const exchangeTime = time.Minute

// Consent is a kind of account that is linked by its owner's consent (OAuth).
type Consent struct {
	client *token.Client
	Offer  mirror.Provider
	// whose asks the provider for the account's address.
	whose func(context.Context, mirror.Source) (string, error)
}

// ConsentsOf returns the kinds that the settings enable.
func ConsentsOf(p *console.Console, c settings.Config, zones *zone.DB) map[string]Consent {
	ask := &http.Client{
		Timeout: exchangeTime,
		// A redirect must not send a token to another address.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	whose := func(ctx context.Context, s mirror.Source) (string, error) {
		if a, known := s.(interface {
			Whose(ctx context.Context) (string, error)
		}); known {
			return a.Whose(ctx)
		}
		return "", nil
	}
	all := map[string]Consent{}
	if c.Linked.GoogleID != "" {
		client := google.Client(c.Linked.GoogleID, c.Linked.GoogleSecret, ask, p.Now)
		all["google"] = Consent{client, google.Provider(client, google.API, zones), whose}
	}
	if c.Linked.GoogleID != "" && c.Linked.Gmail {
		client := gmail.Client(c.Linked.GoogleID, c.Linked.GoogleSecret, ask, p.Now)
		all["gmail"] = Consent{client, gmail.Provider(client, gmail.API), whose}
	}
	if c.Linked.MicrosoftID != "" {
		client := microsoft.Client(c.Linked.MicrosoftID, c.Linked.MicrosoftSecret, c.Linked.MicrosoftTenantID, ask,
			p.Now)
		all["microsoft"] = Consent{client, microsoft.Provider(client, microsoft.API, zones), whose}
	}
	return all
}

// Title is the name of the kind for people.
func (k Consent) Title() string { return k.Offer.Title }

// Address is the provider's URL for the owner's consent. It redirects to redirect with the state and a code.
func (k Consent) Address(redirect, state, verifier string) string {
	return k.client.Address(redirect, state, verifier)
}

// Account exchanges a code for the secret of a new account.
func (k Consent) Account(ctx context.Context, redirect, code, verifier string) (mirror.NewAccount, error) {
	var n mirror.NewAccount
	key, err := k.client.Exchange(ctx, redirect, code, verifier)
	if err != nil {
		return n, err
	}
	raw, err := json.Marshal(key)
	if err != nil {
		return n, err
	}
	n.Scopes, n.Secret = key.Scopes, mirror.Secret{Token: raw}
	source, err := k.Offer.Open(mirror.Opening{
		Secret: n.Secret, Keep: func(_ context.Context, next mirror.Secret) error {
			n.Secret = next
			return nil
		},
	})
	if err != nil {
		return n, err
	}
	address, err := k.whose(ctx, source)
	if err != nil {
		return n, err
	}
	n.Subject, n.Secret.Username = address, address
	return n, nil
}
