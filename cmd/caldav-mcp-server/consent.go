package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
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

// agreedAt is the redirect URL after an owner has given consent. No server listens there: the owner pastes the URL, so
// that this also works on servers that no browser can reach.
const agreedAt = "http://localhost:5234"

const (
	// exchangeTime limits one request to a provider, agreeTime the time for an owner to consent.
	exchangeTime = time.Minute
	agreeTime    = 10 * time.Minute
	// answerMost limits the pasted text.
	answerMost = 16 << 10
)

// consent is a kind of account that is linked by its owner's consent (OAuth).
type consent struct {
	client *token.Client
	offer  mirror.Provider
	// whose asks the provider for the account's address.
	whose func(context.Context, mirror.Source) (string, error)
}

// consentsOf returns the kinds that the settings enable.
func consentsOf(p *console.Console, c settings.Config, zones *zone.DB) map[string]consent {
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
	all := map[string]consent{}
	if c.Linked.GoogleID != "" {
		client := google.Client(c.Linked.GoogleID, c.Linked.GoogleSecret, ask, p.Now)
		all["google"] = consent{client, google.Provider(client, google.API, zones), whose}
	}
	if c.Linked.GoogleID != "" && c.Linked.Gmail {
		client := gmail.Client(c.Linked.GoogleID, c.Linked.GoogleSecret, ask, p.Now)
		all["gmail"] = consent{client, gmail.Provider(client, gmail.API), whose}
	}
	if c.Linked.MicrosoftID != "" {
		client := microsoft.Client(c.Linked.MicrosoftID, c.Linked.MicrosoftSecret, c.Linked.MicrosoftTenantID, ask, p.Now)
		all["microsoft"] = consent{client, microsoft.Provider(client, microsoft.API, zones), whose}
	}
	return all
}

// linkByConsent links an account whose owner consents in a browser.
func linkByConsent(ctx context.Context, d *desk, o linkAccountOptions) error {
	kind, offered := consentsOf(d.Console, d.config, zone.NewDB())[o.provider]
	if !offered && o.provider == "gmail" {
		return console.WrongUsage("linking the mail of Gmail accounts is not enabled: GMAIL is not true, or GOOGLE_CLIENT_ID is not set (see docs/linked-providers.md)")
	}
	if !offered {
		return console.WrongUsage("linking such accounts is not enabled: %s_CLIENT_ID is not set (see docs/linked-providers.md)", strings.ToUpper(o.provider))
	}
	n, err := agree(ctx, d.Console, kind, o.provider)
	if err != nil {
		return err
	}
	n.Name, n.Every = o.name, o.every
	return linkNew(ctx, d, n)
}

// agree obtains an owner's consent, and returns the new account.
func agree(ctx context.Context, p *console.Console, kind consent, provider string) (mirror.NewAccount, error) {
	ctx, cancel := context.WithTimeout(ctx, agreeTime)
	defer cancel()
	state, verifier := token.Verifier(), token.Verifier()
	p.Say("Open this URL, sign in and agree:\n\n%s\n\nThen paste the URL of the page that the browser ends on: ", kind.Address(agreedAt, state, verifier))
	code, err := codeOf(p.Stdin, state)
	if err != nil {
		return mirror.NewAccount{}, err
	}
	p.Say("\n")
	if ctx.Err() != nil {
		return mirror.NewAccount{}, errors.New("that took longer than ten minutes; run the command again")
	}
	n, err := kind.Account(ctx, agreedAt, code, verifier)
	n.Provider = provider
	return n, err
}

// Title is the name of the kind for people.
func (k consent) Title() string { return k.offer.Title }

// Address is the provider's URL for the owner's consent. It redirects to redirect with the state and a code.
func (k consent) Address(redirect, state, verifier string) string {
	return k.client.Address(redirect, state, verifier)
}

// Account exchanges a code for the secret of a new account.
func (k consent) Account(ctx context.Context, redirect, code, verifier string) (mirror.NewAccount, error) {
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
	source, err := k.offer.Open(mirror.Opening{Secret: n.Secret, Keep: func(_ context.Context, next mirror.Secret) error {
		n.Secret = next
		return nil
	}})
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

// codeOf reads the URL that the browser was redirected to, and returns its code.
func codeOf(in io.Reader, state string) (code string, err error) {
	line, err := bufio.NewReader(io.LimitReader(in, answerMost)).ReadString('\n')
	if err != nil && line == "" {
		return "", errors.New("no URL was pasted, so nothing was linked")
	}
	at, err := url.Parse(strings.TrimSpace(line))
	if err != nil {
		return "", errors.New("that is not a URL")
	}
	q := at.Query()
	switch {
	case q.Get("error") == "access_denied":
		return "", errors.New("the owner did not agree, so nothing was linked")
	case q.Get("error") != "":
		return "", fmt.Errorf("the provider answered %s, so nothing was linked", console.Shown(q.Get("error")))
	case q.Get("code") == "":
		return "", fmt.Errorf("that URL contains no code; it should begin with %s/?code= or %s?state=", agreedAt, agreedAt)
	case q.Get("state") != state:
		return "", errors.New("that URL belongs to another attempt; open the URL above and paste the one that it leads to")
	}
	return q.Get("code"), nil
}
