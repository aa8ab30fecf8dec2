package admin

import (
	"context"
	"path/filepath"

	"caldav-mcp-server/auth/vault"
	"caldav-mcp-server/cmd/caldav-mcp-server/app"
	"caldav-mcp-server/cmd/caldav-mcp-server/settings"
)

// rotate encrypts all secrets with a new key. Until it is done the file holds both keys, so an interruption loses no
// secret.
func rotate(ctx context.Context, c settings.Config, h *app.App) (int, error) {
	if len(c.MasterKeys) > 0 {
		return h.Calendars.Mirrors.Rotate(ctx)
	}
	file := filepath.Join(c.DataDir, app.MasterKeyFile)
	had, err := vault.In(file)()
	if err != nil {
		return 0, err
	}
	next := vault.NewKey()
	if err := vault.Rewrite(file, append([]vault.Key{next}, had...)); err != nil {
		return 0, err
	}
	n, err := h.Calendars.Mirrors.Rotate(ctx)
	if err != nil {
		return n, err
	}
	return n, vault.Rewrite(file, []vault.Key{next})
}
