package main

import (
	"context"
	"flag"
	"fmt"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
)

const revokeDetails = `
ID is what list-tokens prints, or its beginning, not the token itself. The token ends at once, also on a server that runs.
`

func revokeTokenCommand() command {
	var json bool
	return command{
		name: "revoke-token", operands: []string{"ID"}, settings: storeSettings,
		summary: "end an access token", details: revokeDetails,
		flags: func(f *flag.FlagSet) { asJSON(f, &json) },
		run: func(ctx context.Context, p *program, c config, operands []string) error {
			return p.withHouse(ctx, c, func(h *house) error {
				all, err := h.auth.Tokens(ctx, "")
				if err != nil {
					return err
				}
				token, err := byID(all, func(t auth.Token) string { return string(t.ID) }, "token", operands[0])
				if err != nil {
					return err
				}
				if err := h.auth.RevokeToken(ctx, token.ID); err != nil {
					return err
				}
				if json {
					return p.printJSON(map[string]calendar.TokenID{"revoked": token.ID})
				}
				_, err = fmt.Fprintf(p.stdout, "revoked the token %s, %q of %s\n", briefID(token.ID), shown(token.Name), token.UserName)
				return err
			})
		},
	}
}
