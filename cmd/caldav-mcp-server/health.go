package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"caldav-mcp-server/cmd/caldav-mcp-server/command"
	"caldav-mcp-server/cmd/caldav-mcp-server/console"
	"caldav-mcp-server/cmd/caldav-mcp-server/settings"
)

const healthDetails = `
It asks the CalDAV and the MCP server on this machine, with the same settings, and fails unless both are ready.
Container engines call it.
`

// maxHealthAnswer limits the response, which is one line.
const maxHealthAnswer = 1000

func healthCommand() command.Command {
	var wait time.Duration
	return command.Command{
		Name: "health", Settings: settings.DoorGroup, Alone: true,
		Summary: "check whether the server on this machine is ready", Details: healthDetails,
		Flags: func(f *flag.FlagSet) {
			f.DurationVar(&wait, "timeout", 4*time.Second, "how `LONG` to wait for the responses")
		},
		Run: func(ctx context.Context, d *command.Context, _ []string) error {
			ctx, cancel := context.WithTimeout(ctx, wait)
			defer cancel()
			said, err := askReady(ctx, d.Config, "CalDAV", d.Config.CalDAV)
			_, of := askReady(ctx, d.Config, "MCP", d.Config.MCP)
			if err := errors.Join(err, of); err != nil {
				return err
			}
			_, err = fmt.Fprintln(d.Stdout, said)
			return err
		},
	}
}

// askReady returns the server's word: "ready", or what it cannot do although it is.
func askReady(ctx context.Context, c settings.Config, door string, at settings.Address) (string, error) {
	scheme, transport := "http://", new(http.Transport)
	if c.TLSCert != "" || c.ACME.Directory != "" {
		own, err := ownTLS(c)
		if err != nil {
			return "", err
		}
		scheme, transport.TLSClientConfig = "https://", own
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, scheme+at.Reachable()+"/readyz", nil)
	if err != nil {
		return "", fmt.Errorf("%s: %w", door, err)
	}
	// Not the default transport: the request must not leave the machine through a proxy.
	answer, err := transport.RoundTrip(r)
	if err != nil {
		return "", fmt.Errorf("the %s server does not respond: %w", door, err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, maxHealthAnswer))
	if err != nil {
		return "", fmt.Errorf("the %s server does not respond: %w", door, err)
	}
	said := console.Shown(strings.TrimSpace(string(text)))
	if answer.StatusCode != http.StatusOK {
		return "", fmt.Errorf("the %s server says: %s", door, said)
	}
	return said, nil
}
