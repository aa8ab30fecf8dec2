package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"time"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/server"
	"caldav-mcp-server/store"
)

const serveDetails = `
It opens the CalDAV door and the MCP door, and runs until it is told to stop (SIGINT, SIGTERM); then it finishes the
requests in flight. A second signal ends it at once.

On an empty database it makes a first user, with calendars, a password and an access token, and prints once how to
connect. The user gets the machine's time zone, unless that is UTC; --timezone names another.
`

// serveOptions are the flags of serve.
type serveOptions struct {
	firstUser, timezone string
	noFirstUser         bool
}

func serveCommand() command {
	var o serveOptions
	return command{
		name: "serve", settings: storeSettings | doorSettings | addressSettings | shareSettings | serveSettings,
		summary: "run the server", details: serveDetails,
		flags: func(f *flag.FlagSet) {
			f.StringVar(&o.firstUser, "first-user", "admin", "`NAME` of the user that the first start makes")
			f.StringVar(&o.timezone, "timezone", "", "the `ZONE` of that user, such as Europe/Berlin")
			f.BoolVar(&o.noFirstUser, "no-first-user", false, "make no user")
		},
		run: func(ctx context.Context, p *program, c config, _ []string) error {
			if _, err := auth.CanonicalName(o.firstUser); err != nil {
				return usageError{fmt.Errorf("--first-user: %w", err)}
			}
			if err := auth.CheckTimezone(o.timezone); err != nil {
				return usageError{fmt.Errorf("--timezone: %w", err)}
			}
			return p.serve(ctx, c, o)
		},
	}
}

func (p *program) serve(ctx context.Context, c config, o serveOptions) (err error) {
	log := p.logger(c.logLevel, c.logJSON)
	h, err := p.openHouse(ctx, c, store.Options{Wait: serveWait, Logger: log})
	if err != nil {
		return err
	}
	log.InfoContext(ctx, "starting", "version", p.version, "database", p.database)
	defer func() { err = errors.Join(err, h.store.Close()) }()
	if err := h.store.Migrate(ctx); err != nil {
		return fmt.Errorf("bringing the tables up to date: %w", err)
	}
	if err := h.refreshIndex(ctx, log); err != nil {
		return err
	}
	s, err := p.newServer(ctx, c, h, log)
	if err != nil {
		return err
	}
	if err := s.Listen(ctx); err != nil {
		return err
	}
	c.caldav.port, c.mcp.port = portOf(s.Addr(caldavDoor)), portOf(s.Addr(mcpDoor))
	if !o.noFirstUser {
		if err := p.welcomeFirstUser(ctx, c, h, o); err != nil {
			return err
		}
	}
	defer p.background(ctx, c, h, log)()
	p.announce(ctx, s, log)
	return s.Run(ctx)
}

func portOf(addr string) string {
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		return ""
	}
	return port
}

// announce says where the doors are; whoever chose port 0 learns the port here.
func (p *program) announce(ctx context.Context, s *server.Server, log *slog.Logger) {
	for _, door := range []string{caldavDoor, mcpDoor, metricsDoor} {
		if addr := s.Addr(door); addr != "" {
			log.InfoContext(ctx, "listening", "door", door, "addr", addr)
		}
	}
	log.InfoContext(ctx, "ready")
}

// welcomeFirstUser makes a user where there is none. When two processes find the same empty
// database, one of them makes the user and the other goes on.
func (p *program) welcomeFirstUser(ctx context.Context, c config, h *house, o serveOptions) error {
	users, err := h.auth.Users(ctx)
	if err != nil || len(users) > 0 {
		return err
	}
	password := auth.NewPassword()
	user, err := h.createUser(ctx, auth.NewUser{
		Name: o.firstUser, Password: password, Timezone: cmp.Or(o.timezone, machineZone(p.environ, "/etc")),
	})
	if err != nil && calendar.ReasonOf(err) == calendar.Exists {
		return nil
	}
	if err != nil {
		return err
	}
	_, secret, err := h.auth.CreateToken(ctx, auth.TokenSpec{User: user.Name, Name: "first start", Scopes: calendar.ScopeAll})
	if err != nil {
		return err
	}
	return welcome{c.caldavURL(), c.mcpURL(), user.Name, password, user.Timezone, secret}.write(p.stdout)
}

// pruneEvery is how often the journal is shortened.
const pruneEvery = 24 * time.Hour

// background starts what goes on beside the requests; the function that it returns ends it.
func (p *program) background(ctx context.Context, c config, h *house, log *slog.Logger) (stop func()) {
	// Not ctx: requests in flight still note their tokens' use while the server stops.
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var all sync.WaitGroup
	all.Go(func() { h.auth.Run(ctx) })
	all.Go(func() { p.pruneDaily(ctx, c, h, log) })
	all.Go(func() { returnMemory(ctx, h.calendars.Rest) })
	return func() {
		cancel()
		all.Wait()
	}
}

// pruneDaily forgets what is older than the journal may be. Several processes may do so at once.
func (p *program) pruneDaily(ctx context.Context, c config, h *house, log *slog.Logger) {
	ticker := time.NewTicker(pruneEvery)
	defer ticker.Stop()
	for {
		if err := h.store.Prune(ctx, p.now().AddDate(0, 0, -c.journalDays)); err != nil && ctx.Err() == nil {
			log.WarnContext(ctx, "the journal was not shortened", "error", err)
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}
