package admin

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/cmd/caldav-mcp-server/app"
	"caldav-mcp-server/cmd/caldav-mcp-server/command"
	"caldav-mcp-server/cmd/caldav-mcp-server/console"
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
	Quota       quotaJSON       `json:"quota"`
	Usage       *usageJSON      `json:"usage,omitempty"`
}

// usageJSON is the usage of a user's own calendars.
type usageJSON struct {
	Calendars int64 `json:"calendars"`
	Objects   int64 `json:"objects"`
	Bytes     int64 `json:"bytes"`
}

func userJSON(u calendar.User) listedUser {
	return listedUser{
		u.ID, u.Name, u.DisplayName, u.Email, u.Timezone, console.JSONTime(u.Created), u.Admin, u.Disabled,
		asQuotaJSON(u.Quota), nil,
	}
}

// userUsed is a user with their usage.
type userUsed struct {
	calendar.User
	usage calendar.Usage
}

func (u userUsed) json() listedUser {
	listed := userJSON(u.User)
	listed.Usage = new(usageJSON(u.usage))
	return listed
}

func usersUsed(ctx context.Context, h *app.App) ([]userUsed, error) {
	users, err := h.Auth.Users(ctx)
	if err != nil {
		return nil, err
	}
	users = slices.DeleteFunc(users, func(u calendar.User) bool { return u.Room.Bookable() }) // list-rooms has them
	usages, err := h.Store.Usages(ctx)
	if err != nil {
		return nil, fmt.Errorf("counting users' objects: %w", err)
	}
	return console.Each(users, func(u calendar.User) userUsed { return userUsed{u, usages[u.ID]} }), nil
}

// ListUsersCommand is the command list-users.
func ListUsersCommand() command.Command {
	return command.Listing[userUsed, listedUser]{
		Command: command.Command{Name: "list-users", Summary: "list users"},
		Find:    func(ctx context.Context, h *app.App) ([]userUsed, error) { return usersUsed(ctx, h) },
		JSON:    userUsed.json,
		Heads:   []string{"NAME", "DISPLAY NAME", "EMAIL", "TIMEZONE", "ROLE", "CREATED", "OBJECTS", "SIZE"},
		Row: func(u userUsed, _ time.Time) []string {
			return []string{
				u.Name, u.DisplayName, u.Email, u.Timezone, roleOf(u.User), console.ShownTime(u.Created),
				strconv.FormatInt(u.usage.Objects, 10), calendar.SizeText(u.usage.Bytes),
			}
		},
	}.AsCommand()
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
