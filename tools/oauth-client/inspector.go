package main

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"regexp"
)

// inspector is the command-line Inspector, which keeps its tokens in a directory between calls.
type inspector struct {
	*bench
	kept kept
	// described is set for a described client; at is the redirect URI.
	described bool
	at        string
}

// inspectorCommand runs the Inspector's whole life.
func inspectorCommand(described bool) func(context.Context, *bench) error {
	return func(ctx context.Context, b *bench) error {
		port, err := freePort()
		if err != nil {
			return err
		}
		i := &inspector{
			b,
			kept{filepath.Join(b.work, fmt.Sprintf("inspector-%t", described))},
			described,
			"http://127.0.0.1:" + port + "/callback",
		}
		name := "MCP Inspector"
		if described {
			name = describedName
		}
		if _, err := i.ask(ctx, `"(list_calendars)"`, "tools/list"); err != nil {
			return fmt.Errorf("listing tools: %w", err)
		}
		status := func() error {
			_, err := i.ask(ctx, "("+regexp.QuoteMeta(name)+` \()`, "tools/call", "--tool-name", "calendar_auth_status",
				"--stored-auth-only")
			return err
		}
		if err := status(); err != nil {
			return fmt.Errorf("calling a tool: %w", err)
		}
		if err := i.kept.renewed(status); err != nil {
			return err
		}
		if err := b.out(ctx, name, i.kept); err != nil {
			return err
		}
		if _, err := i.ask(ctx, `"(auth_required)"`, "tools/list", "--stored-auth-only"); err != nil {
			return fmt.Errorf("a call after it was revoked: %w", err)
		}
		return nil
	}
}

// ask runs one method and checks that the output contains a text.
func (i *inspector) ask(ctx context.Context, wanted, method string, more ...string) (string, error) {
	args := []string{
		filepath.Join(i.modules, "@modelcontextprotocol/inspector/clients/cli/build/index.js"), "--server-url",
		i.server.mcp, "--transport", "http",
		"--format", "json", "--callback-url", i.at, "--method", method,
	}
	if i.described {
		args = append(args, "--client-metadata-url", i.description())
	}
	n, err := i.node(ctx, []string{
		"MCP_STORAGE_DIR=" + i.kept.dir, "MCP_INSPECTOR_SECRET_STORE=file", "MCP_AUTO_OPEN_ENABLED=true",
	}, append(args, more...)...)
	if err != nil {
		return "", err
	}
	defer n.stop()
	return n.until(ctx, i.bench, authorizeURL, regexp.MustCompile(wanted))
}

// out revokes a client on the page, and checks that the next request with its token fails.
func (b *bench) out(ctx context.Context, name string, k kept) error {
	access, _, _, err := k.find()
	if err != nil {
		return err
	}
	if status, err := b.knock(ctx, access); err != nil || status != http.StatusOK {
		return fmt.Errorf("before it was revoked: %d, %w", status, err)
	}
	if err := b.browser.revoke(name); err != nil {
		return fmt.Errorf("revoking: %w", err)
	}
	if status, err := b.knock(ctx, access); err != nil || status != http.StatusUnauthorized {
		return fmt.Errorf("after it was revoked: %d, %w", status, err)
	}
	return nil
}
