package main

import (
	"context"
	"fmt"
	"log/slog"

	"caldav-mcp-server/calendar"
)

const reindexDetails = `
It rebuilds what the database indexes of every object from the object's own bytes. It changes nothing that a
client sees, and the server may run meanwhile.
`

func reindexCommand() command {
	return command{
		name: "reindex", settings: storeSettings,
		summary: "rebuild the index of all objects", details: reindexDetails,
		run: func(ctx context.Context, p *program, c config, _ []string) error {
			return p.withHouse(ctx, c, func(h *house) error {
				n, err := h.reindex(ctx)
				if err != nil {
					return err
				}
				_, err = fmt.Fprintf(p.stdout, "rebuilt the index of %d objects\n", n)
				return err
			})
		},
	}
}

// reindex rebuilds the index and notes by which rules.
func (h *house) reindex(ctx context.Context) (int, error) {
	n, err := h.calendars.Reindex(ctx)
	if err != nil {
		return n, err
	}
	return n, h.store.SetDerivation(ctx, calendar.Derivation)
}

// refreshIndex reindexes a store that an older program has filled: its index may hide events from
// the searches of this one. A newer program's index is left alone.
func (h *house) refreshIndex(ctx context.Context, log *slog.Logger) error {
	made, err := h.store.Derivation(ctx)
	if err != nil || made >= calendar.Derivation {
		return err
	}
	n, err := h.reindex(ctx)
	if err != nil {
		return fmt.Errorf("rebuilding the index: %w", err)
	}
	log.InfoContext(ctx, "rebuilt the index", "objects", n, "from", made, "to", calendar.Derivation)
	return nil
}
