package main

import (
	"context"
	"flag"
	"fmt"
	"time"

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
	user, name, scopes, tools, expires string
	calendars                          []string
	json                               bool
}

func createTokenCommand() command {
	var o tokenOptions
	return command{
		name: "create-token", settings: storeSettings | addressSettings,
		summary: "make an access token for an assistant or a client", details: createDetails,
		flags: o.declare,
		run: func(ctx context.Context, p *program, c config, _ []string) error {
			spec, err := o.spec(p.now())
			if err != nil {
				return usageError{err}
			}
			return p.withHouse(ctx, c, func(h *house) error { return p.createToken(ctx, h, c, spec, o) })
		},
	}
}

func (o *tokenOptions) declare(f *flag.FlagSet) {
	f.StringVar(&o.user, "user", "", "`NAME` of the user that it speaks for (needed)")
	f.StringVar(&o.name, "name", "", "`TEXT` that says what it is for, such as \"Claude on laptop\" (needed)")
	f.StringVar(&o.scopes, "scope", auth.ScopeList(calendar.ScopeUsual), "`LIST` of what it may do")
	f.StringVar(&o.tools, "tools", "", "`LIST` of the only tools that an assistant is offered, such as core; all if not given")
	f.StringVar(&o.expires, "expires", "", "`WHEN` it ends; never if not given")
	f.Func("calendar", "`CALENDAR` that it reaches, by name, address or id; may be given again; all if not given", func(v string) error {
		o.calendars = append(o.calendars, v)
		return nil
	})
	asJSON(f, &o.json)
}

// spec checks the flags as far as that goes without the store.
func (o *tokenOptions) spec(now time.Time) (auth.TokenSpec, error) {
	if o.user == "" || o.name == "" {
		return auth.TokenSpec{}, fmt.Errorf("create-token needs --user and --name (see %s create-token --help)", name)
	}
	scopes, err := auth.ParseScopes(o.scopes)
	if err != nil {
		return auth.TokenSpec{}, fmt.Errorf("--scope: %w", err)
	}
	tools, scopes, err := parseTools(o.tools, scopes)
	if err != nil {
		return auth.TokenSpec{}, fmt.Errorf("--tools: %w", err)
	}
	expires, err := parseExpiry(o.expires, now)
	if err != nil {
		return auth.TokenSpec{}, fmt.Errorf("--expires: %w", err)
	}
	return auth.TokenSpec{User: o.user, Name: o.name, Scopes: scopes, Tools: tools, Expires: expires}, nil
}

func (p *program) createToken(ctx context.Context, h *house, c config, spec auth.TokenSpec, o tokenOptions) error {
	user, err := h.auth.User(ctx, spec.User)
	if err != nil {
		return err
	}
	for _, word := range o.calendars {
		cal, err := h.findCalendar(ctx, user, word)
		if err != nil {
			return err
		}
		spec.Calendars = append(spec.Calendars, cal.ID)
	}
	token, secret, err := h.auth.CreateToken(ctx, spec)
	if err != nil {
		return err
	}
	if o.json {
		return p.printJSON(struct {
			listedToken
			Token  auth.Secret `json:"token"`
			MCPURL string      `json:"mcp_url"`
		}{tokenJSON(token), secret, c.mcpURL()})
	}
	return writeTokenHelp(p.stdout, c.caldavURL(), c.mcpURL(), token, secret)
}
