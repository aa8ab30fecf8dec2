package admin

import (
	"context"
	"flag"
	"fmt"
	"strconv"
	"strings"
	"time"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/cmd/caldav-mcp-server/app"
	"caldav-mcp-server/cmd/caldav-mcp-server/command"
	"caldav-mcp-server/cmd/caldav-mcp-server/console"
)

// listedToken is a token in JSON.
type listedToken struct {
	ID     calendar.TokenID `json:"id"`
	User   string           `json:"user"`
	Name   string           `json:"name"`
	Scopes []string         `json:"scopes"`
	// Calendars is null for a token for all calendars of the user.
	Calendars []calendar.CalendarID `json:"calendars"`
	// Right is the right in calendars that Rights does not name.
	Right  calendar.Right                         `json:"right"`
	Rights map[calendar.CalendarID]calendar.Right `json:"rights,omitempty"`
	// Tools is null for a token for all tools.
	Tools []calendar.ToolName `json:"tools"`
	// Delegated is set if the token may use calendars of users who made its user their delegate.
	Delegated bool `json:"delegated"`
	// Client is the assistant that the user authorized, or empty for a token created by hand.
	Client   auth.ClientID `json:"client,omitempty"`
	Created  *time.Time    `json:"created"`
	Expires  *time.Time    `json:"expires"`
	LastUsed *time.Time    `json:"last_used"`
	Revoked  *time.Time    `json:"revoked"`
}

func tokenJSON(t auth.Token) listedToken {
	return listedToken{
		t.ID, t.UserName, t.Name, auth.ScopeNames(t.Scopes), t.Calendars, t.Rights.Elsewhere(), t.Rights.Of,
		t.Tools, t.ForOthers, t.Client,
		console.JSONTime(t.Created), console.JSONTime(t.Expires), console.JSONTime(t.LastUsed),
		console.JSONTime(t.Revoked),
	}
}

// ListTokensCommand is the command list-tokens.
func ListTokensCommand() command.Command {
	var user string
	return command.Listing[auth.Token, listedToken]{
		Command: command.Command{
			Name: "list-tokens", Summary: "list access tokens, never their secrets",
			Flags: func(f *flag.FlagSet) { f.StringVar(&user, "user", "", "only tokens of the user `NAME`") },
		},
		Find:  func(ctx context.Context, h *app.App) ([]auth.Token, error) { return h.Auth.Tokens(ctx, user) },
		JSON:  tokenJSON,
		Heads: []string{"ID", "USER", "NAME", "SCOPES", "CALENDARS", "TOOLS", "LAST USED", "EXPIRES", "STATE"},
		Row:   tokenRow,
	}.AsCommand()
}

func tokenRow(t auth.Token, now time.Time) []string {
	reach := "all"
	if t.Calendars != nil {
		reach = strconv.Itoa(len(t.Calendars))
	}
	if less := lessText(t.Rights); less != "" {
		reach += " (" + less + ")"
	}
	return []string{
		console.BriefID(t.ID), t.UserName, t.Name, scopesText(t.Scopes), reach, toolsText(t.Tools),
		console.ShownTime(t.LastUsed), console.ShownTime(t.Expires), tokenState(t, now),
	}
}

// lessText describes the limits of a token by calendar, such as "2 propose"; "" if there are none.
func lessText(r calendar.Rights) string {
	var texts []string
	for _, one := range [...]calendar.Right{calendar.RightRead, calendar.RightPropose, calendar.RightWrite} {
		n := 0
		for _, right := range r.Of {
			if right == one && one != r.Elsewhere() {
				n++
			}
		}
		if n > 0 {
			texts = append(texts, fmt.Sprintf("%d %s", n, one))
		}
	}
	if r.Elsewhere() != calendar.RightWrite {
		texts = append(texts, "others "+string(r.Elsewhere()))
	}
	return strings.Join(texts, ", ")
}

// scopesText formats the scopes of a token for people.
func scopesText(scopes calendar.Scope) string {
	switch scopes {
	case calendar.ScopeEvery:
		return "all"
	case calendar.ScopeAll:
		return "all but mail"
	default:
		return auth.ScopeList(scopes)
	}
}

func tokenState(t auth.Token, now time.Time) string {
	switch {
	case !t.Revoked.IsZero():
		return "revoked"
	case !t.Valid(now):
		return "expired"
	}
	return "good"
}
