package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"strings"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/auth/oauth"
)

const addClientDetails = `
An assistant that asks people to let it in (OAuth) is known by what it says of itself, or registers itself. Where it can do
neither, as behind a wall, add it here and enter the id there, with the secret if it wants one. The secret is printed once.

The redirect is where people's browsers are sent with the answer; the assistant's own pages say which. Claude has
https://claude.ai/api/mcp/auth_callback. For a program on the user's machine it is http://127.0.0.1/… or http://localhost/…,
with whatever port.
`

func addClientCommand() command {
	var n oauth.NewClient
	return command{
		name: "add-client", settings: storeSettings, json: true,
		summary: "add an assistant that asks people to let it in, where it does not register itself", details: addClientDetails,
		flags: func(f *flag.FlagSet) {
			f.StringVar(&n.Name, "name", "", "`TEXT` that people know it by (needed)")
			f.Func("redirect", "`URL` that people's browsers are sent to with the answer (needed); may be given again", func(v string) error {
				n.Redirects = append(n.Redirects, v)
				return nil
			})
			f.BoolVar(&n.Secret, "secret", false, "give it a secret, which it must be able to keep")
		},
		run: func(ctx context.Context, d *desk, _ []string) error {
			added, err := d.oauth.AddClient(ctx, n)
			if e := oauth.FaultOf(err); e != nil {
				return usageError{errors.New(e.What)}
			}
			if err != nil {
				return err
			}
			return d.showClient(added)
		},
	}
}

// showClient prints the values to enter in the assistant.
func (d *desk) showClient(added oauth.Registration) error {
	text := fmt.Sprintf("%s is added. Enter there\n  client id      %s\n", shown(added.Name), added.ID)
	if added.Secret != "" {
		text += fmt.Sprintf("  client secret  %s   (shown only now)\n", added.Secret)
	}
	return d.done(struct {
		listedClient
		Secret auth.Secret `json:"secret,omitempty"`
	}{clientJSON(added.Client), added.Secret}, "%s", text)
}

const removeClientDetails = `
ID is what list-clients prints, or its beginning. All that people have allowed it ends at once, also on a server that runs. An assistant that
registers itself can come back, and ask people again.
`

func removeClientCommand() command {
	return command{
		name: "remove-client", operands: []string{"ID"}, settings: storeSettings, json: true,
		summary: "forget an assistant, and end what people have allowed it", details: removeClientDetails,
		run: func(ctx context.Context, d *desk, operands []string) error {
			all, err := d.oauth.Clients(ctx)
			if err != nil {
				return err
			}
			one, err := byID(all, func(c oauth.Client) string { return string(c.ID) }, "client", operands[0])
			if err != nil {
				return err
			}
			if err := d.oauth.RemoveClient(ctx, one.ID); err != nil {
				return err
			}
			return d.done(map[string]auth.ClientID{"removed": one.ID}, "removed %s, %s\n", shown(one.Name), shownClient(one.ID))
		},
	}
}

// shownClient is a client id in a list; a URL is shown in full.
func shownClient(id auth.ClientID) string {
	if strings.Contains(string(id), ":") {
		return shown(string(id))
	}
	return briefID(id)
}
