package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"

	"caldav-mcp-server/store"
)

const migrateDetails = `
serve does this by itself when it starts. A database that a newer version has used is refused: there is no way
back but a backup.

After a backup was brought back, run it with --restored before the server starts. What clients have seen since the
backup is gone; they must fetch all of it again, or they would miss changes and bring back what was deleted.
`

func migrateCommand() command {
	var restored bool
	return command{
		name: "migrate", settings: storeSettings,
		summary: "bring the database's tables up to date", details: migrateDetails,
		flags: func(f *flag.FlagSet) {
			f.BoolVar(&restored, "restored", false, "the database is a backup brought back: make clients begin anew")
		},
		run: func(ctx context.Context, p *program, c config, _ []string) (err error) {
			h, err := p.openHouse(ctx, c, store.Options{Existing: restored, Wait: serveWait, Logger: p.logger(slog.LevelWarn, false)})
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, h.store.Close()) }()
			if restored {
				if err := h.store.Check(ctx); err != nil {
					return fmt.Errorf("%w; put the backup in its place again, without a file that ends in -wal or -shm beside it", err)
				}
			}
			if err := p.migrate(ctx, h); err != nil || !restored {
				return err
			}
			if err := h.store.NewEpoch(ctx); err != nil {
				return err
			}
			_, err = fmt.Fprintln(p.stdout, "clients will begin anew")
			return err
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
