package main

import (
	"context"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/auth/oidc"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/cmd/caldav-mcp-server/app"
	"caldav-mcp-server/cmd/caldav-mcp-server/settings"
	"caldav-mcp-server/web"
)

// provider is the identity provider, or nil.
func (p *program) provider(c settings.SignIn) *oidc.Provider {
	if c.Issuer == "" {
		return nil
	}
	config := oidc.Config{
		Issuer: c.Issuer, ClientID: c.ClientID, ClientSecret: c.ClientSecret, Scopes: c.Scopes,
		Require: oidc.Claim{Name: c.RequiredClaim, Value: c.RequiredValue}, Now: p.Now,
	}
	if len(c.Groups) > 0 {
		config.GroupsClaim = c.GroupsClaim
	}
	return oidc.New(config)
}

// editUser is ChangeUser for the web pages, which do not list the moved calendars.
func editUser(ctx context.Context, h *app.App, name string, e auth.UserEdit) (calendar.User, error) {
	u, _, err := h.ChangeUser(ctx, name, e)
	return u, err
}

// facts describes the state of the server for administrators.
func (p *program) facts(h *app.App) func(context.Context) web.Health {
	return func(ctx context.Context) web.Health {
		state := "ready"
		if err := readiness(ctx, h); err != nil {
			state = err.Error()
		}
		return web.Health{{Name: "Database", Value: p.Database}, {Name: "State", Value: state}}
	}
}
