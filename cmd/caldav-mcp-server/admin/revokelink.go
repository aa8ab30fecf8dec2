package admin

import (
	"context"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/cmd/caldav-mcp-server/command"
	"caldav-mcp-server/cmd/caldav-mcp-server/console"
	"caldav-mcp-server/cmd/caldav-mcp-server/settings"
)

const revokeLinkDetails = `
ID is the id in list-links, or a prefix of it, not the link itself. The link ends at once, also on a running server.
Programs keep the data that they have already fetched.
`

// RevokeLinkCommand is the command revoke-link.
func RevokeLinkCommand() command.Command {
	return command.Command{
		Name: "revoke-link", Operands: []string{"ID"}, Settings: settings.StoreGroup, JSON: true,
		Summary: "end a public link", Details: revokeLinkDetails,
		Run: func(ctx context.Context, d *command.Context, operands []string) error {
			all, err := d.Auth.Links(ctx, "")
			if err != nil {
				return err
			}
			link, err := console.ByID(all, func(l auth.Link) string { return string(l.ID) }, "link", operands[0])
			if err != nil {
				return err
			}
			if err := d.Auth.RevokeLink(ctx, link.ID); err != nil {
				return err
			}
			return d.Done(map[string]auth.LinkID{"revoked": link.ID}, "revoked the link %s to %q of %s\n",
				console.BriefID(link.ID), console.Shown(link.CalendarName), link.Owner.Name)
		},
	}
}
