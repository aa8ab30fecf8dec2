package admin

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"strings"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/auth/oauth"
	"caldav-mcp-server/cmd/caldav-mcp-server/command"
	"caldav-mcp-server/cmd/caldav-mcp-server/console"
	"caldav-mcp-server/cmd/caldav-mcp-server/settings"
)

const addClientDetails = `
OAuth clients (assistants that users authorize in a browser) publish a description of themselves, or register
themselves. Add a client here if it can do neither, for example behind a firewall. Enter the printed id there, and the
secret if it needs one. The secret is printed once.

The redirect URL receives the browser after the user has decided; the assistant's documentation names it. Claude's is
https://claude.ai/api/mcp/auth_callback. For a program on the user's machine it is http://127.0.0.1/… or
http://localhost/…, with any port.
`

// AddClientCommand is the command add-client.
func AddClientCommand() command.Command {
	var n oauth.NewClient
	return command.Command{
		Name: "add-client", Settings: settings.StoreGroup, JSON: true,
		Summary: "add an OAuth client (assistant) that does not register itself", Details: addClientDetails,
		Flags: func(f *flag.FlagSet) {
			f.StringVar(&n.Name, "name", "", "`TEXT` that users see (needed)")
			f.Func("redirect",
				"redirect `URL` for the response (needed); may be given more than once", func(v string) error {
					n.Redirects = append(n.Redirects, v)
					return nil
				})
			f.BoolVar(&n.Secret, "secret", false, "create a secret, for a client that can keep one")
		},
		Run: func(ctx context.Context, d *command.Context, _ []string) error {
			added, err := d.OAuth.AddClient(ctx, n)
			if e := oauth.FaultOf(err); e != nil {
				return console.UsageError{Err: errors.New(e.What)}
			}
			if err != nil {
				return err
			}
			return showClient(d, added)
		},
	}
}

// showClient prints the values to enter in the assistant.
func showClient(d *command.Context, added oauth.Registration) error {
	text := fmt.Sprintf("added %s. Enter there\n  client id      %s\n", console.Shown(added.Name), added.ID)
	if added.Secret != "" {
		text += fmt.Sprintf("  client secret  %s   (shown only now)\n", added.Secret)
	}
	return d.Done(struct {
		listedClient
		Secret auth.Secret `json:"secret,omitempty"`
	}{clientJSON(added.Client), added.Secret}, "%s", text)
}

const removeClientDetails = `
ID is the id in list-clients, or a prefix of it. All access that users gave the client ends at once, also on a running
server. A client that registers itself can come back and ask users again.
`

// RemoveClientCommand is the command remove-client.
func RemoveClientCommand() command.Command {
	return command.Command{
		Name: "remove-client", Operands: []string{"ID"}, Settings: settings.StoreGroup, JSON: true,
		Summary: "remove an OAuth client, and end its access", Details: removeClientDetails,
		Run: func(ctx context.Context, d *command.Context, operands []string) error {
			all, err := d.OAuth.Clients(ctx)
			if err != nil {
				return err
			}
			one, err := console.ByID(all, func(c oauth.Client) string { return string(c.ID) }, "client", operands[0])
			if err != nil {
				return err
			}
			if err := d.OAuth.RemoveClient(ctx, one.ID); err != nil {
				return err
			}
			return d.Done(map[string]auth.ClientID{"removed": one.ID}, "removed %s, %s\n", console.Shown(one.Name),
				shownClient(one.ID))
		},
	}
}

// shownClient is a client id in a list; a URL is shown in full.
func shownClient(id auth.ClientID) string {
	if strings.Contains(string(id), ":") {
		return console.Shown(string(id))
	}
	return console.BriefID(id)
}
