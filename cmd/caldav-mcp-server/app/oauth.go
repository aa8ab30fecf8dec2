package app

import (
	"context"
	"log/slog"
	"time"

	"caldav-mcp-server/auth/oauth"
	"caldav-mcp-server/cmd/caldav-mcp-server/console"
	"caldav-mcp-server/cmd/caldav-mcp-server/settings"
	"caldav-mcp-server/outbound"
)

// Limits for a client's metadata document (draft-ietf-oauth-client-id-metadata-document §6.6).
const (
	descriptionTime  = 5 * time.Second
	descriptionBytes = 5 << 10
)

// newOAuth returns the authorization server.
func newOAuth(p *console.Console, c settings.Config, s oauth.Store, log *slog.Logger) *oauth.Service {
	guard := outbound.New(outbound.Config{
		Allow: c.FetchAllow, Agent: console.Program + "/" + p.Version, Whom: "client",
	})
	limits := outbound.Limits{Time: descriptionTime, Bytes: descriptionBytes}
	return oauth.New(oauth.Config{
		Store: s, Now: p.Now, Limits: oauth.DefaultLimits(), Logger: log,
		Fetch: func(ctx context.Context, address string) ([]byte, string, error) {
			d, err := guard.Get(ctx, address, "application/json", limits)
			return d.Body, d.Header.Get("Cache-Control"), err
		},
	})
}
