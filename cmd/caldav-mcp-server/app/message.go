package app

import (
	"context"
	"net/http"
	"time"

	"caldav-mcp-server/cmd/caldav-mcp-server/console"
	"caldav-mcp-server/cmd/caldav-mcp-server/settings"
	"caldav-mcp-server/outbound"
)

// Limits for a message to a device or a webhook, and its response.
const (
	messageTime  = 12 * time.Second
	messageBytes = 16 << 10
)

// Messages sends requests to push services and webhooks.
type Messages struct {
	guard  *outbound.Guard
	limits outbound.Limits
}

// NewMessages returns the Messages of a configuration. Webhooks in the administrator's own networks may use http.
func NewMessages(p *console.Console, c settings.Config) Messages {
	return Messages{
		outbound.New(outbound.Config{Allow: c.FetchAllow, Agent: console.Program + "/" + p.Version, Whom: "push"}),
		outbound.Limits{Time: messageTime, Bytes: messageBytes, Plain: true},
	}
}

// Sendable returns the reason why no message can be sent to an address.
func (m Messages) Sendable(ctx context.Context, address string) error {
	return m.guard.Check(ctx, address, m.limits)
}

// Send sends a message.
func (m Messages) Send(r *http.Request) (outbound.Answer, error) { return m.guard.Send(r, m.limits) }
