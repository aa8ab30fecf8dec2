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

// CreateGroupCommand is the command create-group.
func CreateGroupCommand() command.Command {
	var title string
	return command.Command{
		Name: "create-group", Operands: []string{"NAME"}, Settings: settings.StoreGroup, JSON: true,
		Summary: "create a group of users to share calendars with", Details: createGroupDetails,
		Flags: func(f *flag.FlagSet) {
			f.StringVar(&title, "display-name", "", "display `NAME`")
		},
		Run: func(ctx context.Context, d *command.Context, operands []string) error {
			g, err := d.Auth.CreateGroup(ctx, operands[0], title)
			if err != nil {
				return err
			}
			return d.Done(groupJSON(auth.Group{User: g}), "created the group %s\n", g.Name)
		},
	}
}

// ListGroupsCommand is the command list-groups.
func ListGroupsCommand() command.Command {
	return command.Listing[auth.Group, listedGroup]{
		Command: command.Command{Name: "list-groups", Summary: "list groups and their members"},
		Find:    func(ctx context.Context, h *app.App) ([]auth.Group, error) { return h.Auth.Groups(ctx) },
		JSON:    groupJSON,
		Heads:   []string{"NAME", "DISPLAY NAME", "COUNT", "MEMBERS", "CREATED"},
		Row: func(g auth.Group, _ time.Time) []string {
			return []string{
				g.Name, g.DisplayName, strconv.Itoa(len(g.Members)), strings.Join(memberNames(g), " "),
				console.ShownTime(g.Created),
			}
		},
	}.AsCommand()
}

// groupDone is the JSON output of the commands for a group's members.
type groupDone struct {
	Group string   `json:"group"`
	Users []string `json:"users"`
}

// AddMembersCommand is the command add-members.
func AddMembersCommand() command.Command {
	return groupCommand("add-members", "add users to a group", `
The users get all calendars that are shared with the group. If one of them does not exist, none is added. Existing
members stay.
`, func(ctx context.Context, d *command.Context, group string, users []string) error {
		added, err := d.Auth.AddMembers(ctx, group, users)
		if err != nil {
			return err
		}
		return d.Done(groupDone{group, console.Each(added, func(s string) string { return s })},
			"added to the group %s: %d\n", group, len(added))
	})
}

// RemoveMembersCommand is the command remove-members.
func RemoveMembersCommand() command.Command {
	return groupCommand("remove-members", "remove users from a group", `
They lose the calendars that they had only through the group, with their own settings for them. Direct shares stay.
`, func(ctx context.Context, d *command.Context, group string, users []string) error {
		if err := d.Auth.RemoveMembers(ctx, group, users); err != nil {
			return err
		}
		return d.Done(groupDone{group, users}, "removed from the group %s: %d\n", group, len(users))
	})
}

// groupCommand returns a command that applies to a group and some users.
func groupCommand(word, summary, details string, do func(ctx context.Context, d *command.Context, group string,
	users []string) error,
) command.Command {
	return command.Command{
		Name: word, Operands: []string{"GROUP", "USER[,USER…]"}, Settings: settings.StoreGroup, JSON: true,
		Summary: summary, Details: details,
		Run: func(ctx context.Context, d *command.Context, operands []string) error {
			users := strings.FieldsFunc(operands[1], func(r rune) bool { return r == ',' || r == ' ' })
			return do(ctx, d, operands[0], users)
		},
	}
}

// DeleteGroupCommand is the command delete-group.
func DeleteGroupCommand() command.Command {
	var yes bool
	return command.Command{
		Name: "delete-group", Operands: []string{"NAME"}, Settings: settings.StoreGroup, JSON: true,
		Summary: "delete a group, and the access of its members through it",
		Details: "\nThe users and calendars stay; the members only lose their access through the group.\n",
		Flags: func(f *flag.FlagSet) {
			f.BoolVar(&yes, "yes", false, "do not ask")
		},
		Run: func(ctx context.Context, d *command.Context, operands []string) error {
			if !yes {
				if err := d.Confirm(
					ctx, fmt.Sprintf("this deletes the group %s, and its members lose their access through it",
						operands[0]), operands[0],
				); err != nil {
					return err
				}
			}
			if err := d.Auth.DeleteGroup(ctx, operands[0]); err != nil {
				return err
			}
			return d.Done(map[string]any{"group": operands[0], "removed": true}, "deleted the group %s\n", operands[0])
		},
	}
}
