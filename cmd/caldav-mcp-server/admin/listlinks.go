package admin

import (
	"context"
	"flag"
	"time"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/cmd/caldav-mcp-server/app"
	"caldav-mcp-server/cmd/caldav-mcp-server/command"
	"caldav-mcp-server/cmd/caldav-mcp-server/console"
)

// listedLink is a link in JSON.
type listedLink struct {
	ID         auth.LinkID         `json:"id"`
	Owner      string              `json:"owner"`
	Calendar   string              `json:"calendar"`
	CalendarID calendar.CalendarID `json:"calendar_id"`
	Kind       string              `json:"kind"`
	Embed      bool                `json:"embed"`
	Name       string              `json:"name"`
	Created    *time.Time          `json:"created"`
	Expires    *time.Time          `json:"expires"`
	LastUsed   *time.Time          `json:"last_used"`
	Revoked    *time.Time          `json:"revoked"`
}

func linkJSON(l auth.Link) listedLink {
	return listedLink{
		l.ID, l.Owner.Name, l.CalendarName, l.Calendar, l.Access.Word(), l.Embed, l.Name,
		console.JSONTime(l.Created), console.JSONTime(l.Expires), console.JSONTime(l.LastUsed),
		console.JSONTime(l.Revoked),
	}
}

// ListLinksCommand is the command list-links.
func ListLinksCommand() command.Command {
	var user string
	return command.Listing[auth.Link, listedLink]{
		Command: command.Command{
			Name: "list-links", Summary: "list public links, never their secrets",
			Flags: func(f *flag.FlagSet) {
				f.StringVar(&user, "user", "", "only links to calendars of the user `NAME`")
			},
		},
		Find:  func(ctx context.Context, h *app.App) ([]auth.Link, error) { return h.Auth.Links(ctx, user) },
		JSON:  linkJSON,
		Heads: []string{"ID", "OWNER", "CALENDAR", "KIND", "NAME", "EXPIRES", "LAST USED", "STATE"},
		Row:   linkRow,
	}.AsCommand()
}

func linkRow(l auth.Link, now time.Time) []string {
	return []string{
		console.BriefID(l.ID), l.Owner.Name, l.CalendarName, l.Access.Word(), l.Name,
		console.ShownTime(l.Expires), console.ShownTime(l.LastUsed), linkState(l, now),
	}
}

func linkState(l auth.Link, now time.Time) string {
	switch {
	case !l.Revoked.IsZero():
		return "revoked"
	case l.Trashed:
		return "in the trash"
	case !l.Valid(now):
		return "expired"
	}
	return "good"
}
