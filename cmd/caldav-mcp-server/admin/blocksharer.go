package admin

import (
	"context"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/cmd/caldav-mcp-server/command"
	"caldav-mcp-server/cmd/caldav-mcp-server/settings"
)

const blockSharerDetails = `
All calendars that SHARER shares with the user are declined, and new shares are refused. The user also loses the
calendars that SHARER shares with the user's groups. SHARER sees that the calendars were declined, but not the block. On
the web pages, the user can do the same with a button next to each shared calendar.
  caldav-mcp-server block-sharer --user bob alice
`

const unblockSharerDetails = `
The calendars that SHARER shares with the user's groups come back. Declined calendars can be shared again.
  caldav-mcp-server unblock-sharer --user bob alice
`

// blocker is the usage of --user for commands that block a sharer.
const blocker = "`NAME` of the user who blocks SHARER"

// blockLine is a block in JSON.
func blockLine(u calendar.User, sharer string, blocked bool) any {
	return struct {
		User    string `json:"user"`
		Sharer  string `json:"sharer"`
		Blocked bool   `json:"blocked"`
	}{u.Name, sharer, blocked}
}

// BlockSharerCommand is the command block-sharer.
func BlockSharerCommand() command.Command {
	return command.Command{
		Name: "block-sharer", User: blocker, Operands: []string{"SHARER"}, Settings: settings.StoreGroup, JSON: true,
		Summary: "block another user from sharing calendars with a user", Details: blockSharerDetails,
		Run: func(ctx context.Context, d *command.Context, operands []string) error {
			sharer, err := d.Auth.User(ctx, operands[0])
			if err != nil {
				return err
			}
			if err := d.Calendars.BlockUser(ctx, d.Caller(), sharer); err != nil {
				return err
			}
			return d.Done(blockLine(d.Who, sharer.Name, true), "%s has blocked %s\n", d.Who.Name, sharer.Name)
		},
	}
}

// UnblockSharerCommand is the command unblock-sharer.
func UnblockSharerCommand() command.Command {
	return command.Command{
		Name: "unblock-sharer", User: blocker, Operands: []string{"SHARER"}, Settings: settings.StoreGroup, JSON: true,
		Summary: "let a blocked user share calendars again", Details: unblockSharerDetails,
		Run: func(ctx context.Context, d *command.Context, operands []string) error {
			if err := d.Calendars.Unblock(ctx, d.Caller(), operands[0]); err != nil {
				return err
			}
			return d.Done(blockLine(d.Who, operands[0], false), "%s no longer blocks %s\n", d.Who.Name, operands[0])
		},
	}
}
