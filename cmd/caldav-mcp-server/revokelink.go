package main

import (
	"context"
	"flag"
	"fmt"

	"caldav-mcp-server/auth"
)

const revokeLinkDetails = `
ID is what list-links prints, or its beginning, not the link itself. The link ends at once, also on a server that runs; what
programs have fetched by it they keep.
`

func revokeLinkCommand() command {
	var json bool
	return command{
		name: "revoke-link", operands: []string{"ID"}, settings: storeSettings,
		summary: "end a public link", details: revokeLinkDetails,
		flags: func(f *flag.FlagSet) { asJSON(f, &json) },
		run: func(ctx context.Context, p *program, c config, operands []string) error {
			return p.withHouse(ctx, c, func(h *house) error {
				all, err := h.auth.Links(ctx, "")
				if err != nil {
					return err
				}
				link, err := byID(all, func(l auth.Link) string { return string(l.ID) }, "link", operands[0])
				if err != nil {
					return err
				}
				if err := h.auth.RevokeLink(ctx, link.ID); err != nil {
					return err
				}
				if json {
					return p.printJSON(map[string]auth.LinkID{"revoked": link.ID})
				}
				_, err = fmt.Fprintf(p.stdout, "revoked the link %s to %q of %s\n", briefID(link.ID), shown(link.CalendarName), link.Owner.Name)
				return err
			})
		},
	}
}
