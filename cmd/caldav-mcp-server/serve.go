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

	"caldav-mcp-server/acme"
	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/cmd/caldav-mcp-server/app"
	"caldav-mcp-server/cmd/caldav-mcp-server/command"
	"caldav-mcp-server/cmd/caldav-mcp-server/settings"
	"caldav-mcp-server/push"
	"caldav-mcp-server/remind"
	"caldav-mcp-server/server"
	"caldav-mcp-server/store"
	"caldav-mcp-server/trace"
)

const serveDetails = `
It starts the CalDAV server and the MCP server, and runs until it gets SIGINT or SIGTERM. It then finishes the requests
in flight; a second signal ends it at once. SIGUSR1 makes the log more detailed by one level, SIGUSR2 less.

On an empty database it creates a first user, with calendars, a password and an access token, and prints once how to
connect. The user gets the machine's time zone, unless that is UTC; --timezone sets another.
`

// serveOptions are the flags of serve.
type serveOptions struct {
	firstUser, timezone string
	noFirstUser         bool
}

func serveCommand() command.Command {
	var o serveOptions
	return command.Command{
		Name: "serve", Settings: settings.StoreGroup | settings.DoorGroup | settings.AddressGroup |
			settings.ServiceGroup |
			settings.ServeGroup | settings.MailGroup | settings.SecondGroup, Alone: true,
		Summary: "run the server", Details: serveDetails,
		Flags: func(f *flag.FlagSet) {
			f.StringVar(&o.firstUser, "first-user", "admin", "`NAME` of the user that the first start creates")
			f.StringVar(&o.timezone, "timezone", "", "time `ZONE` of that user, such as Europe/Berlin")
			f.BoolVar(&o.noFirstUser, "no-first-user", false, "create no user")
		},
		Check: func(*command.Context, []string) error {
			if _, err := auth.CanonicalName(o.firstUser); err != nil {
				return fmt.Errorf("--first-user: %w", err)
			}
			if err := auth.CheckTimezone(o.timezone); err != nil {
				return fmt.Errorf("--timezone: %w", err)
			}
			return nil
		},
		Run: func(ctx context.Context, d *command.Context, _ []string) error {
			return (&program{d.Console}).serve(ctx, d.Config, o)
		},
	}
}

func (p *program) serve(ctx context.Context, c settings.Config, o serveOptions) (err error) {
	level := new(slog.LevelVar)
	level.Set(c.LogLevel)
	log := p.Logger(level, c.LogJSON)
	defer followLevelSignals(ctx, level, log)()
	up, meter := p.newStartup(log), server.NewToolMeter()
	if up.measures.tracer, err = p.newTracer(c, log); err != nil {
		return err
	}
	defer up.measures.tracer.Begin(ctx)()
	keeper, err := p.newKeeper(c, log)
	if err != nil {
		return err
	}
	s, err := p.newServer(c, up, keeper, meter, log) // no request reads the certificate again
	if err != nil {
		return err
	}
	if err := s.Listen(ctx); err != nil {
		return err
	}
	c.CalDAV.Port, c.MCP.Port = portOf(s.Addr(caldavDoor)), portOf(s.Addr(mcpDoor))
	p.announce(ctx, s, log)
	told := ctx
	defer p.notifyStop(told)()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ended := make(chan error, 1)
	go func() {
		defer cancel()
		ended <- s.Run(ctx)
	}()
	h, err := p.prepare(ctx, c, o, up, log)
	if h != nil {
		defer func() { err = errors.Join(err, h.Store.Close()) }()
	}
	var stop func()
	if err == nil {
		stop, err = p.open(up.measures.tracer.Own(ctx), c, h, s, keeper, meter, up)
	}
	if err != nil {
		cancel()
		if told.Err() != nil && errors.Is(err, context.Canceled) {
			err = nil // a stop during startup is no error
		}
		return errors.Join(err, <-ended)
	}
	defer stop()
	up.over(h)
	log.InfoContext(ctx, "ready")
	return <-ended
}

// open adds the handlers to the listeners and starts the background tasks; the returned function ends the tasks.
func (p *program) open(ctx context.Context, c settings.Config, h *app.App, s *server.Server, keeper *acme.Keeper,
	meter *server.ToolMeter, up *startup,
) (stop func(), err error) {
	log := up.log
	room, err := p.openMailroom(ctx, c, h, log)
	if err != nil {
		return nil, err
	}
	courier, err := p.newCourier(ctx, c, h, log)
	if err != nil {
		return nil, err
	}
	if err := p.openDoors(ctx, c, h, s, meter, log); err != nil {
		return nil, err
	}
	return p.background(ctx, h, keeper, c.ACME.HTTPAddr != "", room, courier, p.newRinger(c, h, log), up), nil
}

// prepare opens the store and prepares it for serving. It may return an app together with an error; the caller closes
// it.
func (p *program) prepare(ctx context.Context, c settings.Config, o serveOptions, up *startup,
	log *slog.Logger,
) (*app.App, error) {
	ctx = up.measures.tracer.Own(ctx)
	up.tell(ctx, "waiting for the database")
	h, err := app.Open(ctx, p.Console, c, store.Options{
		Wait: app.ServeWait, Logger: log,
		Migrating: func(file string, n, of int) {
			up.tell(ctx, "bringing the tables up to date: %s (%d of %d)", file, n, of)
		},
	})
	if err != nil {
		return nil, err
	}
	log.InfoContext(ctx, "starting", "version", p.Version, "database", p.Database)
	within, end := trace.Task(ctx, "migrate")
	err = h.Store.Migrate(within)
	end(err != nil)
	if err != nil {
		return h, fmt.Errorf("bringing the tables up to date: %w", err)
	}
	logLacks(ctx, h.Store, log)
	if err := h.CheckMasterKey(ctx, c); err != nil {
		return h, err
	}
	if err := h.Declare(ctx, c.Declared); err != nil {
		return h, err
	}
	if err := refreshBlind(ctx, h, up); err != nil {
		return h, err
	}
	if o.noFirstUser {
		return h, nil
	}
	return h, p.welcomeFirstUser(ctx, c, h, o)
}

// logLacks logs which features the database lacks, and the effect.
func logLacks(ctx context.Context, s *store.Store, log *slog.Logger) {
	able, err := s.Abilities(ctx)
	if err != nil {
		log.WarnContext(ctx, "cannot find out which features the database has", "err", err)
	}
	for _, a := range able {
		if a.Lack != nil {
			log.WarnContext(ctx, "the database lacks a feature", "feature", a.Name, "effect", a.Instead, "err", a.Lack)
		}
	}
}

func portOf(addr string) string {
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		return ""
	}
	return port
}

// announce logs the addresses of the listeners, in particular for port 0.
func (p *program) announce(ctx context.Context, s *server.Server, log *slog.Logger) {
	for _, door := range []string{caldavDoor, mcpDoor, metricsDoor, acmeDoor} {
		if addr := s.Addr(door); addr != "" {
			log.InfoContext(ctx, "listening", "door", door, "addr", addr)
		}
	}
}

// welcomeFirstUser creates a user if there is none. If two processes find the same empty database, one of them creates
// the user and the other continues.
func (p *program) welcomeFirstUser(ctx context.Context, c settings.Config, h *app.App, o serveOptions) error {
	users, err := h.Auth.Users(ctx)
	if err != nil || len(users) > 0 {
		return err
	}
	password := auth.NewPassword()
	user, err := h.CreateUser(ctx, auth.NewUser{
		Name: o.firstUser, Password: password, Admin: true,
		Timezone: cmp.Or(o.timezone, h.Service().NewUsers.Timezone, machineZone(p.Environ, "/etc")),
	})
	if err != nil && calendar.ReasonOf(err) == calendar.Exists {
		return nil
	}
	if err != nil {
		return err
	}
	_, secret, err := h.Auth.CreateToken(ctx, auth.TokenSpec{
		User: user.Name, Name: "first start", Scopes: calendar.ScopeAll,
	})
	if err != nil {
		return err
	}
	return welcome{c.PagesURL(), c.CalDAVURL(), c.MCPURL(), user.Name, password, user.Timezone, secret}.write(p.Stdout)
}

// pruneEvery is how often the journal is pruned.
const pruneEvery = 24 * time.Hour

// background starts the background tasks; the returned function ends them.
func (p *program) background(ctx context.Context, h *app.App, keeper *acme.Keeper, plain bool, room *mailroom,
	courier *push.Courier, ringer *remind.Ringer, up *startup,
) (stop func()) {
	log := up.log
	// Not ctx: requests in flight still record the use of their tokens while the server stops.
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var all sync.WaitGroup
	all.Go(func() { h.Auth.Run(ctx) })
	all.Go(func() { h.Follow(ctx, p.Now, app.FollowEvery, log) })
	all.Go(func() { p.pruneDaily(ctx, h, log) })
	all.Go(func() { p.indexWords(ctx, h, log) })
	all.Go(func() { refreshMeanwhile(ctx, h, up) })
	all.Go(func() { p.answerBookings(ctx, h, log) })
	all.Go(func() { p.deleteLater(ctx, h, log) })
	all.Go(func() { app.ReturnMemory(ctx, h.Calendars.Rest) })
	all.Go(func() { room.run(ctx) })
	all.Go(func() { h.Calendars.Mirrors.Run(ctx) })
	all.Go(func() { h.Intake.Run(ctx) })
	if keeper != nil {
		all.Go(func() { keeper.Run(ctx, h.Store, plain) })
	}
	if courier != nil {
		all.Go(func() { courier.Run(ctx) })
	}
	if ringer != nil {
		all.Go(func() { ringer.Run(ctx) })
	}
	return func() {
		cancel()
		all.Wait()
	}
}

// pruneDaily prunes the journal and ended sign-ins. Several processes can run it at once.
func (p *program) pruneDaily(ctx context.Context, h *app.App, log *slog.Logger) {
	ticker := time.NewTicker(pruneEvery)
	defer ticker.Stop()
	for {
		h.Prune(ctx, p.Now(), log)
		if err := h.Auth.Tidy(ctx); err != nil && ctx.Err() == nil {
			log.WarnContext(ctx, "ended sign-ins could not be deleted", "error", err)
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}

// indexEvery is how often pending words are indexed, indexAgain the delay after a failure.
const indexEvery, indexAgain = 5 * time.Second, time.Minute

// indexWords indexes the words of invitations, shortly after they were stored.
func (p *program) indexWords(ctx context.Context, h *app.App, log *slog.Logger) {
	for {
		next := indexEvery
		if err := h.Store.IndexWords(ctx); err != nil && ctx.Err() == nil {
			next = indexAgain
			log.WarnContext(ctx, "indexing words for the search failed and will be retried", "error", err)
		}
		select {
		case <-time.After(calendar.UntilNext(p.Now(), next)):
		case <-ctx.Done():
			return
		}
	}
}
