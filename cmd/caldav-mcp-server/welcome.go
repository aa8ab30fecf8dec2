package main

import (
	"fmt"
	"io"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/cmd/caldav-mcp-server/admin"
	"caldav-mcp-server/cmd/caldav-mcp-server/console"
)

// welcome is the message of the first start, which is shown once.
type welcome struct {
	pagesURL, caldavURL, mcpURL string
	user, password              string
	timezone                    string
	token                       auth.Secret
}

func (v welcome) write(w io.Writer) error {
	block, err := admin.HostBlock(v.mcpURL, v.token)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, `
This is the first start, and what follows is shown only now: keep it.

  Your own page: sign in there, connect apps and assistants, invite others
    URL       %s
    user      %s
    password  %s

  Calendar clients (CalDAV)
    URL       %s
    user      %s
    password  %s

  Assistants (MCP)
    URL       %s
    token     %s

  Claude Code
    %s

  Other hosts
%s

%s

`, v.pagesURL, v.user, v.password, v.caldavURL, v.user, v.password, v.mcpURL, v.token,
		admin.ClaudeLine(v.mcpURL, v.token), block, v.zone())
	if err != nil {
		return fmt.Errorf("showing the first user: %w", err)
	}
	return nil
}

// zone tells the user their time zone, while changing it is still easy.
func (v welcome) zone() string {
	how := fmt.Sprintf("%s set-user %s --timezone ZONE", console.Program, v.user)
	if v.timezone == "" {
		return fmt.Sprintf("  The time zone is UTC. To set yours:\n    %s", how)
	}
	return fmt.Sprintf("  The time zone is %s. To set another:\n    %s", v.timezone, how)
}
