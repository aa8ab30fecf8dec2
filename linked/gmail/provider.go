// Package gmail reads the mail of Gmail accounts (Gmail API v1). It uses no other data of the account.
package gmail

import (
	"context"
	"net/http"
	"time"

	"caldav-mcp-server/calendar/mirror"
	"caldav-mcp-server/linked/rest"
	"caldav-mcp-server/linked/token"
)

// API is the base address of Google's API.
const API = "https://gmail.googleapis.com/gmail/v1"

// Scope is the only requested scope: read access.
const Scope = "https://www.googleapis.com/auth/gmail.readonly"

// ended is the explanation for an owner whose grant has expired.
const ended = "If this happens every seven days, the app at Google is in \"Testing\": the administrator of this " +
	"server has to publish it " +
	"(Google Auth Platform, Audience, Publish app). Then access lasts. Access to mail also ends when the account's " +
	"password is " +
	"changed, when it is unused for six months, or when it is revoked."

// An account is checked regularly, so that its owner learns when the grant has expired, and so that it does not expire
// for lack of use.
const (
	every = 3 * 24 * time.Hour
	least = time.Hour
)

// Client returns this server's OAuth client at Google, for reading mail.
func Client(id, secret string, ask *http.Client, now func() time.Time) *token.Client {
	return token.Google(id, secret, ended, []string{Scope}, ask, now)
}

// Provider serves Gmail accounts, with the API at the given address.
func Provider(client *token.Client, api string) mirror.Provider {
	return mirror.Provider{
		Title: "Gmail", Every: every, Least: least, Mail: true,
		Address: func(s mirror.Secret) string { return s.Username },
		Open:    client.Opens(func(access token.Access) mirror.Source { return Open(api, client.HTTP, access) }),
	}
}

// Account is the mail of one account.
type Account struct{ client rest.Client }

// Open opens an account with a source of access tokens.
func Open(base string, ask *http.Client, access token.Access) *Account {
	return &Account{rest.Google(base, ask, access)}
}

// Whose returns the account's address.
func (a *Account) Whose(ctx context.Context) (string, error) {
	var profile struct {
		Address string `json:"emailAddress"`
	}
	err := a.get(ctx, smallAnswer, "/users/me/profile", nil, &profile)
	return header(profile.Address), err
}

// Calendars implements [mirror.Source]. There are none; the call only checks that the grant is still valid.
func (a *Account) Calendars(ctx context.Context) ([]mirror.Remote, error) {
	_, err := a.Whose(ctx)
	return nil, err
}

// Changes implements [mirror.Source].
func (*Account) Changes(context.Context, string, string) (mirror.Changes, error) {
	return mirror.Changes{}, mirror.ErrGone
}

// Put implements [mirror.Source]: mail is read-only.
func (*Account) Put(context.Context, string, mirror.Object) (mirror.Object, error) {
	return mirror.Object{}, mirror.ErrGone
}

// Delete implements [mirror.Source].
func (*Account) Delete(context.Context, string, mirror.Object) error { return mirror.ErrGone }
