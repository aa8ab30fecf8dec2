package main

import (
	"context"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
)

const revokeDetails = `
ID is what list-tokens prints, or its beginning, not the token itself. The token ends at once, also on a server that runs.
`

func revokeTokenCommand() command {
	return command{
		name: "revoke-token", operands: []string{"ID"}, settings: storeSettings, json: true,
		summary: "end an access token", details: revokeDetails,
		run: func(ctx context.Context, d *desk, operands []string) error {
			all, err := d.auth.Tokens(ctx, "")
			if err != nil {
				return err
			}
			token, err := byID(all, func(t auth.Token) string { return string(t.ID) }, "token", operands[0])
			if err != nil {
				return err
			}
			if err := d.auth.RevokeToken(ctx, token.ID); err != nil {
				return err
			}
			return d.done(map[string]calendar.TokenID{"revoked": token.ID}, "revoked the token %s, %q of %s\n", briefID(token.ID), shown(token.Name), token.UserName)
		},
	}
}
