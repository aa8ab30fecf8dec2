package main

import (
	"context"
	"fmt"

	"caldav-mcp-server/auth"
)

const revokeLinkDetails = `
ID is what list-links prints, not the link itself. The link ends at once, also on a server that runs; what
programs have fetched by it they keep.
`

func revokeLinkCommand() command {
	return command{
		name: "revoke-link", operands: []string{"ID"}, settings: storeSettings,
		summary: "end a public link", details: revokeLinkDetails,
		run: func(ctx context.Context, p *program, c config, operands []string) error {
			return p.withHouse(ctx, c, func(h *house) error {
				if err := h.auth.RevokeLink(ctx, auth.LinkID(operands[0])); err != nil {
					return err
				}
				_, err := fmt.Fprintf(p.stdout, "revoked the link %s\n", operands[0])
				return err
			})
		},
	}
}
