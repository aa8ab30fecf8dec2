package main

import (
	"context"
	"flag"
	"fmt"
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

// lineAgent is how the journal names what is done by such a host.
const lineAgent = "assistant on this machine"

// noSessionEnd is how long a session lasts: as long as the program that it is with.
const noSessionEnd = 100 * 365 * 24 * time.Hour

// mcpOptions are the flags of mcp.
type mcpOptions struct {
	user, scopes, tools string
	calendars           []string
}

func mcpCommand() command {
	var o mcpOptions
	return command{
		name: "mcp", settings: storeSettings | postSettings,
		summary: "serve one assistant on standard input and output", details: mcpDetails, flags: o.declare,
		run: func(ctx context.Context, p *program, c config, _ []string) error {
			if o.user == "" {
				return wrongUsage("mcp needs --user (see %s mcp --help)", name)
			}
			scopes, err := auth.ParseScopes(o.scopes)
			if err != nil {
				return usageError{fmt.Errorf("--scope: %w", err)}
			}
			tools, scopes, err := parseTools(o.tools, scopes)
			if err != nil {
				return usageError{fmt.Errorf("--tools: %w", err)}
			}
			return p.withHouse(ctx, c, func(h *house) error {
				return p.serveLines(ctx, h, o, calendar.Caller{Scopes: scopes, Tools: tools, Agent: lineAgent})
			})
		},
	}
}

func (o *mcpOptions) declare(f *flag.FlagSet) {
	f.StringVar(&o.user, "user", "", "`NAME` of the user that it speaks for (needed)")
	f.StringVar(&o.scopes, "scope", auth.ScopeList(calendar.ScopeUsual), "`LIST` of what it may do")
	f.StringVar(&o.tools, "tools", "", "`LIST` of the only tools that it is offered, such as core; all if not given")
	f.Func("calendar", "`CALENDAR` that it reaches, by name, address or id; may be given again; all if not given", func(v string) error {
		o.calendars = append(o.calendars, v)
		return nil
	})
}

func (p *program) serveLines(ctx context.Context, h *house, o mcpOptions, who calendar.Caller) error {
	user, err := h.auth.User(ctx, o.user)
	if err != nil {
		return err
	}
	who.User = user
	for _, word := range o.calendars {
		cal, err := h.findCalendar(ctx, user, word)
		if err != nil {
			return err
		}
		who.Calendars = append(who.Calendars, cal.ID)
	}
	log := p.logger(slog.LevelWarn, false)
	following, stop := context.WithCancel(ctx)
	defer stop()
	go h.follow(following, followEvery, log)
	limits := mcp.DefaultLimits()
	limits.SessionAge = noSessionEnd
	handler := mcp.New(mcp.Config{
		Service: h.calendars, Limits: limits, Version: p.version, Now: p.now, NewID: p.newID,
		Logger: log,
	})
	return handler.ServeLines(ctx, who, p.stdin, p.stdout)
}
