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
	var json bool
	return command{
		name: "add-client", settings: storeSettings,
		summary: "add an assistant that asks people to let it in, where it does not register itself", details: addClientDetails,
		flags: func(f *flag.FlagSet) {
			f.StringVar(&n.Name, "name", "", "`TEXT` that people know it by (needed)")
			f.Func("redirect", "`URL` that people's browsers are sent to with the answer (needed); may be given again", func(v string) error {
				n.Redirects = append(n.Redirects, v)
				return nil
			})
			f.BoolVar(&n.Secret, "secret", false, "give it a secret, which it must be able to keep")
			asJSON(f, &json)
		},
		run: func(ctx context.Context, p *program, c config, _ []string) error {
			if n.Name == "" || len(n.Redirects) == 0 {
				return wrongUsage("add-client needs --name and --redirect (see %s add-client --help)", name)
			}
			return p.withHouse(ctx, c, func(h *house) error {
				added, err := h.oauth.AddClient(ctx, n)
				if e := oauth.FaultOf(err); e != nil {
					return usageError{errors.New(e.What)}
				}
				if err != nil {
					return err
				}
				return p.showClient(added, json)
			})
		},
	}
}

// showClient tells what is to be entered at the assistant.
func (p *program) showClient(added oauth.Registration, json bool) error {
	if json {
		return p.printJSON(struct {
			listedClient
			Secret auth.Secret `json:"secret,omitempty"`
		}{clientJSON(added.Client), added.Secret})
	}
	text := fmt.Sprintf("%s is added. Enter there\n  client id      %s\n", shown(added.Name), added.ID)
	if added.Secret != "" {
		text += fmt.Sprintf("  client secret  %s   (shown only now)\n", added.Secret)
	}
	_, err := fmt.Fprint(p.stdout, text)
	return err
}

const removeClientDetails = `
ID is what list-clients prints, or its beginning. All that people have allowed it ends at once, also on a server that runs. An assistant that
registers itself can come back, and ask people again.
`

func removeClientCommand() command {
	var json bool
	return command{
		name: "remove-client", operands: []string{"ID"}, settings: storeSettings,
		summary: "forget an assistant, and end what people have allowed it", details: removeClientDetails,
		flags: func(f *flag.FlagSet) { asJSON(f, &json) },
		run: func(ctx context.Context, p *program, c config, operands []string) error {
			return p.withHouse(ctx, c, func(h *house) error {
				all, err := h.oauth.Clients(ctx)
				if err != nil {
					return err
				}
				one, err := byID(all, func(c oauth.Client) string { return string(c.ID) }, "client", operands[0])
				if err != nil {
					return err
				}
				if err := h.oauth.RemoveClient(ctx, one.ID); err != nil {
					return err
				}
				if json {
					return p.printJSON(map[string]auth.ClientID{"removed": one.ID})
				}
				_, err = fmt.Fprintf(p.stdout, "removed %s, %s\n", shown(one.Name), shownClient(one.ID))
				return err
			})
		},
	}
}

// shownClient is an id as lists have it: an address is told whole.
func shownClient(id auth.ClientID) string {
	if strings.Contains(string(id), ":") {
		return shown(string(id))
	}
	return briefID(id)
}
