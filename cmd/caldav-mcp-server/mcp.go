package main

import (
	"context"
	"flag"
	"log/slog"
	"time"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/cmd/caldav-mcp-server/admin"
	"caldav-mcp-server/cmd/caldav-mcp-server/app"
	"caldav-mcp-server/cmd/caldav-mcp-server/command"
	"caldav-mcp-server/cmd/caldav-mcp-server/settings"
	"caldav-mcp-server/mcp"
)

const mcpDetails = `
It speaks MCP on standard input and output, for hosts that start servers themselves, and works directly on the database,
with or without a running server. It needs no token, because everyone who can start it can read the data anyway.
--scope,
--calendar and --tools restrict the assistant. It ends at the end of its input. The host's configuration names the
program and its arguments, for example
  {"command": "caldav-mcp-server", "args": ["mcp", "--user", "alice", "--scope", "read,write"]}
`

// lineAgent is the name of such a host in the journal.
const lineAgent = "assistant on this machine"

// noSessionEnd is the length of a session, which lasts as long as the process.
const noSessionEnd = 100 * 365 * 24 * time.Hour

// mcpOptions are the flags of mcp.
type mcpOptions struct {
	scopes, tools string
	calendars     []string
	who           calendar.Caller
}

func mcpCommand() command.Command {
	var o mcpOptions
	return command.Command{
		Name: "mcp", User: "`NAME` of the user that it acts for",
		Settings: settings.StoreGroup | settings.PostGroup | settings.FetchGroup,
		Summary:  "serve one assistant on standard input and output", Details: mcpDetails, Flags: o.declare,
		Check: func(*command.Context, []string) (err error) {
			o.who.Agent = lineAgent
			o.who.Tools, o.who.Scopes, err = admin.ParseReach(o.tools, o.scopes)
			return err
		},
		Run: func(ctx context.Context, d *command.Context, _ []string) error { return serveLines(ctx, d, o) },
	}
}

func (o *mcpOptions) declare(f *flag.FlagSet) {
	f.StringVar(&o.scopes, "scope", auth.ScopeList(calendar.ScopeUsual), "`LIST` of scopes")
	f.StringVar(&o.tools, "tools", "", "`LIST` of tools, such as core; default all")
	f.Func("calendar",
		"only this `CALENDAR`, by name, address or id; may be given more than once; default all", func(v string) error {
			o.calendars = append(o.calendars, v)
			return nil
		})
}

func serveLines(ctx context.Context, d *command.Context, o mcpOptions) error {
	who := o.who
	who.User = d.Who
	for _, word := range o.calendars {
		cal, err := d.FindCalendar(ctx, d.Who, word)
		if err != nil {
			return err
		}
		who.Calendars = append(who.Calendars, cal.ID)
	}
	log := d.Logger(slog.LevelWarn, false)
	following, stop := context.WithCancel(ctx)
	defer stop()
	go d.Follow(following, d.Now, app.FollowEvery, log)
	limits := mcp.DefaultLimits()
	limits.SessionAge = noSessionEnd
	handler := mcp.New(mcp.Config{
		Service: d.Calendars, Limits: limits, Version: d.Version, Now: d.Now, NewID: d.NewID,
		Logger: log,
	})
	return handler.ServeLines(ctx, who, d.Stdin, d.Stdout)
}
