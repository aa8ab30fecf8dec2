package main

import (
	"context"
	"flag"
	"time"

	"caldav-mcp-server/calendar"
)

const listSharesDetails = `
STATUS is accepted; pending, while who was asked has not answered; or declined, when they did not want
the calendar or have given it up.
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
}

func shareLine(s calendar.Share, of calendar.Calendar) listedShare {
	return listedShare{of.OwnerName, of.Name, of.ID, s.User.Name, permissionName(s.Access), s.Status, jsonTime(s.Created)}
}

// sharesOf returns who was offered what of a user's calendars, of every user's when none is named.
func (h *house) sharesOf(ctx context.Context, user string) ([]listedShare, error) {
	all, err := h.listCalendars(ctx, user)
	if err != nil {
		return nil, err
	}
	list := []listedShare{}
	for _, cal := range all {
		if !cal.Shared {
			continue
		}
		owner := calendar.User{ID: cal.Owner, Name: cal.OwnerName}
		shares, err := h.calendars.Shares(ctx, caller(owner), cal.ID)
		if err != nil {
			return nil, err
		}
		for _, s := range shares {
			list = append(list, shareLine(s, cal))
		}
	}
	return list, nil
}

// sharesWith returns what a user was offered.
func (h *house) sharesWith(ctx context.Context, user string) ([]listedShare, error) {
	u, err := h.auth.User(ctx, user)
	if err != nil {
		return nil, err
	}
	offers, err := h.calendars.Offers(ctx, caller(u))
	list := []listedShare{}
	for _, o := range offers {
		list = append(list, shareLine(o.Share, o.From))
	}
	return list, err
}

// permissionName is the word for what a share gives.
func permissionName(access calendar.Access) string {
	for word, means := range permissions() {
		if means == access {
			return word
		}
	}
	return accessName(access)
}

func listSharesCommand() command {
	var user, with string
	var json bool
	return command{
		name: "list-shares", settings: storeSettings, summary: "list which calendars are shared with whom", details: listSharesDetails,
		flags: func(f *flag.FlagSet) {
			f.StringVar(&user, "user", "", "only those of calendars that the user `NAME` owns")
			f.StringVar(&with, "with", "", "instead, what others have offered the user `NAME`")
			asJSON(f, &json)
		},
		run: func(ctx context.Context, p *program, c config, _ []string) error {
			if user != "" && with != "" {
				return wrongUsage("list-shares takes one of --user and --with")
			}
			return p.withHouse(ctx, c, func(h *house) error {
				find, whose := h.sharesOf, user
				if with != "" {
					find, whose = h.sharesWith, with
				}
				list, err := find(ctx, whose)
				if err != nil {
					return err
				}
				if json {
					return p.printJSON(list)
				}
				return p.printTable([]string{"OWNER", "CALENDAR", "USER", "PERMISSION", "STATUS", "ID"}, each(list, func(s listedShare) []string {
					return []string{s.Owner, s.Calendar, s.User, s.Permission, string(s.Status), briefID(s.CalendarID)}
				}))
			})
		},
	}
}
