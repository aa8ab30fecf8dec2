package main

import (
	"context"
	"fmt"

	"caldav-mcp-server/calendar"
)

const revokeDetails = `
ID is what list-tokens prints, not the token itself. The token ends at once, also on a server that runs.
`

func revokeTokenCommand() command {
	return command{
		name: "revoke-token", operands: []string{"ID"}, settings: storeSettings,
		summary: "end an access token", details: revokeDetails,
		run: func(ctx context.Context, p *program, c config, operands []string) error {
			return p.withHouse(ctx, c, func(h *house) error {
				if err := h.auth.RevokeToken(ctx, calendar.TokenID(operands[0])); err != nil {
					return err
				}
				_, err := fmt.Fprintf(p.stdout, "revoked the token %s\n", operands[0])
				return err
			})
		},
	}
}
