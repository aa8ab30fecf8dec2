package main

import (
	"context"
	"strings"
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
	Admin       bool            `json:"admin"`
	Disabled    bool            `json:"disabled"`
}

func userJSON(u calendar.User) listedUser {
	return listedUser{u.ID, u.Name, u.DisplayName, u.Email, u.Timezone, jsonTime(u.Created), u.Admin, u.Disabled}
}

func listUsersCommand() command {
	return listing[calendar.User, listedUser]{
		command: command{name: "list-users", summary: "list the users"},
		find:    func(ctx context.Context, h *house) ([]calendar.User, error) { return h.auth.Users(ctx) },
		json:    userJSON,
		heads:   []string{"NAME", "DISPLAY NAME", "EMAIL", "TIMEZONE", "ROLE", "CREATED"},
		row: func(u calendar.User, _ time.Time) []string {
			return []string{u.Name, u.DisplayName, u.Email, u.Timezone, roleOf(u), shownTime(u.Created)}
		},
	}.asCommand()
}

func roleOf(u calendar.User) string {
	var words []string
	if u.Admin {
		words = append(words, "admin")
	}
	if u.Disabled {
		words = append(words, "disabled")
	}
	return strings.Join(words, ", ")
}

// each turns every element into another; the result is never nil, so that JSON says [].
func each[A, B any](all []A, turn func(A) B) []B {
	turned := make([]B, len(all))
	for i, a := range all {
		turned[i] = turn(a)
	}
	return turned
}
