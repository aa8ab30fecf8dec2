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

// aheadAgain is how soon it is looked again at an index that another server makes.
const aheadAgain = time.Second

// indexesAhead makes the indexes of the next migration that others need not wait for.
func (s *Store) indexesAhead(ctx context.Context, wanted []migration) error {
	if s.apart == nil {
		return nil
	}
	applied, err := applied(ctx, s.reads)
	if err != nil || len(applied) == 0 {
		return err
	}
	left, err := compare(wanted, applied)
	if err != nil || len(left) == 0 {
		return err
	}
	found := aheadIndex.FindAllStringSubmatch(left[0].text, -1)
	if len(found) == 0 {
		return nil
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
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(aheadAgain):
			}
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
