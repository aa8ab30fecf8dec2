package mcp

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/mcp/wire"
)

// statusTools returns the tool that shows the current time and the connection's rights.
func (b toolbox) statusTools() []tool {
	return []tool{{
		name: "calendar_auth_status", title: "Who am I, what time is it",
		description: "Returns date, time, weekday, the user's zone, this token's permissions and linked accounts.",
		scope:       0, // every token may call it
		hints:       toolHints{readOnly: true},
		begin:       doing(b.status), gives: statusView{},
	}}
}

// statusView is the result of calendar_auth_status.
type statusView struct {
	User        shown                 `json:"user"`
	DisplayName shown                 `json:"display_name"`
	Email       shown                 `json:"email,omitempty"`
	TokenID     calendar.TokenID      `json:"token_id,omitempty"`
	TokenName   shown                 `json:"token_name,omitempty" doc:"As in list_changes."`
	Scopes      []string              `json:"scopes"`
	Calendars   []calendar.CalendarID `json:"calendar_ids,omitzero" doc:"The only ones it may use; all, if missing."`
	Expires     string                `json:"expires,omitempty"`
	Now         string                `json:"now"`
	Weekday     string                `json:"weekday"`
	zoneView
	linkedView
}

func (b toolbox) status(ctx context.Context, c *call, _ *nothing) (answer, error) {
	z := b.usualZone(c, calendar.Calendar{})
	now := b.now().In(z.Location())
	v := statusView{
		User: shown(c.caller.User.Name), DisplayName: shown(c.caller.User.Title()), Email: shown(c.caller.User.Email),
		TokenID: c.caller.Token, TokenName: shown(c.caller.Agent),
		Scopes: auth.ScopeNames(c.caller.Scopes), Calendars: c.caller.Calendars,
		Expires: z.momentOf(c.caller.Expires), Now: now.Format(time.RFC3339), Weekday: now.Weekday().String(),
		zoneView: z.view(),
	}
	var err error
	v.linkedView, err = b.linkedOf(ctx, c, z)
	return answer{v.prose(), v}, err
}

// prose writes the result as text.
func (v statusView) prose() prose {
	var b strings.Builder
	fmt.Fprintf(&b, "Connected as %s", v.User)
	if v.DisplayName != v.User {
		fmt.Fprintf(&b, " (%s)", wire.Quote(string(v.DisplayName)))
	}
	if v.Email != "" {
		fmt.Fprintf(&b, ", %s", v.Email)
	}
	which := "This connection"
	if v.TokenID != "" {
		which = strings.TrimSpace(fmt.Sprintf("The token %s %s", v.TokenID, quotedName(v.TokenName)))
	}
	fmt.Fprintf(&b, ". %s may %s", which, cmp.Or(strings.Join(v.Scopes, ", "), "neither read nor change calendars"))
	if v.Calendars != nil {
		fmt.Fprintf(&b, ", in only %d of the user's calendars", len(v.Calendars))
	}
	ends := "does not expire"
	if v.Expires != "" {
		ends = "expires " + v.Expires
	}
	fmt.Fprintf(&b, "; it %s.\nIt is %s, %s in %s", ends, v.Weekday, v.Now, v.Timezone)
	if v.TimezoneSource == zoneOfNobody {
		b.WriteString(", because the user has set no time zone: ask for it")
	}
	b.WriteString(".")
	b.WriteString(v.linkedView.prose())
	return prose(b.String())
}

// quotedName is the name of a token, if it has one.
func quotedName(name shown) string {
	if name == "" {
		return ""
	}
	return wire.Quote(string(name))
}
