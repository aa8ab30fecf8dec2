package main

import (
	"context"
	"time"

	"caldav-mcp-server/cmd/caldav-mcp-server/app"
	"caldav-mcp-server/cmd/caldav-mcp-server/console"
	"caldav-mcp-server/cmd/caldav-mcp-server/settings"
)

// listing is a command that lists items: as a table for people, or as JSON.
type listing[T, J any] struct {
	command
	find  func(ctx context.Context, h *app.App) ([]T, error)
	json  func(T) J
	heads []string
	row   func(one T, now time.Time) []string
}

// asCommand returns the listing as a command, with a flag for JSON.
func (l listing[T, J]) asCommand() command {
	made := l.command
	made.settings, made.json = settings.StoreGroup, true
	made.run = func(ctx context.Context, d *desk, _ []string) error {
		found, err := l.find(ctx, d.App)
		if err != nil {
			return err
		}
		if d.json {
			return d.PrintJSON(console.Each(found, l.json))
		}
		return d.PrintTable(l.heads, console.Each(found, func(one T) []string { return l.row(one, d.Now()) }))
	}
	return made
}
