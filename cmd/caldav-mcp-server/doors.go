package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/caldav"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/mcp"
	"caldav-mcp-server/server"
)

// The names of the listeners, in logs and metrics.
const (
	caldavDoor  = "caldav"
	mcpDoor     = "mcp"
	metricsDoor = "metrics"
)

// realm is the same on both doors: Thunderbird asks again where it differs.
const realm = "Calendars"

// spareBody is what a request may have beyond the largest object: a multipart or XML wrapper.
const spareBody = 1 << 20

// newServer puts the doors into their frames.
func (p *program) newServer(ctx context.Context, c config, h *house, log *slog.Logger) (*server.Server, error) {
	dav, err := p.caldavDoor(c, h, log)
	if err != nil {
		return nil, err
	}
	meter := server.NewToolMeter()
	tools, err := p.mcpDoor(ctx, c, h, meter, log)
	if err != nil {
		return nil, err
	}
	return server.New(server.Config{
		Doors: []server.Door{dav, tools}, MetricsAddr: c.metricsAddr, Tools: meter, Ready: h.ready, Proxies: c.proxies, Hosts: c.hosts(),
		Timeouts: server.DefaultTimeouts(), Version: p.version, Logger: log, Now: p.now, NewID: p.newID,
	}), nil
}

func (p *program) caldavDoor(c config, h *house, log *slog.Logger) (server.Door, error) {
	handler, err := caldav.New(caldav.Config{Service: h.calendars, BaseURL: c.baseURL, Limits: caldav.DefaultLimits(), Logger: log, Now: p.now})
	if err != nil {
		return server.Door{}, fmt.Errorf("the CalDAV door: %w", err)
	}
	door := auth.Door{
		Schemes: []auth.Scheme{auth.Basic, auth.Bearer}, Realm: realm, ClientAddr: server.ClientAddr, Refuse: auth.RefuseText,
	}
	return server.Door{
		Name: caldavDoor, Addr: c.caldav.String(), Base: c.basePath(), CheckOrigin: true, Origins: c.origins,
		MaxBody: h.calendars.Limits().ObjectBytes + spareBody,
		Handler: handler.Public(handler.Links(h.auth.VerifyLink, h.auth.Require(door, named(handler.ServeDAV)))),
		Routes:  caldav.Routes(),
	}, nil
}

// mcpPath is where the MCP door answers.
const mcpPath = "/mcp"

func (p *program) mcpDoor(ctx context.Context, c config, h *house, meter *server.ToolMeter, log *slog.Logger) (server.Door, error) {
	key, err := h.sessionKey(ctx)
	if err != nil {
		return server.Door{}, err
	}
	config := mcp.Config{
		Service: h.calendars, AllowedOrigins: c.origins, SessionKey: key, Good: h.auth.StillGood, Limits: c.mcpLimits(), Called: meter.Called,
		Version: p.version, Now: p.now, NewID: p.newID, Logger: log,
	}
	if c.baseURL != nil {
		config.BaseURL = c.baseURL.String()
	}
	handler := mcp.New(config)
	door := auth.Door{Schemes: []auth.Scheme{auth.Bearer}, Realm: realm, ClientAddr: server.ClientAddr, Refuse: auth.RefuseJSON}
	inner := handler.Guard(h.auth.Require(door, named(handler.ServeMCP)))
	mux := http.NewServeMux()
	mux.Handle(mcpPath, inner)
	if base := c.basePath(); base != "" {
		mux.Handle(base+mcpPath, inner)
	}
	mux.HandleFunc("/", notHere)
	return server.Door{
		Name: mcpDoor, Addr: c.mcp.String(), Base: c.basePath(), MaxBody: config.Limits.BodyBytes + spareBody,
		Handler: mux, Routes: []string{mcpPath}, Stop: handler.Close,
	}, nil
}

// mcpLimits are what assistants are held to.
func (c config) mcpLimits() mcp.Limits {
	limits := mcp.DefaultLimits()
	limits.Calls = c.mcpCalls
	return limits
}

// notHere answers who knocks at the wrong address of the MCP door. Hosts that look for OAuth
// there learn from the status that there is none.
func notHere(w http.ResponseWriter, _ *http.Request) {
	http.Error(w, "there is nothing here; assistants connect to "+mcpPath, http.StatusNotFound)
}

// named lets the log line say who asked.
func named(next auth.Handler) auth.Handler {
	return func(w http.ResponseWriter, r *http.Request, who calendar.Caller) {
		server.RecordOf(r.Context()).User = who.User.Name
		next(w, r, who)
	}
}

// sessionKey seals the sessions of assistants. All processes on one store have the same.
func (h *house) sessionKey(ctx context.Context) ([]byte, error) {
	return h.store.Secret(ctx, "mcp sessions")
}

// ready tells whether the store can be worked with. Its words go to whoever asks, so they tell
// nothing of the inside.
func (h *house) ready(ctx context.Context) error {
	schema, err := h.store.Schema(ctx)
	if err != nil {
		return errors.New("the database does not answer")
	}
	if !schema.Ready() {
		return errors.New("the database's tables are not those of this version")
	}
	return nil
}

// hosts are the names that the server goes by from outside.
func (c config) hosts() []string {
	if c.baseURL == nil {
		return nil
	}
	return []string{strings.ToLower(c.baseURL.Hostname())}
}

// basePath is the path under which a proxy publishes the server: "" or "/cal".
func (c config) basePath() string {
	if c.baseURL == nil {
		return ""
	}
	return c.baseURL.EscapedPath()
}
