package store

import (
	"context"
	"regexp"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// Whoever writes waits while Postgres makes an index within a migration's transaction. Made by itself, CONCURRENTLY, it lets others
// write, which no transaction may do: so those that a migration makes IF NOT EXISTS are made before it where their table is large.

// aheadIndex finds them in a migration's text.
var aheadIndex = regexp.MustCompile(`(?m)^CREATE (?:UNIQUE )?INDEX IF NOT EXISTS (\w+) ON (\w+)[^;]+`)

// stateOfIndex tells whether an index is there, is whole, is being made by somebody, and is that of a large table: the index of
// 16 MB is made within a moment.
const stateOfIndex = `SELECT to_regclass($1) IS NOT NULL,
	COALESCE((SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass($1)), false),
	EXISTS (SELECT 1 FROM pg_stat_progress_create_index WHERE index_relid = to_regclass($1)),
	COALESCE(pg_relation_size(to_regclass($2)) > 16000000, false)`

// aheadAgain is how soon it is looked again at what another server does.
const aheadAgain = time.Second

// aheadAlone takes what only one server has at a time. A transaction without a statement under way has it: whoever makes an index waits
// for all statements, also for one that waits for a lock, and a pooler of transactions may be in between.
const aheadAlone = `SELECT pg_try_advisory_xact_lock(hashtext('caldav-mcp-server indexes in ' || current_schema()))`

// behindIndexes makes the indexes of the next migration that others need not wait for, and then applies it. Servers that migrate at once
// do both one after the other: indexes of one table that two of them make are in each other's way, and the one who gives up would take
// away what the other has made.
func (s *Store) behindIndexes(ctx context.Context, wanted []migration, apply func() error) error {
	found, err := s.indexesOfNext(ctx, wanted)
	if err != nil {
		return err
	}
	if len(found) == 0 {
		return apply()
	}
	return s.apart(ctx, func(conn *pgx.Conn) error {
		if err := untilAlone(ctx, conn); err != nil {
			return err
		}
		if err := s.indexesAhead(ctx, wanted); err != nil {
			return err
		}
		return apply()
	})
}

// untilAlone waits for the servers that came before, without a transaction while it waits. The connection's end gives it back.
func untilAlone(ctx context.Context, conn *pgx.Conn) error {
	for {
		if _, err := conn.Exec(ctx, `BEGIN; SET LOCAL idle_in_transaction_session_timeout = 0`); err != nil {
			return err
		}
		var alone bool
		// The simple protocol: what the other leaves behind counts as a statement under way.
		if err := conn.QueryRow(ctx, aheadAlone, pgx.QueryExecModeSimpleProtocol).Scan(&alone); err != nil || alone {
			return err
		}
		if _, err := conn.Exec(ctx, `ROLLBACK`); err != nil {
			return err
		}
		if err := aheadPause(ctx); err != nil {
			return err
		}
	}
}

func aheadPause(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(aheadAgain):
		return nil
	}
}

// indexesOfNext finds what may be made ahead of the next migration: each with its statement, its name and its table.
func (s *Store) indexesOfNext(ctx context.Context, wanted []migration) ([][]string, error) {
	if s.apart == nil {
		return nil, nil
	}
	applied, err := applied(ctx, s.reads)
	if err != nil || len(applied) == 0 {
		return nil, err
	}
	left, err := compare(wanted, applied)
	if err != nil || len(left) == 0 {
		return nil, err
	}
	return aheadIndex.FindAllStringSubmatch(left[0].text, -1), nil
}

// indexesAhead makes them.
func (s *Store) indexesAhead(ctx context.Context, wanted []migration) error {
	found, err := s.indexesOfNext(ctx, wanted) // another server may have applied it
	if err != nil || len(found) == 0 {
		return err
	}
	return s.apart(ctx, func(conn *pgx.Conn) error {
		for _, index := range found {
			if err := s.indexAhead(ctx, conn, index[0], index[1], index[2]); err != nil {
				// The migration makes it, for which others wait, and nothing that is half done must be taken for it.
				s.options.Logger.WarnContext(ctx, "an index is not made ahead", "index", index[1], "err", err)
				_, err := conn.Exec(ctx, `DROP INDEX IF EXISTS `+index[1])
				return err
			}
		}
		return nil
	})
}

// indexAhead makes one. What an interrupted attempt has left is no index yet, and goes.
func (s *Store) indexAhead(ctx context.Context, conn *pgx.Conn, statement, name, table string) error {
	for {
		var there, whole, building, large bool
		err := conn.QueryRow(ctx, stateOfIndex, name, table).Scan(&there, &whole, &building, &large)
		switch {
		case err != nil, whole, !there && !large:
			return err
		case building:
			err = aheadPause(ctx)
		case there:
			_, err = conn.Exec(ctx, `DROP INDEX CONCURRENTLY IF EXISTS `+name)
		default:
			s.options.Logger.InfoContext(ctx, "making an index while others write", "index", name)
			_, err = conn.Exec(ctx, strings.Replace(statement, "INDEX", "INDEX CONCURRENTLY", 1))
		}
		if err != nil {
			return err
		}
	}
}
