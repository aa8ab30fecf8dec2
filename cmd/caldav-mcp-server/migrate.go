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

With the backup comes back what was ended since it was made: tokens, public links, shares, and passwords as they were
then. --revoke-all ends all tokens and links that are in it. Passwords are set by set-password, shares are shown by
list-shares and taken back by unshare.
`

func migrateCommand() command {
	var restored, revoke bool
	return command{
		name: "migrate", settings: storeSettings,
		summary: "bring the database's tables up to date", details: migrateDetails,
		flags: func(f *flag.FlagSet) {
			f.BoolVar(&restored, "restored", false, "the database is a backup brought back: make clients begin anew")
			f.BoolVar(&revoke, "revoke-all", false, "with --restored: end all tokens and public links that are in the backup")
		},
		run: func(ctx context.Context, p *program, c config, _ []string) (err error) {
			if revoke && !restored {
				return wrongUsage("--revoke-all goes with --restored; one token is ended by revoke-token, a link by revoke-link")
			}
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
			if _, err := fmt.Fprintln(p.stdout, "clients will begin anew"); err != nil {
				return err
			}
			return p.revived(ctx, h, revoke)
		},
	}
}

// revived says what a backup has brought back to life, or ends of it what can be ended.
func (p *program) revived(ctx context.Context, h *house, revoke bool) error {
	tokens, links, err := h.auth.Living(ctx)
	if err != nil {
		return err
	}
	if revoke {
		if err := h.auth.RevokeAll(ctx); err != nil {
			return err
		}
		_, err = fmt.Fprintf(p.stdout, "ended %d tokens and %d public links; make new ones with create-token and create-link\n", tokens, links)
	} else {
		_, err = fmt.Fprintf(p.stdout, "of the backup, %d tokens and %d public links are good, also those that were ended since: "+
			"see list-tokens and list-links, or end all with --restored --revoke-all\n", tokens, links)
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(p.stdout, "passwords and shares are those of the backup, too: change them again with set-password and unshare")
	return err
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
