package main

import (
	"context"
	"flag"
	"fmt"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
)

const createDetails = `
An assistant logs in with a token, which speaks for one user, within its scopes, on all calendars of the
user or only those named. CalDAV clients can use one in place of the password.
The token is printed once and cannot be shown again; if it is lost, revoke it and make another.

--tools names the only tools that an assistant is offered, and "core" the fifteen that everyday work takes:
models drown in long lists. --tools=-search,-fetch is for all but these. The token then gives nothing but what its
tools give, by no door.
Of the scopes it has only those that they need.

--expires takes a span (12h, 90d, 12w) or a date (2027-01-31, the end of that day in UTC).
`

// tokenOptions are the flags of create-token.
type tokenOptions struct {
	name, scopes, tools, expires string
	calendars                    []string
	spec                         auth.TokenSpec
}

func createTokenCommand() command {
	var o tokenOptions
	return command{
		name: "create-token", user: "`NAME` of the user that it speaks for", settings: storeSettings | addressSettings, json: true,
		summary: "make an access token for an assistant or a client", details: createDetails,
		flags: o.declare, check: o.check,
		run: func(ctx context.Context, d *desk, _ []string) error { return d.createToken(ctx, o) },
	}
}

func (o *tokenOptions) declare(f *flag.FlagSet) {
	f.StringVar(&o.name, "name", "", "`TEXT` that says what it is for, such as \"Claude on laptop\" (needed)")
	f.StringVar(&o.scopes, "scope", auth.ScopeList(calendar.ScopeUsual), "`LIST` of what it may do")
	f.StringVar(&o.tools, "tools", "", "`LIST` of the only tools that an assistant is offered, such as core; all if not given")
	f.StringVar(&o.expires, "expires", "", "`WHEN` it ends; never if not given")
	f.Func("calendar", "`CALENDAR` that it reaches, by name, address or id; may be given again; all if not given", func(v string) error {
		o.calendars = append(o.calendars, v)
		return nil
	})
}

// check validates the flags as far as possible without the store.
func (o *tokenOptions) check(d *desk, _ []string) error {
	tools, scopes, err := parseReach(o.tools, o.scopes)
	if err != nil {
		return err
	}
	expires, err := parseExpiry(o.expires, d.now())
	if err != nil {
		return fmt.Errorf("--expires: %w", err)
	}
	o.spec = auth.TokenSpec{User: d.user, Name: o.name, Scopes: scopes, Tools: tools, Expires: expires}
	return nil
}

func (d *desk) createToken(ctx context.Context, o tokenOptions) error {
	for _, word := range o.calendars {
		cal, err := d.findCalendar(ctx, d.who, word)
		if err != nil {
			return err
		}
		o.spec.Calendars = append(o.spec.Calendars, cal.ID)
	}
	token, secret, err := d.auth.CreateToken(ctx, o.spec)
	if err != nil {
		return err
	}
	if d.json {
		return d.printJSON(struct {
			listedToken
			Token  auth.Secret `json:"token"`
			MCPURL string      `json:"mcp_url"`
		}{tokenJSON(token), secret, d.config.mcpURL()})
	}
	return writeTokenHelp(d.stdout, d.config.caldavURL(), d.config.mcpURL(), token, secret)
}
