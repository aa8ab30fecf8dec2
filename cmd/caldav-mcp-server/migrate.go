package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
)

const migrateDetails = `
serve does this by itself when it starts. A database that a newer version has used is refused: there is no way
back but a backup.
`

func migrateCommand() command {
	return command{
		name: "migrate", settings: storeSettings,
		summary: "bring the database's tables up to date", details: migrateDetails,
		run: func(ctx context.Context, p *program, c config, _ []string) (err error) {
			h, err := p.openHouse(ctx, c, p.logger(slog.LevelWarn, false), serveWait)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, h.store.Close()) }()
			return p.migrate(ctx, h)
		},
	}
}

func (p *program) migrate(ctx context.Context, h *house) error {
	before, err := h.store.Schema(ctx)
	if err != nil {
		return fmt.Errorf("looking at the database's tables: %w", err)
	}
	if err := h.store.Migrate(ctx); err != nil {
		return err
	}
	if before.Ready() {
		_, err = fmt.Fprintf(p.stdout, "the tables were up to date (version %d)\n", before.Current)
		return err
	}
	_, err = fmt.Fprintf(p.stdout, "brought the tables from version %d to %d\n", before.Current, before.Wanted)
	return err
}
