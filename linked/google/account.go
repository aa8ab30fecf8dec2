package google

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"caldav-mcp-server/calendar/mirror"
	"caldav-mcp-server/calendar/zone"
	"caldav-mcp-server/linked/rest"
	"caldav-mcp-server/linked/token"
)

// API is the base address of Google's API.
const API = "https://www.googleapis.com/calendar/v3"

// Scopes are the requested scopes: to list calendars, and to read and write events.
func Scopes() []string {
	return []string{
		"https://www.googleapis.com/auth/calendar.calendarlist.readonly",
		"https://www.googleapis.com/auth/calendar.events",
	}
}

// Ended is the explanation for an owner whose grant has expired.
const Ended = "If this happens every seven days, the app at Google is in \"Testing\": the administrator of this " +
	"server has to publish it " +
	"(Google Auth Platform, Audience, Publish app). Then access lasts. Access also ends when it is unused for six " +
	"months, or when it is revoked."

// Client returns this server's OAuth client at Google.
func Client(id, secret string, ask *http.Client, now func() time.Time) *token.Client {
	return token.Google(id, secret, Ended, Scopes(), ask, now)
}

// Account is a Google account as a source of mirrors.
type Account struct {
	client rest.Client
	zones  *zone.DB
}

// Open opens an account with a source of access tokens.
func Open(base string, ask *http.Client, zones *zone.DB, access token.Access) *Account {
	return &Account{zones: zones, client: rest.Google(base, ask, access)}
}

// listed is an entry of the calendar list.
type listed struct {
	ID          string     `json:"id"`
	Summary     string     `json:"summary"`
	Override    string     `json:"summaryOverride"`
	Description string     `json:"description"`
	Zone        string     `json:"timeZone"`
	Color       string     `json:"backgroundColor"`
	Role        string     `json:"accessRole"`
	Primary     bool       `json:"primary"`
	Deleted     bool       `json:"deleted"`
	Reminders   []Reminder `json:"defaultReminders"`
}

// groupDomain is the end of the ids of secondary calendars.
const groupDomain = "@group.calendar.google.com"

// organizer returns the address that organizes events created in the calendar: its id.
func (c listed) organizer() string {
	if strings.Contains(c.ID, "@") {
		return c.ID
	}
	return ""
}

// own reports whether that address is the account's. A calendar of another user may be shared with the role owner.
func (c listed) own() bool {
	return c.Primary || c.Role == "owner" && strings.HasSuffix(c.ID, groupDomain)
}

// Calendars implements mirror.Source.
func (a *Account) Calendars(ctx context.Context) ([]mirror.Remote, error) {
	var all []mirror.Remote
	query := url.Values{"maxResults": {"250"}}
	for {
		var page struct {
			Items []listed `json:"items"`
			Next  string   `json:"nextPageToken"`
		}
		if err := a.client.Do(ctx, rest.Request{Method: http.MethodGet, Path: "/users/me/calendarList", Query: query},
			&page); err != nil {
			return nil, rest.Gone(err)
		}
		for _, c := range page.Items {
			if c.Deleted || slices.ContainsFunc(all, func(r mirror.Remote) bool { return r.ID == c.ID }) {
				continue
			}
			name := c.Summary
			if c.Override != "" {
				name = c.Override
			}
			all = append(all, mirror.Remote{
				ID: c.ID, Name: name, Color: strings.ToUpper(c.Color), Zone: c.Zone, Description: c.Description,
				Writable: c.Role == "owner" || c.Role == "writer", Primary: c.Primary,
				Address: c.organizer(), Own: c.own(),
			})
		}
		if page.Next == "" {
			return all, nil
		}
		query.Set("pageToken", page.Next)
	}
}

// calendar reads the calendar properties that its events do not repeat.
func (a *Account) calendar(ctx context.Context, remote string) (Calendar, error) {
	var c listed
	path := "/users/me/calendarList/" + url.PathEscape(remote)
	if err := a.client.Do(ctx, rest.Request{Method: http.MethodGet, Path: path}, &c); err != nil {
		return Calendar{}, rest.Gone(err)
	}
	return Calendar{Zone: c.Zone, Reminders: c.Reminders, Self: owner(remote), Primary: c.Primary}, nil
}

// owner returns the address of a calendar's owner. Secondary and public calendars have none in their id.
func owner(remote string) string {
	if strings.HasSuffix(remote, "calendar.google.com") || !strings.Contains(remote, "@") {
		return ""
	}
	return remote
}
