package admin

import (
	"context"
	"strings"
	"time"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/auth/oauth"
	"caldav-mcp-server/cmd/caldav-mcp-server/app"
	"caldav-mcp-server/cmd/caldav-mcp-server/command"
	"caldav-mcp-server/cmd/caldav-mcp-server/console"
)

// listedClient is a client in JSON.
type listedClient struct {
	ID        auth.ClientID `json:"id"`
	Name      string        `json:"name"`
	Kind      oauth.Kind    `json:"kind"`
	Redirects []string      `json:"redirects"`
	Method    oauth.Method  `json:"method"`
	Created   *time.Time    `json:"created"`
	LastUsed  *time.Time    `json:"last_used"`
}

func clientJSON(c oauth.Client) listedClient {
	return listedClient{
		c.ID, c.Name, c.Kind, c.Redirects, c.Method, console.JSONTime(c.Created), console.JSONTime(c.Used),
	}
}

// ListClientsCommand is the command list-clients.
func ListClientsCommand() command.Command {
	return command.Listing[oauth.Client, listedClient]{
		Command: command.Command{Name: "list-clients", Summary: "list OAuth clients (assistants)"},
		Find:    func(ctx context.Context, h *app.App) ([]oauth.Client, error) { return h.OAuth.Clients(ctx) },
		JSON:    clientJSON,
		Heads:   []string{"ID", "NAME", "KIND", "REDIRECTS", "CREATED", "LAST USED"},
		Row: func(c oauth.Client, _ time.Time) []string {
			return []string{
				shownClient(c.ID), c.Name, string(c.Kind), strings.Join(c.Redirects, " "), console.ShownTime(c.Created),
				console.ShownTime(c.Used),
			}
		},
	}.AsCommand()
}
