package admin

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"strings"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/cmd/caldav-mcp-server/command"
	"caldav-mcp-server/cmd/caldav-mcp-server/console"
	"caldav-mcp-server/cmd/caldav-mcp-server/settings"
)

const createDetails = `
An assistant authenticates with a token. The token acts for one user, within its scopes, on all calendars of the user or
only those named. CalDAV clients can use it as a password. It is printed once; if it is lost, revoke it and create
another.

--tools limits the tools that an assistant gets. "core" stands for the fifteen tools for everyday work: models choose
better from a short list. --tools=-search,-fetch means all tools except these. The token keeps only the scopes that its
tools need, and reads no data that its tools would not return.

--right limits single calendars: read:Work, propose:Work or write:Work. Without a name, it is the right in all calendars
that have no limit of their own. In a calendar with the right propose, an assistant proposes changes, and the user
accepts or declines them.

--expires takes a span (12h, 90d, 12w) or a date (2027-01-31, the end of that day in UTC).
`

// tokenOptions are the flags of create-token.
type tokenOptions struct {
	name, scopes, tools, expires string
	calendars, rights            []string
	delegated                    bool
	spec                         auth.TokenSpec
}

// CreateTokenCommand is the command create-token.
func CreateTokenCommand() command.Command {
	var o tokenOptions
	return command.Command{
		Name: "create-token", User: "`NAME` of the user that it acts for",
		Settings: settings.StoreGroup | settings.AddressGroup, JSON: true,
		Summary: "create an access token for an assistant or a client", Details: createDetails,
		Flags: o.declare, Check: o.check,
		Run: func(ctx context.Context, d *command.Context, _ []string) error { return createToken(ctx, d, o) },
	}
}

func (o *tokenOptions) declare(f *flag.FlagSet) {
	f.StringVar(&o.name, "name", "", "name `TEXT`, such as \"Claude on laptop\" (needed)")
	f.StringVar(&o.scopes, "scope", auth.ScopeList(calendar.ScopeUsual), "`LIST` of scopes")
	f.StringVar(&o.tools, "tools", "", "`LIST` of tools, such as core; default all")
	f.StringVar(&o.expires, "expires", "", "`WHEN` it ends; default never")
	f.BoolVar(&o.delegated, "delegated", false, "also for calendars of users who made this user their delegate")
	f.Func("calendar",
		"only this `CALENDAR`, by name, address or id; may be given more than once; default all", func(v string) error {
			o.calendars = append(o.calendars, v)
			return nil
		})
	f.Func("right", "`RIGHT[:CALENDAR]`: read, propose or write, in that calendar; may be given more than once",
		func(v string) error {
			if word, _, _ := strings.Cut(v, ":"); !calendar.Right(word).Known() {
				return errors.New("give read, propose or write, then a colon and a calendar for one calendar alone")
			}
			o.rights = append(o.rights, v)
			return nil
		})
}

// check validates the flags as far as possible without the store.
func (o *tokenOptions) check(d *command.Context, _ []string) error {
	tools, scopes, err := ParseReach(o.tools, o.scopes)
	if err != nil {
		return err
	}
	expires, err := console.ParseExpiry(o.expires, d.Now())
	if err != nil {
		return fmt.Errorf("--expires: %w", err)
	}
	o.spec = auth.TokenSpec{
		User: d.User, Name: o.name, Scopes: scopes, Tools: tools, Expires: expires, ForOthers: o.delegated,
	}
	return nil
}

// limit sets the rights of the new token.
func (o *tokenOptions) limit(ctx context.Context, d *command.Context) error {
	r := calendar.Rights{Of: make(map[calendar.CalendarID]calendar.Right)}
	for _, text := range o.rights {
		word, name, one := strings.Cut(text, ":")
		if !one {
			r.Others = calendar.Right(word)
			continue
		}
		cal, err := d.FindCalendar(ctx, d.Who, name)
		if err != nil {
			return err
		}
		r.Of[cal.ID] = calendar.Right(word)
	}
	if r.Has(calendar.RightPropose) {
		o.spec.Scopes |= calendar.ScopePropose
	}
	o.spec.Rights = r
	return nil
}

func createToken(ctx context.Context, d *command.Context, o tokenOptions) error {
	for _, word := range o.calendars {
		cal, err := d.FindCalendar(ctx, d.Who, word)
		if err != nil {
			return err
		}
		o.spec.Calendars = append(o.spec.Calendars, cal.ID)
	}
	if err := o.limit(ctx, d); err != nil {
		return err
	}
	token, secret, err := d.Auth.CreateToken(ctx, o.spec)
	if err != nil {
		return err
	}
	if d.JSON {
		return d.PrintJSON(struct {
			listedToken
			Token  auth.Secret `json:"token"`
			MCPURL string      `json:"mcp_url"`
		}{tokenJSON(token), secret, d.Config.MCPURL()})
	}
	return writeTokenHelp(d.Stdout, d.Config.CalDAVURL(), d.Config.MCPURL(), token, secret)
}
