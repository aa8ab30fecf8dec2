package admin

import (
	"context"
	"flag"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/cmd/caldav-mcp-server/app"
	"caldav-mcp-server/cmd/caldav-mcp-server/command"
	"caldav-mcp-server/cmd/caldav-mcp-server/console"
)

const listSharesDetails = `
STATUS is accepted; pending, if the user has not responded yet; or declined, if the user did not want the calendar or
left it.
`

// listedShare is a share in JSON.
type listedShare struct {
	Owner      string               `json:"owner"`
	Calendar   string               `json:"calendar"`
	CalendarID calendar.CalendarID  `json:"calendar_id"`
	User       string               `json:"user"`
	Permission string               `json:"permission"`
	Status     calendar.ShareStatus `json:"status"`
	Created    *time.Time           `json:"created"`
	// MadeBy is the name of the token that shared it; "" for the owner.
	MadeBy string `json:"made_by"`
}

func shareLine(s calendar.Share, of calendar.Calendar) listedShare {
	return listedShare{
		of.OwnerName, of.Name, of.ID, s.User.Name, s.Access.Word(), s.Status, console.JSONTime(s.Created),
		s.Maker.Agent,
	}
}

// sharesOf returns the shares of a user's calendars, or of all users' calendars if user is "".
func sharesOf(ctx context.Context, h *app.App, user string) ([]listedShare, error) {
	all, err := h.ListCalendars(ctx, user)
	if err != nil {
		return nil, err
	}
	list := []listedShare{}
	for _, cal := range all {
		if !cal.Shared {
			continue
		}
		owner := calendar.User{ID: cal.Owner, Name: cal.OwnerName}
		shares, err := h.Calendars.Shares(ctx, app.Caller(owner), cal.ID)
		if err != nil {
			return nil, err
		}
		for _, s := range shares {
			list = append(list, shareLine(s, cal))
		}
	}
	return list, nil
}

// sharesWith returns the shares offered to a user.
func sharesWith(ctx context.Context, h *app.App, user string) ([]listedShare, error) {
	u, err := h.Auth.User(ctx, user)
	if err != nil {
		return nil, err
	}
	offers, err := h.Calendars.Offers(ctx, app.Caller(u))
	list := []listedShare{}
	for _, o := range offers {
		list = append(list, shareLine(o.Share, o.From))
	}
	return list, err
}

// ListSharesCommand is the command list-shares.
func ListSharesCommand() command.Command {
	var user, with string
	return command.Listing[listedShare, listedShare]{
		Command: command.Command{
			Name: "list-shares", Summary: "list shares of calendars", Details: listSharesDetails,
			Flags: func(f *flag.FlagSet) {
				f.StringVar(&user, "user", "", "only shares of calendars that the user `NAME` owns")
				f.StringVar(&with, "with", "", "instead, calendars offered to the user `NAME`")
			},
		},
		Find: func(ctx context.Context, h *app.App) ([]listedShare, error) {
			switch {
			case user != "" && with != "":
				return nil, console.WrongUsage("list-shares takes one of --user and --with")
			case with != "":
				return sharesWith(ctx, h, with)
			}
			return sharesOf(ctx, h, user)
		},
		JSON:  func(s listedShare) listedShare { return s },
		Heads: []string{"OWNER", "CALENDAR", "USER", "PERMISSION", "STATUS", "ID", "MADE BY"},
		Row: func(s listedShare, _ time.Time) []string {
			return []string{
				s.Owner, s.Calendar, s.User, s.Permission, string(s.Status), console.BriefID(s.CalendarID), s.MadeBy,
			}
		},
	}.AsCommand()
}
