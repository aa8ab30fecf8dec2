package microsoft

import (
	"context"
	"time"

	"caldav-mcp-server/calendar/mirror"
	"caldav-mcp-server/calendar/zone"
	"caldav-mcp-server/linked/rest"
	"caldav-mcp-server/linked/token"
)

const (
	// every is the polling interval: a poll without changes costs one request per calendar.
	every, least = 5 * time.Minute, time.Minute
)

// Provider serves Microsoft accounts, with Graph at the given address.
func Provider(client *token.Client, api string, zones *zone.DB) mirror.Provider {
	return mirror.Provider{
		Title: "Microsoft", Notifies: true, Every: every, Least: least,
		Address: func(s mirror.Secret) string { return s.Username },
		Open: client.Opens(func(access token.Access) mirror.Source {
			return Open(api, client.HTTP, zones, client.Now, access)
		}),
	}
}

// Whose returns the account's address.
func (a *Account) Whose(ctx context.Context) (string, error) {
	all, _, err := list[calendar](ctx, a, calendars)
	return ownerOf(all), rest.Gone(err)
}
