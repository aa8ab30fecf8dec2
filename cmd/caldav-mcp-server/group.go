package main

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
	"caldav-mcp-server/cmd/caldav-mcp-server/console"
	"caldav-mcp-server/cmd/caldav-mcp-server/settings"
)

const createGroupDetails = `
A group is a name to share calendars with. Its members get a shared calendar at once, including members who join later.
Group names and user names must differ. In apps and on the web pages, only members can share with a group; the command
share can do it for every user.
  caldav-mcp-server create-group staff --display-name "All of us"
  caldav-mcp-server add-members staff alice,bob
  caldav-mcp-server share --user alice --calendar Work --with staff
`

// listedGroup is a group in JSON.
type listedGroup struct {
	ID          calendar.UserID `json:"id"`
	Name        string          `json:"name"`
	DisplayName string          `json:"display_name"`
	Created     *time.Time      `json:"created"`
	Members     []string        `json:"members"`
}

func groupJSON(g auth.Group) listedGroup {
	return listedGroup{g.ID, g.Name, g.DisplayName, console.JSONTime(g.Created), memberNames(g)}
}

func memberNames(g auth.Group) []string {
	return console.Each(g.Members, func(u calendar.User) string { return u.Name })
}

func createGroupCommand() command {
	var title string
	return command{
		name: "create-group", operands: []string{"NAME"}, settings: settings.StoreGroup, json: true,
		summary: "create a group of users to share calendars with", details: createGroupDetails,
		flags: func(f *flag.FlagSet) {
			f.StringVar(&title, "display-name", "", "display `NAME`")
		},
		run: func(ctx context.Context, d *desk, operands []string) error {
			g, err := d.Auth.CreateGroup(ctx, operands[0], title)
			if err != nil {
				return err
			}
			return d.done(groupJSON(auth.Group{User: g}), "created the group %s\n", g.Name)
		},
	}
}

func listGroupsCommand() command {
	return listing[auth.Group, listedGroup]{
		command: command{name: "list-groups", summary: "list groups and their members"},
		find:    func(ctx context.Context, h *app.App) ([]auth.Group, error) { return h.Auth.Groups(ctx) },
		json:    groupJSON,
		heads:   []string{"NAME", "DISPLAY NAME", "COUNT", "MEMBERS", "CREATED"},
		row: func(g auth.Group, _ time.Time) []string {
			return []string{g.Name, g.DisplayName, strconv.Itoa(len(g.Members)), strings.Join(memberNames(g), " "), console.ShownTime(g.Created)}
		},
	}.asCommand()
}

// groupDone is the JSON output of the commands for a group's members.
type groupDone struct {
	Group string   `json:"group"`
	Users []string `json:"users"`
}

func addMembersCommand() command {
	return groupCommand("add-members", "add users to a group", `
The users get all calendars that are shared with the group. If one of them does not exist, none is added. Existing members
stay.
`, func(ctx context.Context, d *desk, group string, users []string) error {
		added, err := d.Auth.AddMembers(ctx, group, users)
		if err != nil {
			return err
		}
		return d.done(groupDone{group, console.Each(added, func(s string) string { return s })}, "added to the group %s: %d\n", group, len(added))
	})
}

func removeMembersCommand() command {
	return groupCommand("remove-members", "remove users from a group", `
They lose the calendars that they had only through the group, with their own settings for them. Direct shares stay.
`, func(ctx context.Context, d *desk, group string, users []string) error {
		if err := d.Auth.RemoveMembers(ctx, group, users); err != nil {
			return err
		}
		return d.done(groupDone{group, users}, "removed from the group %s: %d\n", group, len(users))
	})
}

// groupCommand returns a command that applies to a group and some users.
func groupCommand(word, summary, details string, do func(ctx context.Context, d *desk, group string, users []string) error) command {
	return command{
		name: word, operands: []string{"GROUP", "USER[,USER…]"}, settings: settings.StoreGroup, json: true,
		summary: summary, details: details,
		run: func(ctx context.Context, d *desk, operands []string) error {
			users := strings.FieldsFunc(operands[1], func(r rune) bool { return r == ',' || r == ' ' })
			return do(ctx, d, operands[0], users)
		},
	}
}

func deleteGroupCommand() command {
	var yes bool
	return command{
		name: "delete-group", operands: []string{"NAME"}, settings: settings.StoreGroup, json: true,
		summary: "delete a group, and the access of its members through it",
		details: "\nThe users and calendars stay; the members only lose their access through the group.\n",
		flags: func(f *flag.FlagSet) {
			f.BoolVar(&yes, "yes", false, "do not ask")
		},
		run: func(ctx context.Context, d *desk, operands []string) error {
			if !yes {
				if err := d.Confirm(ctx, fmt.Sprintf("this deletes the group %s, and its members lose their access through it", operands[0]), operands[0]); err != nil {
					return err
				}
			}
			if err := d.Auth.DeleteGroup(ctx, operands[0]); err != nil {
				return err
			}
			return d.done(map[string]any{"group": operands[0], "removed": true}, "deleted the group %s\n", operands[0])
		},
	}
}
