package main

import (
	"context"
	"flag"
	"log/slog"
	"time"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/mcp"
)

const mcpDetails = `
It speaks MCP on standard input and output, for hosts that start servers themselves, and works on the data directly: a
server may run beside it, or not. There is no token, since whoever can start it can read the data anyway; --scope,
--calendar and --tools keep an assistant from what it need not do. It ends when its input does.

The host's settings name the program and its arguments, such as
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

func mcpCommand() command {
	var o mcpOptions
	return command{
		name: "mcp", user: "`NAME` of the user that it speaks for", settings: storeSettings | postSettings,
		summary: "serve one assistant on standard input and output", details: mcpDetails, flags: o.declare,
		check: func(*desk, []string) (err error) {
			o.who.Agent = lineAgent
			o.who.Tools, o.who.Scopes, err = parseReach(o.tools, o.scopes)
			return err
		},
		run: func(ctx context.Context, d *desk, _ []string) error { return d.serveLines(ctx, o) },
	}
}

func (o *mcpOptions) declare(f *flag.FlagSet) {
	f.StringVar(&o.scopes, "scope", auth.ScopeList(calendar.ScopeUsual), "`LIST` of what it may do")
	f.StringVar(&o.tools, "tools", "", "`LIST` of the only tools that it is offered, such as core; all if not given")
	f.Func("calendar", "`CALENDAR` that it reaches, by name, address or id; may be given again; all if not given", func(v string) error {
		o.calendars = append(o.calendars, v)
		return nil
	})
}

func (d *desk) serveLines(ctx context.Context, o mcpOptions) error {
	who := o.who
	who.User = d.who
	for _, word := range o.calendars {
		cal, err := d.findCalendar(ctx, d.who, word)
		if err != nil {
			return err
		}
		who.Calendars = append(who.Calendars, cal.ID)
	}
	log := d.logger(slog.LevelWarn, false)
	following, stop := context.WithCancel(ctx)
	defer stop()
	go d.follow(following, followEvery, log)
	limits := mcp.DefaultLimits()
	limits.SessionAge = noSessionEnd
	handler := mcp.New(mcp.Config{
		Service: d.calendars, Limits: limits, Version: d.version, Now: d.now, NewID: d.newID,
		Logger: log,
	})
	return handler.ServeLines(ctx, who, d.stdin, d.stdout)
}
