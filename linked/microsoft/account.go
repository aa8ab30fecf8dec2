package microsoft

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"time"

	"caldav-mcp-server/calendar/mirror"
	"caldav-mcp-server/calendar/zone"
	"caldav-mcp-server/linked/rest"
	"caldav-mcp-server/linked/token"
)

// Microsoft's addresses.
const (
	API   = "https://graph.microsoft.com/v1.0"
	login = "https://login.microsoftonline.com/"
)

// Scopes are the requested scopes.
func Scopes() []string {
	return []string{
		"offline_access", "https://graph.microsoft.com/Calendars.ReadWrite", "https://graph.microsoft.com/User.Read",
	}
}

// Ended is the explanation for an owner whose grant has expired.
const Ended = "A key ends when it is unused for 90 days, when the password changes, when an administrator takes it " +
	"back, or when the app's secret has expired."

// Client returns this server's OAuth client at Microsoft. The tenant restricts the accounts that can be linked:
// "common" means all.
func Client(id, secret, tenant string, ask *http.Client, now func() time.Time) *token.Client {
	if tenant == "" {
		tenant = "common"
	}
	at := login + url.PathEscape(tenant) + "/oauth2/v2.0/"
	return &token.Client{
		ID: id, Secret: secret, AuthURL: at + "authorize", TokenURL: at + "token", Scopes: Scopes(), Ended: Ended,
		HTTP: ask, Now: now,
		Ask: map[string]string{"prompt": "select_account"},
	}
}

// Account is a Microsoft account as a source of mirrors.
type Account struct {
	client rest.Client
	zones  *zone.DB
	now    func() time.Time
}

// Open opens an account with a source of access tokens.
func Open(base string, ask *http.Client, zones *zone.DB, now func() time.Time, access token.Access) *Account {
	// Request ids that stay when an event moves, all times in UTC, bodies as text, and large pages.
	prefer := http.Header{"Prefer": {
		`IdType="ImmutableId"`, `outlook.timezone="UTC"`, `outlook.body-content-type="text"`, "odata.maxpagesize=200",
	}}
	busy := func(reason string) bool {
		return reason == "ApplicationThrottled" || reason == "ErrorMailboxStoreUnavailable"
	}
	return &Account{
		zones: zones, now: now,
		client: rest.Client{HTTP: ask, Base: base, Token: access, Read: problem, Busy: busy, Prefer: prefer},
	}
}

// problem parses a Graph error.
func problem(body []byte) (reason, message string) {
	var answer struct {
		Error struct {
			Code    string `json:"code"`
			Message string `json:"message"`
		} `json:"error"`
	}
	if json.Unmarshal(body, &answer) != nil {
		return "", ""
	}
	return answer.Error.Code, answer.Error.Message
}

// calendar is a calendar of an account.
type calendar struct {
	ID      string  `json:"id"`
	Name    string  `json:"name"`
	Color   string  `json:"hexColor"`
	CanEdit bool    `json:"canEdit"`
	Default bool    `json:"isDefaultCalendar"`
	Owner   Address `json:"owner"`
}

const calendars = "/me/calendars"

// Calendars implements mirror.Source.
func (a *Account) Calendars(ctx context.Context) ([]mirror.Remote, error) {
	var all []mirror.Remote
	found, _, err := list[calendar](ctx, a, calendars)
	self := ownerOf(found)
	for _, c := range found {
		all = append(all, mirror.Remote{
			ID: c.ID, Name: c.Name, Color: strings.ToUpper(c.Color), Writable: c.CanEdit, Primary: c.Default,
			Address: c.Owner.Address, Own: self != "" && strings.EqualFold(c.Owner.Address, self),
		})
	}
	return all, rest.Gone(err)
}

// ownerOf returns the account's address: the owner of its default calendar. Other users own calendars that they share
// with the account.
func ownerOf(all []calendar) string {
	for _, c := range all {
		if c.Default {
			return c.Owner.Address
		}
	}
	return ""
}

// calendar reads one of them.
func (a *Account) calendar(ctx context.Context, remote string) (calendar, error) {
	var c calendar
	err := a.client.Do(ctx, rest.Request{Method: http.MethodGet, Path: of(remote)}, &c)
	return c, err
}

func of(remote string) string { return calendars + "/" + url.PathEscape(remote) }

func eventPath(id string) string { return "/me/events/" + url.PathEscape(id) }
