package db

import (
	"context"
	"regexp"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// Creating an index inside a migration's transaction blocks all writers on Postgres. CREATE INDEX CONCURRENTLY
// does not block them, but no transaction may run it. So the indexes that a migration creates IF NOT EXISTS on
// large tables are created before the migration.

// indexStatement matches these statements in a migration's text.
var indexStatement = regexp.MustCompile(`(?m)^CREATE (?:UNIQUE )?INDEX IF NOT EXISTS (\w+) ON (\w+)[^;]+`)

// stateOfIndex reports whether an index exists, is valid and is being built, and whether its table is over 16
// MB. A smaller table is indexed within a moment.
const stateOfIndex = `SELECT to_regclass($1) IS NOT NULL,
	COALESCE((SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass($1)), false),
	EXISTS (SELECT 1 FROM pg_stat_progress_create_index WHERE index_relid = to_regclass($1)),
	COALESCE(pg_relation_size(to_regclass($2)) > 16000000, false)`

// indexPause is the pause between two looks at another server's progress.
const indexPause = time.Second

// IndexLock tries a lock that one server holds at a time: the row of the first migration. An idle transaction holds
// it, for two reasons: CREATE INDEX CONCURRENTLY waits for every running statement, even one that waits for a lock; and
// a transaction pooler may sit in between. It is no advisory lock, because some databases have none.
const IndexLock = `WITH first AS (SELECT 1 FROM migrations
	WHERE name = (SELECT min(name) FROM migrations) FOR UPDATE SKIP LOCKED) SELECT EXISTS (SELECT 1 FROM first)`

// afterIndexes creates the indexes of the next migration concurrently and then applies the migration. Servers
// that start together take turns: two that build indexes on one table block each other, and the one that gives
// up would drop the other's index.
func (d *DB) afterIndexes(ctx context.Context, wanted []Migration, apply func() error) error {
	found, err := d.indexesOfNext(ctx, wanted)
	if err != nil {
		return err
	}
	if len(found) == 0 {
		return apply()
	}
	return d.Apart(ctx, func(conn *pgx.Conn) error {
		if err := lockIndexes(ctx, conn); err != nil {
			return err
		}
		if err := d.buildIndexes(ctx, wanted); err != nil {
			return err
		}
		return apply()
	})
}

// lockIndexes waits for the servers that came first, with no transaction open while it sleeps. Closing the
// connection releases the lock.
func lockIndexes(ctx context.Context, conn *pgx.Conn) error {
	for {
		if _, err := conn.Exec(ctx, `BEGIN; SET LOCAL idle_in_transaction_session_timeout = 0`); err != nil {
			return err
		}
		var alone bool
		// The simple protocol: the portal that the extended one leaves open counts as a running statement.
		if err := conn.QueryRow(ctx, IndexLock, pgx.QueryExecModeSimpleProtocol).Scan(&alone); err != nil || alone {
			return err
		}
		if _, err := conn.Exec(ctx, `ROLLBACK`); err != nil {
			return err
		}
		if err := pauseForIndex(ctx); err != nil {
			return err
		}
	}
}

func pauseForIndex(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(indexPause):
		return nil
	}
}

// indexesOfNext returns the indexes to create before the next migration: statement, name and table of each.
func (d *DB) indexesOfNext(ctx context.Context, wanted []Migration) ([][]string, error) {
	if d.Apart == nil {
		return nil, nil
	}
	applied, err := Applied(ctx, d.Reads)
	if err != nil || len(applied) == 0 {
		return nil, err
	}
	left, err := compare(wanted, applied)
	if err != nil || len(left) == 0 {
		return nil, err
	}
	return indexStatement.FindAllStringSubmatch(left[0].text, -1), nil
}

// buildIndexes creates them.
func (d *DB) buildIndexes(ctx context.Context, wanted []Migration) error {
	found, err := d.indexesOfNext(ctx, wanted) // another server may have applied it
	if err != nil || len(found) == 0 {
		return err
	}
	return d.Apart(ctx, func(conn *pgx.Conn) error {
		for _, index := range found {
			if err := d.buildIndex(ctx, conn, index[0], index[1], index[2]); err != nil {
				// The migration will build the index and block writers meanwhile. Drop the half-built one, or
				// IF NOT EXISTS would accept it.
				d.Options.Logger.WarnContext(ctx, "an index cannot be built before the migration", "index",
					index[1], "err", err)
				_, err := conn.Exec(ctx, `DROP INDEX IF EXISTS `+index[1])
				return err
			}
		}
		return nil
	})
}

// buildIndex builds one index, unless it exists or its table is small. An invalid index from an interrupted
// attempt is dropped first.
func (d *DB) buildIndex(ctx context.Context, conn *pgx.Conn, statement, name, table string) error {
	for {
		var there, whole, building, large bool
		err := conn.QueryRow(ctx, stateOfIndex, name, table).Scan(&there, &whole, &building, &large)
		switch {
		case err != nil, whole, !there && !large:
			return err
		case building:
			err = pauseForIndex(ctx)
		case there:
			_, err = conn.Exec(ctx, `DROP INDEX CONCURRENTLY IF EXISTS `+name)
		default:
			d.Options.Logger.InfoContext(ctx, "building an index without blocking writers", "index", name)
			_, err = conn.Exec(ctx, strings.Replace(statement, "INDEX", "INDEX CONCURRENTLY", 1))
		}
		if err != nil {
			return err
		}
	}
}
