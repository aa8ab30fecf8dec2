package admin

import (
	"encoding/json"
	"fmt"
	"io"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/cmd/caldav-mcp-server/console"
)

// writeTokenHelp prints a new token, with instructions for using it.
func writeTokenHelp(w io.Writer, apps, url string, t auth.Token, secret auth.Secret) error {
	block, err := HostBlock(url, secret)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, `The token of %s for %q is shown only now: keep it.

  URL       %s
  token     %s
  id        %s   (for revoke-token)
  good for  %s
%s
  Claude Code
    %s

  Other hosts
%s
`, t.UserName, console.Shown(t.Name), url, secret, t.ID, goodFor(t), appLines(apps, t), ClaudeLine(url, secret), block)
	if err != nil {
		return fmt.Errorf("showing the token: %w", err)
	}
	return nil
}

// goodFor describes a token's rights and expiry.
func goodFor(t auth.Token) string {
	text := scopesText(t.Scopes)
	if t.Calendars != nil {
		text += ", in " + fmt.Sprintf("%d of the calendars", len(t.Calendars))
	}
	if less := lessText(t.Rights); less != "" {
		text += ", limited by calendar (" + less + ")"
	}
	if t.Tools != nil {
		text += ", by the tools " + toolsText(t.Tools)
	}
	if !t.Expires.IsZero() {
		return text + ", until " + console.ShownTime(t.Expires)
	}
	return text + ", until it is revoked"
}

// appLines are the instructions for calendar apps. A token restricted to some tools does not work with them.
func appLines(url string, t auth.Token) string {
	if t.Tools != nil {
		return ""
	}
	return fmt.Sprintf("\n  Calendar apps\n    address %s, user name %s, and the token as the password\n", url,
		t.UserName)
}

// ClaudeLine is the command that adds the server to Claude Code.
func ClaudeLine(url string, token auth.Secret) string {
	return fmt.Sprintf(`claude mcp add --transport http calendar %s --header "Authorization: Bearer %s"`, url, token)
}

// HostBlock is the configuration that most MCP hosts read.
func HostBlock(url string, token auth.Secret) (string, error) {
	type server struct {
		Type    string            `json:"type"`
		URL     string            `json:"url"`
		Headers map[string]string `json:"headers"`
	}
	block, err := json.MarshalIndent(map[string]map[string]server{
		"mcpServers": {"calendar": {"http", url, map[string]string{"Authorization": "Bearer " + string(token)}}},
	}, "    ", "  ")
	if err != nil {
		return "", fmt.Errorf("writing JSON: %w", err)
	}
	return "    " + string(block), nil
}
