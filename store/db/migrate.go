package db

import (
	"context"
	"errors"
	"fmt"

	"caldav-mcp-server/calendar"
)

// Schema is the state of a database's tables.
type Schema struct {
	// Current is the number of the last migration in the database, 0 in an empty one; Wanted is the program's.
	Current, Wanted int
	// Pending are the program's files that the database lacks. Unknown are files in the database that the
	// program lacks, because it is older. Other are files with the same name and another content: another build
	// created the database.
	Pending, Unknown, Other []string
}

// Ready reports whether the program can work with the database.
func (s Schema) Ready() bool { return len(s.Pending) == 0 && !s.foreign() }

// Behind reports whether Store.Migrate would change existing tables.
func (s Schema) Behind() bool { return s.Current > 0 && len(s.Pending) > 0 && !s.foreign() }

func (s Schema) foreign() bool { return len(s.Unknown) > 0 || len(s.Other) > 0 }

// Migrate applies migrations. When none are left, it calls end in the same transaction as that check.
func (d *DB) Migrate(ctx context.Context, wanted []Migration, end func(context.Context, *Tx) error) error {
	if err := d.makeMigrations(ctx); err != nil {
		return err
	}
	for more, waits := true, false; more; {
		err := d.afterIndexes(ctx, wanted, func() error {
			return d.Transact(ctx, func(t *Tx) error {
				var err error
				more, err = t.migrateOnce(ctx, wanted)
				if err == nil && !more {
					err = end(ctx, t)
				}
				return err
			})
		})
		if errors.Is(err, errInUse) {
			err = d.untilFree(ctx, &waits)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// errInUse reports that others held a migration's tables for longer than it waits; see package migrations.
var errInUse = errors.New("other processes are using the tables that a migration changes")

// untilFree pauses, so that requests waiting for the migration's locks can proceed.
func (d *DB) untilFree(ctx context.Context, waits *bool) error {
	if !*waits {
		*waits = true
		d.Options.Logger.WarnContext(ctx,
			"a migration waits for long reads of its tables to end; it retries, and other requests go on meanwhile")
	}
	return pauseForIndex(ctx)
}

// makeMigrations creates the table of migrations, which is also their lock. Of several servers that start on an empty
// database, one creates it.
func (d *DB) makeMigrations(ctx context.Context) error {
	there, err := RowOf(ctx, d.Reads, ScanNumber, d.Engine.countMigrations)
	if err != nil || there > 0 {
		return err
	}
	err = d.Transact(ctx, func(t *Tx) error {
		if err := t.Run(ctx, `CREATE TABLE IF NOT EXISTS migrations (
			name TEXT NOT NULL PRIMARY KEY, checksum TEXT NOT NULL, applied BIGINT NOT NULL)`); err != nil {
			return err
		}
		return t.MaybeScript(ctx, t.Of().collate)
	})
	if calendar.ReasonOf(err) == calendar.Exists {
		return nil
	}
	return err
}

// migrateOnce applies the first pending migration, if there is one.
func (t *Tx) migrateOnce(ctx context.Context, wanted []Migration) (more bool, err error) {
	if err := t.MaybeScript(ctx, t.Of().migrate); err != nil {
		return false, err
	}
	applied, err := Applied(ctx, t)
	if err != nil {
		return false, err
	}
	left, err := compare(wanted, applied)
	if err != nil {
		return false, err
	}
	if len(left) == 0 {
		return false, t.MaybeScript(ctx, t.Of().life)
	}
	if tell := t.db.Options.Migrating; tell != nil {
		tell(left[0].Name, len(wanted)-len(left)+1, len(wanted))
	}
	err = t.apply(ctx, left[0])
	if kind := t.Of().fault(err); t.Of().migrate != "" && (kind == faultConflict || kind == faultLocked) {
		err = errInUse // retried at once, it would keep others waiting
	}
	return true, err
}

func (t *Tx) apply(ctx context.Context, m Migration) error {
	if err := t.script(ctx, m.text); err != nil {
		return fmt.Errorf("migration %s: %w", m.Name, err)
	}
	if err := t.MaybeScript(ctx, t.Of().collate); err != nil {
		return fmt.Errorf("setting the collation after migration %s: %w", m.Name, err)
	}
	return t.Run(ctx, `INSERT INTO migrations (name, checksum, applied) VALUES ($1, $2, $3)`,
		m.Name, m.Checksum, t.db.Now())
}

// Schema returns the state of the database's tables.
func (d *DB) Schema(ctx context.Context) (Schema, error) {
	wanted, err := d.Wanted()
	if err != nil {
		return Schema{}, err
	}
	applied, err := Applied(ctx, d.Reads)
	if err != nil {
		return Schema{}, err
	}
	return Schema{
		Current: LastNumber(applied), Wanted: LastNumber(wanted),
		Pending: Missing(wanted, applied), Unknown: Missing(applied, wanted), Other: Altered(wanted, applied),
	}, nil
}
