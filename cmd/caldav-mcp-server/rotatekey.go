package main

import (
	"context"
	"path/filepath"

	"caldav-mcp-server/auth/vault"
	"caldav-mcp-server/cmd/caldav-mcp-server/settings"
)

// rotate encrypts all secrets with a new key. Until it is done the file holds both keys, so an interruption loses no
// secret.
func rotate(ctx context.Context, c settings.Config, h *house) (int, error) {
	if len(c.MasterKeys) > 0 {
		return h.calendars.Mirrors.Rotate(ctx)
	}
	file := filepath.Join(c.DataDir, masterKeyFile)
	had, err := vault.In(file)()
	if err != nil {
		return 0, err
	}
	next := vault.NewKey()
	if err := vault.Rewrite(file, append([]vault.Key{next}, had...)); err != nil {
		return 0, err
	}
	n, err := h.calendars.Mirrors.Rotate(ctx)
	if err != nil {
		return n, err
	}
	return n, vault.Rewrite(file, []vault.Key{next})
}
