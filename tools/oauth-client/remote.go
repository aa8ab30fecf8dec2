package main

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
)

// remote is mcp-remote, which talks to a host on its standard streams, and to the server by OAuth.
type remote struct {
	*bench
	*node
	last int
}

// mcpRemote runs its whole life.
func mcpRemote(described bool) func(context.Context, *bench) error {
	return func(ctx context.Context, b *bench) error {
		k := kept{filepath.Join(b.work, fmt.Sprintf("mcp-remote-%t", described))}
		port, err := freePort()
		if err != nil {
			return err
		}
		args := []string{
			filepath.Join(b.modules, "mcp-remote/dist/proxy.js"), b.server.mcp, port, "--transport", "http-only",
		}
		name := "MCP CLI Proxy"
		if described {
			args, name = append(args, "--client-metadata-url", b.description()), describedName
		}
		n, err := b.node(ctx, []string{"MCP_REMOTE_CONFIG_DIR=" + k.dir}, args...)
		if err != nil {
			return err
		}
		defer n.stop()
		r := &remote{b, n, 0}
		if _, err := n.until(ctx, b, authorizeURL,
			regexp.MustCompile(`(?i)proxy established|Connected to remote server`)); err != nil {
			return fmt.Errorf("connecting: %w", err)
		}
		return r.goThrough(ctx, name, k)
	}
}

// goThrough sends the messages of a host after connecting.
func (r *remote) goThrough(ctx context.Context, name string, k kept) error {
	err := r.ask(ctx, `"(serverInfo)"`, "initialize", map[string]any{
		"protocolVersion": "2025-06-18", "capabilities": map[string]any{},
		"clientInfo": map[string]any{"name": "judge", "version": "1"},
	})
	if err == nil {
		err = r.say(map[string]any{"method": "notifications/initialized"})
	}
	if err == nil {
		err = r.ask(ctx, `"name":"(list_calendars)"`, "tools/list", nil)
	}
	status := func() error {
		return r.ask(ctx, "("+regexp.QuoteMeta(name)+` \()`, "tools/call", map[string]any{
			"name": "calendar_auth_status", "arguments": map[string]any{},
		})
	}
	if err == nil {
		err = status()
	}
	if err == nil {
		err = k.renewed(status)
	}
	if err != nil {
		return err
	}
	return r.out(ctx, name, k)
}

// ask sends a message and checks that the response contains a text.
func (r *remote) ask(ctx context.Context, wanted, method string, params map[string]any) error {
	r.last++
	message := map[string]any{"id": r.last, "method": method}
	if params != nil {
		message["params"] = params
	}
	if err := r.say(message); err != nil {
		return err
	}
	_, err := r.until(ctx, r.bench, authorizeURL, regexp.MustCompile(wanted))
	if err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	return nil
}

func (r *remote) say(message map[string]any) error {
	message["jsonrpc"] = "2.0"
	data, err := json.Marshal(message)
	if err != nil {
		return err
	}
	_, err = r.in.Write(append(data, '\n'))
	return err
}
