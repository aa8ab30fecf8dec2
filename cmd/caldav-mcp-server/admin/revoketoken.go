package admin

import (
	"context"
	"flag"
	"fmt"
	"strings"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/service"
	"caldav-mcp-server/cmd/caldav-mcp-server/app"
	"caldav-mcp-server/cmd/caldav-mcp-server/command"
	"caldav-mcp-server/cmd/caldav-mcp-server/console"
	"caldav-mcp-server/cmd/caldav-mcp-server/settings"
)

const revokeDetails = `
ID is the id in list-tokens, or a prefix of it, not the token itself. The token ends at once, also on a running server.
Webhooks, shares and linked calendars that the token created stay, and are listed. --undo removes them, even if the
token has already ended.
`

// RevokeTokenCommand is the command revoke-token.
func RevokeTokenCommand() command.Command {
	var undo bool
	return command.Command{
		Name: "revoke-token", Operands: []string{"ID"}, Settings: settings.StoreGroup, JSON: true,
		Summary: "end an access token", Details: revokeDetails,
		Flags: func(f *flag.FlagSet) {
			f.BoolVar(&undo, "undo", false,
				"remove the webhooks, shares and linked calendars that were set up with the token")
		},
		Run: func(ctx context.Context, d *command.Context, operands []string) error {
			all, err := d.Auth.Tokens(ctx, "")
			if err != nil {
				return err
			}
			token, err := console.ByID(all, func(t auth.Token) string { return string(t.ID) }, "token", operands[0])
			if err != nil {
				return err
			}
			if err := d.Auth.RevokeToken(ctx, token.ID); err != nil {
				return err
			}
			user, err := d.Auth.User(ctx, token.UserName)
			if err != nil {
				return err
			}
			made, err := madeBy(ctx, d.App, user, token.ID, undo)
			if err != nil {
				return err
			}
			var text strings.Builder
			fmt.Fprintf(&text, "revoked the token %s, %q of %s\n", console.BriefID(token.ID), console.Shown(token.Name),
				token.UserName)
			for _, m := range made {
				fmt.Fprintf(&text, "%s %s\n", map[bool]string{true: "removed", false: "still there:"}[undo],
					console.Shown(m))
			}
			if len(made) > 0 && !undo {
				fmt.Fprintf(&text, "to remove all of this: revoke-token --undo %s\n", console.BriefID(token.ID))
			}
			return d.Done(revokedToken{token.ID, made, undo}, "%s", text.String())
		},
	}
}

// revokedToken is the outcome in JSON.
type revokedToken struct {
	Revoked calendar.TokenID `json:"revoked"`
	SetUp   []string         `json:"set_up"`
	Removed bool             `json:"removed"`
}

// madeBy describes the webhooks, shares and linked accounts that a token created, and removes them if undo is set.
func madeBy(ctx context.Context, h *app.App, user calendar.User, token calendar.TokenID, undo bool) ([]string, error) {
	made, err := h.Calendars.MadeBy(ctx, app.Caller(user), token)
	words := []string{}
	for _, m := range made {
		words = append(words, madeWords(m))
		if undo && err == nil {
			err = h.Calendars.Unmake(ctx, app.Caller(user), m)
		}
	}
	return words, err
}

func madeWords(m service.Made) string {
	switch {
	case m.Webhook != nil:
		return "the webhook " + m.Webhook.URL
	case m.Share != nil:
		return fmt.Sprintf("the share of %q with %s, who may %s", m.Share.From.Name, m.Share.User.Name,
			m.Share.Access.Word())
	}
	return fmt.Sprintf("the linked calendar %q", m.Account.Name)
}
