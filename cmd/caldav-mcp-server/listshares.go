package main

import (
	"context"
	"flag"
	"time"

	"caldav-mcp-server/calendar"
)

// listedShare is a share in JSON.
type listedShare struct {
	Owner      string              `json:"owner"`
	Calendar   string              `json:"calendar"`
	CalendarID calendar.CalendarID `json:"calendar_id"`
	User       string              `json:"user"`
	Permission string              `json:"permission"`
	Created    *time.Time          `json:"created"`
}

// sharesOf returns who was given what of a user's calendars, of every user's when none is named.
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
			list = append(list, listedShare{cal.OwnerName, cal.Name, cal.ID, s.User.Name, permissionName(s.Access), jsonTime(s.Created)})
		}
	}
	return list, nil
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
	var user string
	var json bool
	return command{
		name: "list-shares", settings: storeSettings, summary: "list which calendars are shared with whom",
		flags: func(f *flag.FlagSet) {
			f.StringVar(&user, "user", "", "only those of calendars that the user `NAME` owns")
			asJSON(f, &json)
		},
		run: func(ctx context.Context, p *program, c config, _ []string) error {
			return p.withHouse(ctx, c, func(h *house) error {
				list, err := h.sharesOf(ctx, user)
				if err != nil {
					return err
				}
				if json {
					return p.printJSON(list)
				}
				return p.printTable([]string{"OWNER", "CALENDAR", "USER", "PERMISSION", "ID"}, each(list, func(s listedShare) []string {
					return []string{s.Owner, s.Calendar, s.User, s.Permission, string(s.CalendarID)}
				}))
			})
		},
	}
}
