package command

import (
	"context"
	"time"

	"caldav-mcp-server/cmd/caldav-mcp-server/app"
	"caldav-mcp-server/cmd/caldav-mcp-server/console"
	"caldav-mcp-server/cmd/caldav-mcp-server/settings"
)

// Listing is a command that lists items: as a table for people, or as JSON.
type Listing[T, J any] struct {
	Command
	Find  func(ctx context.Context, h *app.App) ([]T, error)
	JSON  func(T) J
	Heads []string
	Row   func(one T, now time.Time) []string
}

// AsCommand returns the listing as a command, with a flag for JSON.
func (l Listing[T, J]) AsCommand() Command {
	made := l.Command
	made.Settings, made.JSON = settings.StoreGroup, true
	made.Run = func(ctx context.Context, d *Context, _ []string) error {
		found, err := l.Find(ctx, d.App)
		if err != nil {
			return err
		}
		if d.JSON {
			return d.PrintJSON(console.Each(found, l.JSON))
		}
		return d.PrintTable(l.Heads, console.Each(found, func(one T) []string { return l.Row(one, d.Now()) }))
	}
	return made
}
