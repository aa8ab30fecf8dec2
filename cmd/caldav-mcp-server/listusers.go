package main

import (
	"context"
	"flag"
	"time"

	"caldav-mcp-server/calendar"
)

// listedUser is a user in JSON.
type listedUser struct {
	ID          calendar.UserID `json:"id"`
	Name        string          `json:"name"`
	DisplayName string          `json:"display_name"`
	Email       string          `json:"email"`
	Timezone    string          `json:"timezone"`
	Created     *time.Time      `json:"created"`
}

func userJSON(u calendar.User) listedUser {
	return listedUser{u.ID, u.Name, u.DisplayName, u.Email, u.Timezone, jsonTime(u.Created)}
}

func listUsersCommand() command {
	var json bool
	return command{
		name: "list-users", settings: storeSettings, summary: "list the users",
		flags: func(f *flag.FlagSet) { asJSON(f, &json) },
		run: func(ctx context.Context, p *program, c config, _ []string) error {
			return p.withHouse(ctx, c, func(h *house) error {
				users, err := h.auth.Users(ctx)
				if err != nil {
					return err
				}
				if json {
					return p.printJSON(each(users, userJSON))
				}
				return p.printTable([]string{"NAME", "DISPLAY NAME", "EMAIL", "TIMEZONE", "CREATED"}, each(users, userRow))
			})
		},
	}
}

func userRow(u calendar.User) []string {
	return []string{u.Name, u.DisplayName, u.Email, u.Timezone, shownTime(u.Created)}
}

// each turns every element into another; the result is never nil, so that JSON says [].
func each[A, B any](all []A, turn func(A) B) []B {
	turned := make([]B, len(all))
	for i, a := range all {
		turned[i] = turn(a)
	}
	return turned
}
