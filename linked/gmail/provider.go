// Package gmail reads the mail of Gmail accounts, and nothing else of them (Gmail API v1).
package gmail

import (
	"context"
	"net/http"
	"time"

	"caldav-mcp-server/calendar/mirror"
	"caldav-mcp-server/linked/rest"
	"caldav-mcp-server/linked/token"
)

// API is the address at Google.
const API = "https://gmail.googleapis.com/gmail/v1"

// Scope is all that an owner is asked for: to read.
const Scope = "https://www.googleapis.com/auth/gmail.readonly"

// ended is what an owner reads whose key is good no more.
const ended = "If this comes back every seven days, the app at Google is in \"Testing\": whoever runs this server has to publish it " +
	"(Google Auth Platform, Audience, Publish app), after which a key lasts. A key for mail ends as well when the account's password is " +
	"changed, when it is unused for six months, or is taken back."

// An account is looked at every so often, so that its owner is told when its key has ended, and that it does not end for being unused.
const (
	every = 3 * 24 * time.Hour
	least = time.Hour
)

// Client is this server at Google, as one that reads mail.
func Client(id, secret string, ask *http.Client, now func() time.Time) *token.Client {
	return token.Google(id, secret, ended, []string{Scope}, ask, now)
}

// Provider is the one for Gmail accounts, whose API lies at an address.
func Provider(client *token.Client, api string) mirror.Provider {
	return mirror.Provider{
		Title: "Gmail", Every: every, Least: least, Mail: true,
		Address: func(s mirror.Secret) string { return s.Username },
		Open:    client.Opens(func(access token.Access) mirror.Source { return Open(api, client.HTTP, access) }),
	}
}

// Account is the mail of one account.
type Account struct{ client rest.Client }

// Open makes an account of what gives its access tokens.
func Open(base string, ask *http.Client, access token.Access) *Account {
	return &Account{rest.Google(base, ask, access)}
}

// Whose tells the address of the account.
func (a *Account) Whose(ctx context.Context) (string, error) {
	var profile struct {
		Address string `json:"emailAddress"`
	}
	err := a.get(ctx, smallAnswer, "/users/me/profile", nil, &profile)
	return header(profile.Address), err
}

// Calendars implements [mirror.Source]: there are none. What is asked is whether the account still lets us in.
func (a *Account) Calendars(ctx context.Context) ([]mirror.Remote, error) {
	_, err := a.Whose(ctx)
	return nil, err
}

// Changes implements [mirror.Source].
func (*Account) Changes(context.Context, string, string) (mirror.Changes, error) {
	return mirror.Changes{}, mirror.ErrGone
}

// Put implements [mirror.Source]: mail is read alone.
func (*Account) Put(context.Context, string, mirror.Object) (mirror.Object, error) {
	return mirror.Object{}, mirror.ErrGone
}

// Delete implements [mirror.Source].
func (*Account) Delete(context.Context, string, mirror.Object) error { return mirror.ErrGone }
