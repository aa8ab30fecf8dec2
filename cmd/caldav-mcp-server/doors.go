package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"time"

	"caldav-mcp-server/acme"
	"caldav-mcp-server/auth"
	"caldav-mcp-server/caldav"
	"caldav-mcp-server/calendar"
	rules "caldav-mcp-server/calendar/booking"
	"caldav-mcp-server/calendar/mailbox"
	"caldav-mcp-server/calendar/zone"
	"caldav-mcp-server/cmd/caldav-mcp-server/app"
	"caldav-mcp-server/cmd/caldav-mcp-server/command"
	"caldav-mcp-server/cmd/caldav-mcp-server/console"
	"caldav-mcp-server/cmd/caldav-mcp-server/doctor"
	"caldav-mcp-server/cmd/caldav-mcp-server/settings"
	"caldav-mcp-server/mcp"
	"caldav-mcp-server/mcp/guest"
	"caldav-mcp-server/server"
	"caldav-mcp-server/trace"
	"caldav-mcp-server/web"
	"caldav-mcp-server/web/booking"
	"caldav-mcp-server/web/outside"
)

// The names of the listeners, in logs and metrics.
const (
	caldavDoor  = "caldav"
	mcpDoor     = "mcp"
	metricsDoor = "metrics"
	acmeDoor    = "acme"
)

// realm is the same on both listeners: Thunderbird asks for the password again if it differs.
const realm = "Calendars"

// spareBody is the size that a request may have beyond the largest object, for a multipart or XML wrapper.
const spareBody = 1 << 20

// newServer creates the server with empty listeners. openDoors adds the handlers once the store is ready.
func (p *program) newServer(c settings.Config, up *startup, keeper *acme.Keeper, meter *server.ToolMeter,
	log *slog.Logger,
) (*server.Server, error) {
	audit, err := command.OpenAudit(p.Console, c, log)
	if err != nil {
		return nil, err
	}
	secure, err := tlsConfig(c, keeper, log)
	if err != nil {
		return nil, err
	}
	sockets, err := sockets(settings.Environment(p.Environ), os.Getpid())
	if err != nil {
		return nil, err
	}
	timeouts := server.DefaultTimeouts()
	timeouts.Leave = time.Duration(c.StopDelay) * time.Second
	return server.New(server.Config{
		Doors: append([]server.Door{
			{Name: caldavDoor, Addr: c.CalDAV.String(), Base: c.BasePath(), MaxBody: spareBody},
			{Name: mcpDoor, Addr: c.MCP.String(), Base: c.BasePath(), MaxBody: spareBody},
		}, plainDoors(c, keeper)...),
		MetricsAddr: c.MetricsAddr, Tracer: up.measures.tracer, Audit: audit, Tools: meter, Measures: up.measures.read,
		Ready: up.ask, Proxies: c.Proxies, Hosts: c.Hosts(),
		Sockets: sockets, TLS: secure, Timeouts: timeouts, Version: p.Version, Logger: log, Now: p.Now, NewID: p.NewID,
	}), nil
}

// openDoors adds the handlers to the listeners.
func (p *program) openDoors(ctx context.Context, c settings.Config, h *app.App, s *server.Server,
	meter *server.ToolMeter, log *slog.Logger,
) error {
	front := &frontage{Config: c, server: s}
	pages, err := p.pages(ctx, front, h, log)
	if err != nil {
		return err
	}
	dav, err := p.caldavDoor(ctx, c, h, pages, log)
	if err != nil {
		return err
	}
	tools, err := p.mcpDoor(ctx, front, h, pages, meter, log)
	if err != nil {
		return err
	}
	s.Open(dav, tools)
	return nil
}

func (p *program) caldavDoor(ctx context.Context, c settings.Config, h *app.App, pages *web.Handler,
	log *slog.Logger,
) (server.Door, error) {
	told, err := davPush(ctx, h, c)
	if err != nil {
		return server.Door{}, fmt.Errorf("the keys of push messages: %w", err)
	}
	handler, err := caldav.New(caldav.Config{
		Service: h.Calendars, BaseURL: c.BaseURL, Limits: caldav.DefaultLimits(), Logger: log, Now: p.Now, Way: wayOf,
		Trouble: func(ctx context.Context) string {
			if err := readiness(ctx, h); err != nil {
				return err.Error()
			}
			return ""
		},
		Push:     told,
		LinkPage: pages.ServeLink,
		Did:      func(ctx context.Context, what, whom string) { server.RecordOf(ctx).Did(what, whom) },
		Reports:  func(ctx context.Context, kind string) { server.RecordOf(ctx).Reports(kind) },
	})
	if err != nil {
		return server.Door{}, fmt.Errorf("the CalDAV server: %w", err)
	}
	door := auth.Door{
		Schemes: []auth.Scheme{auth.Basic, auth.Bearer}, Realm: realm, ClientAddr: server.ClientAddr,
		Refuse: auth.RefuseText,
	}
	return server.Door{
		Name: caldavDoor, Addr: c.CalDAV.String(), Base: c.BasePath(), CheckOrigin: true, Origins: c.Origins,
		AnyOrigin: pages.AnyOrigin,
		MaxBody:   h.Calendars.Limits().ObjectBytes + spareBody,
		OwnLimits: pages.HasPage,
		Handler: pages.Before(
			handler.Public(handler.Links(h.Auth.VerifyLink, h.Auth.Require(door, named(handler.ServeDAV)))),
		),
		Routes: append(caldav.Routes(), pages.Routes()...),
	}, nil
}

// wayOf says how a request reached the server, and names the address it came from.
func wayOf(r *http.Request) string {
	record := server.RecordOf(r.Context())
	return string(record.Way) + " " + record.Peer.String()
}

// pages returns the handler of the web pages. They share the CalDAV listener, so that one name serves both.
func (p *program) pages(ctx context.Context, front *frontage, h *app.App, log *slog.Logger) (*web.Handler, error) {
	oauth, err := front.oauthPages(ctx, h)
	if err != nil {
		return nil, err
	}
	h.Serves = true
	config := web.Config{
		Auth: h.Auth, Service: h.Calendars, Intake: h.Intake, BaseURL: front.BaseURL, ClientAddr: server.ClientAddr,
		Defaults: h.NewUserDefaults, SetDefaults: h.SetNewUserDefaults,
		NewUser: h.CreateUser, NewRoom: h.CreateRoom, ChangeUser: func(ctx context.Context, name string,
			e auth.UserEdit,
		) (calendar.User, error) {
			return editUser(ctx, h, name, e)
		}, DeleteUser: func(ctx context.Context, u calendar.User, how calendar.UserDeletion) (later bool, err error) {
			_, later, err = h.DeleteUser(ctx, u, how)
			return later, err
		}, IsDeletedLater: h.IsDeletedLater,
		Provider: p.provider(front.SignIn), CreateUsers: func() bool { return h.Service().CreateUsers },
		OnlyProvider: front.SignIn.Only, ProviderGroups: front.SignIn.Groups,
		Facts: p.facts(h), Checks: p.checks(front.Config), Polls: app.PollsOf(p.Console, front.Config, h),
		MCPURL: front.MCPURL(), LinkPath: caldav.LinkPath, OAuth: oauth,
		Named:   func(ctx context.Context, user string) { server.RecordOf(ctx).User = user },
		Refused: func(ctx context.Context) { server.RecordOf(ctx).RefuseForm() },
		Did:     func(ctx context.Context, what, whom string) { server.RecordOf(ctx).Did(what, whom) },
		Details: func(ctx context.Context, calendar, detail string) {
			server.RecordOf(ctx).Details(calendar, detail)
		},
		Unchanged: func(ctx context.Context) { server.RecordOf(ctx).Quiet() },
		Now:       p.Now, Version: p.Version, Logger: log,
	}
	if audit := front.server.Audit(); audit.Readable() {
		config.Audit = func(before int64, most int, match func(web.AuditEvent) bool) ([]web.AuditEvent, int64, error) {
			found, next, err := audit.Read(before, most, func(d server.AuditEvent) bool {
				return match(web.AuditEvent(d))
			})
			return console.Each(found, func(d server.AuditEvent) web.AuditEvent { return web.AuditEvent(d) }), next, err
		}
	}
	if err := p.mailPages(ctx, front.Config, h, &config, log); err != nil {
		return nil, fmt.Errorf("the pages: %w", err)
	}
	if err := p.notificationPages(ctx, front.Config, h, &config, log); err != nil {
		return nil, fmt.Errorf("the pages: %w", err)
	}
	if front.Push {
		config.WebhookSecret = h.WebhookSecret
	}
	config.Consents = map[string]web.Consent{}
	for kind, one := range app.ConsentsOf(p.Console, front.Config, zone.NewDB()) {
		config.Consents[kind] = one
	}
	pages, err := web.New(config)
	if err != nil {
		return nil, fmt.Errorf("the pages: %w", err)
	}
	return pages, nil
}

// checkNames are the names of the doctor's checks on the pages.
var checkNames = map[string]string{
	doctor.Answers: "answers", doctor.Encrypted: "encrypted", doctor.Apps: "apps", doctor.Endpoint: "endpoint",
	doctor.SignIn: "sign-in",
}

// checks returns the checks of the server at its public addresses; nil if it knows none.
func (p *program) checks(c settings.Config) func(context.Context) ([]web.Check, error) {
	if c.BaseURL == nil {
		return nil
	}
	return func(ctx context.Context) ([]web.Check, error) {
		found, err := doctor.Outside(ctx, p.Console, c, c.BaseURL.String(), c.MCPURL())
		return console.Each(found, func(f doctor.Finding) web.Check {
			return web.Check{Name: checkNames[f.Check], Result: f.Result, Detail: f.Detail, Mend: f.Mend}
		}), err
	}
}

// mailPages enables the page features that need mail, if mail is configured.
func (p *program) mailPages(ctx context.Context, c settings.Config, h *app.App, pages *web.Config,
	log *slog.Logger,
) error {
	answers, err := app.AnswersOf(ctx, p.Console, c, h)
	if err != nil {
		return err
	}
	if answers != nil {
		pages.Answers = answers
	}
	proofs, err := app.ProofsOf(ctx, p.Console, c, h)
	if err != nil {
		return err
	}
	if proofs != nil {
		pages.Proofs = proofs
	}
	digests, err := app.DigestsOf(ctx, p.Console, c, h)
	if err != nil {
		return err
	}
	if digests != nil {
		pages.Digests = digests
	}
	if pages.Bookings, err = app.BookingsOf(p.Console, c, h, log); err != nil {
		return err
	}
	links, err := app.PasslinksOf(p.Console, c)
	if links != nil {
		pages.Passlinks = links
	}
	return err
}

func (p *program) mcpDoor(ctx context.Context, front *frontage, h *app.App, pages *web.Handler, meter *server.ToolMeter,
	log *slog.Logger,
) (server.Door, error) {
	key, err := sessionKey(ctx, h)
	if err != nil {
		return server.Door{}, err
	}
	c := front.Config
	door := auth.Door{
		Schemes: []auth.Scheme{auth.Bearer}, Realm: realm, ClientAddr: server.ClientAddr, Refuse: auth.RefuseJSON,
	}
	if c.OAuth {
		door.Protected = front.protected
	}
	config := mcp.Config{
		Service: h.Calendars, StepUp: door.Insufficient, AllowedOrigins: c.Origins, SessionKey: key,
		Good:   h.Auth.StillGood,
		Limits: mcpLimits(c), Called: meter.Called, Did: func(ctx context.Context, tool, outcome string, changes bool) {
			trace.Of(ctx).Text("caldav_mcp.tool", tool)
			server.RecordOf(ctx).Called(tool, outcome, changes)
		},
		Version: p.Version, Now: p.Now, NewID: p.NewID, Logger: log, Mail: mailbox.New(h.Calendars.Mirrors, p.Now, log),
		PagesURL: c.CalDAVURL(),
	}
	if pages.Bookings != nil {
		config.Bookings = pages.Bookings
	}
	if c.BaseURL != nil {
		config.BaseURL = c.BaseURL.String()
	}
	if c.Push {
		config.WebhookSecret = h.WebhookSecret
	}
	handler := mcp.New(config)
	inner := handler.Guard(h.Auth.Require(door, named(onlyAsked(handler.ServeMCP))))
	stop := handler.Close
	if pages.Bookings != nil {
		guests := p.guests(config, pages.Bookings)
		inner, stop = bookingDoor(guests, inner), func() { handler.Close(); guests.Close() }
	}
	mux := http.NewServeMux()
	// Some users type the address with a slash at its end.
	for _, path := range [...]string{settings.MCPPath, settings.MCPPath + "/{$}"} {
		mux.Handle(path, inner)
		if base := c.BasePath(); base != "" {
			mux.Handle(base+path, inner)
		}
	}
	mux.HandleFunc("/", notHere)
	return server.Door{
		Name: mcpDoor, Addr: c.MCP.String(), Base: c.BasePath(), MaxBody: config.Limits.BodyBytes + spareBody,
		Handler: pages.Discovery(mux), Routes: append([]string{settings.MCPPath}, web.DiscoveryRoutes()...),
		Stop: stop,
	}, nil
}

// guests serves the assistants of booking pages' visitors.
func (p *program) guests(c mcp.Config, pages *booking.Service) *guest.Handler {
	return guest.New(guest.Config{
		Pages: pages, BaseURL: c.BaseURL, AllowedOrigins: c.AllowedOrigins, Key: c.SessionKey, Version: c.Version,
		Now: c.Now, NewID: c.NewID, Logger: c.Logger,
	})
}

// bookingDoor passes the requests that name a booking page to its guests, without login. The name is a parameter, so
// that proxies need no rule for another path.
func bookingDoor(guests *guest.Handler, next http.Handler) http.Handler {
	inner := guests.Guard(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		guests.Serve(w, r, rules.Visitor{
			Page: r.URL.Query().Get(rules.PageParameter), Network: outside.Network(server.ClientAddr(r)),
		})
	}))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Has(rules.PageParameter) {
			inner.ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// mcpLimits are the limits for assistants.
func mcpLimits(c settings.Config) mcp.Limits {
	limits := mcp.DefaultLimits()
	limits.Calls = c.MCPCalls
	return limits
}

// notHere answers requests for other paths on the MCP listener. The 404 also tells hosts that there is no OAuth.
func notHere(w http.ResponseWriter, _ *http.Request) {
	http.Error(w, "there is nothing here; assistants connect to "+settings.MCPPath, http.StatusNotFound)
}

// named puts the user's name into the log line, and the token into the audit log.
func named(next auth.Handler) auth.Handler {
	return func(w http.ResponseWriter, r *http.Request, who calendar.Caller) {
		record := server.RecordOf(r.Context())
		record.User, record.Token = who.User.Name, string(who.Token)
		next(w, r, who)
	}
}

// onlyAsked keeps read-only MCP requests out of the audit log.
func onlyAsked(next auth.Handler) auth.Handler {
	return func(w http.ResponseWriter, r *http.Request, who calendar.Caller) {
		server.RecordOf(r.Context()).Quiet()
		next(w, r, who)
	}
}

// sessionKey authenticates MCP sessions. All processes on one store share it.
func sessionKey(ctx context.Context, h *app.App) ([]byte, error) {
	return h.Store.Secret(ctx, "mcp sessions")
}

// readiness reports whether the store is usable. Its errors go to strangers, so they reveal no internals.
func readiness(ctx context.Context, h *app.App) error {
	schema, err := h.Store.Schema(ctx)
	if err != nil {
		return errors.New("the database does not respond")
	}
	if !schema.Ready() {
		return errors.New("the database has the tables of another version")
	}
	if h.Store.DiskFull(ctx) {
		return server.ImpairedError{Why: "the disk of the database is full: changes are refused until it has room"}
	}
	return nil
}
