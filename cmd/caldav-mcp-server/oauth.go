package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/auth/oauth"
	"caldav-mcp-server/cmd/caldav-mcp-server/app"
	"caldav-mcp-server/cmd/caldav-mcp-server/settings"
	"caldav-mcp-server/server"
	"caldav-mcp-server/web"
)

// frontage is the server as seen from outside.
type frontage struct {
	settings.Config
	// server knows the ports of its listeners.
	server *server.Server
}

// site returns the public URLs for a request. Without BASE_URL, only requests to a loopback name have any: the Host
// header proves nothing, and OAuth without TLS is safe only on the loopback interface.
func (f *frontage) site(r *http.Request) (oauth.Site, bool) {
	if f.BaseURL != nil {
		return oauth.Site{Issuer: f.BaseURL.String(), Resource: auth.Resource(f.MCPURL())}, true
	}
	host := hostOf(r.Host)
	if !settings.IsLoopback(host) {
		return oauth.Site{}, false
	}
	at := func(door string) string { return "http://" + net.JoinHostPort(host, portOf(f.server.Addr(door))) }
	resource := at(mcpDoor) + settings.MCPPath
	if f.MCPAt != nil {
		resource = f.MCPURL()
	}
	return oauth.Site{Issuer: at(caldavDoor), Resource: auth.Resource(resource)}, true
}

// hostOf is a Host header without its port.
func hostOf(header string) string {
	if host, _, err := net.SplitHostPort(header); err == nil {
		return host
	}
	return strings.Trim(header, "[]")
}

// protected describes the MCP endpoint as an OAuth resource.
func (f *frontage) protected(r *http.Request) (auth.Protected, bool) {
	site, ok := f.site(r)
	if !ok {
		return auth.Protected{}, false
	}
	return auth.Protected{
		Resource: site.Resource, Metadata: web.ResourceMetadata(site.Resource), Scopes: web.FirstScopes,
	}, true
}

// oauthPages configures the OAuth pages; nil if OAUTH is off.
func (f *frontage) oauthPages(ctx context.Context, h *app.App) (*web.OAuth, error) {
	if !f.OAuth {
		return nil, nil // OAuth is off
	}
	key, err := h.Store.Secret(ctx, "oauth consent")
	if err != nil {
		return nil, fmt.Errorf("the key of consent: %w", err)
	}
	return &web.OAuth{Service: h.OAuth, Site: f.site, Key: key}, nil
}
