package testdb

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"caldav-mcp-server/migrations"
)

// loan is a schema lent to a test. Creating and dropping all tables takes Postgres a quarter of a second, and a run
// would do so a thousand times. So the server has a pool of schemas, as many as tests run at once, which are emptied
// and reused by any process.
//
// An advisory lock of the session marks a schema as taken. While the schema is clean, its comment is a digest of its
// definition. A schema that a crashed process left dirty, or whose definition a test changed, is dropped.
type loan struct {
	db     *sql.DB
	server *sql.Conn // holds the lock
	schema string
	made   string // the digest when it was lent; empty for a new one
}

// errNoLocks reports a server without advisory locks: there each test makes its own schema.
var errNoLocks = errors.New("the server refuses advisory locks")

// borrow lends a schema that has no tables, or all tables without rows.
func borrow(ctx context.Context, server *url.URL) (*loan, error) {
	db, err := sql.Open("pgx", server.String())
	if err != nil {
		return nil, fmt.Errorf("opening the database of tests: %w", err)
	}
	l := &loan{db: db}
	if l.server, err = db.Conn(ctx); err == nil {
		err = l.find(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return l, nil
}

// find takes the first free schema.
func (l *loan) find(ctx context.Context) error {
	ours, _, err := program()
	if err != nil {
		return err
	}
	for n, taken := 0, false; !taken; n++ {
		l.schema = fmt.Sprintf("test_%s_%d", ours, n)
		err := l.ask(ctx, &taken, "SELECT pg_try_advisory_lock(hashtextextended($1, 0))", l.schema)
		var refused *pgconn.PgError
		if errors.As(err, &refused) && n == 0 {
			return errors.Join(errNoLocks, err)
		}
		if err != nil {
			return err
		}
	}
	if err := l.ask(ctx, &l.made, "SELECT coalesce(obj_description(to_regnamespace($1), 'pg_namespace'), '')",
		l.schema); err != nil {
		return err
	}
	if l.made != "" {
		return l.do(ctx, "COMMENT ON SCHEMA "+l.schema+" IS NULL")
	}
	return l.do(ctx, "SET client_min_messages = warning; DROP SCHEMA IF EXISTS "+l.schema+" CASCADE; CREATE SCHEMA "+
		l.schema)
}

// end empties the schema for the next test, or drops it.
func (l *loan) end(ctx context.Context) error {
	made, err := l.make(ctx)
	switch {
	case err != nil:
	case made != "" && (l.made == "" || l.made == made):
		err = l.do(ctx, "SET lock_timeout = '20s'; DO $$ "+strings.ReplaceAll(empty, "SCHEMA", l.schema)+
			" $$; COMMENT ON SCHEMA "+l.schema+" IS '"+made+"'")
	default:
		err = l.do(ctx, "DROP SCHEMA "+l.schema+" CASCADE")
	}
	return errors.Join(err, l.server.Close(), l.db.Close())
}

// empty deletes the rows of all tables. TRUNCATE makes new files for each table and index, which takes longer than most
// tests. DELETE is for few rows, and for a user who may turn off foreign keys.
const empty = `DECLARE super boolean := current_setting('is_superuser')::boolean; one record; BEGIN
	IF super THEN SET LOCAL session_replication_role = replica; END IF;
	FOR one IN SELECT oid::regclass AS name, pg_relation_size(oid) AS size FROM pg_class
		WHERE relnamespace = 'SCHEMA'::regnamespace AND relkind = 'r' AND relname <> 'migrations'
			AND pg_relation_size(oid) > 0
	LOOP
		IF super AND one.size < 1000000 THEN EXECUTE format('DELETE FROM %s', one.name);
		ELSE EXECUTE format('TRUNCATE %s CASCADE', one.name); END IF;
	END LOOP;
END`

// make returns the digest of the schema's definition, or "" if it differs from the result of the program's migrations.
// OFFSET 0 makes Postgres look columns up by table. Otherwise it reads the columns of all schemas after each test.
func (l *loan) make(ctx context.Context) (string, error) {
	_, files, err := program()
	if err != nil {
		return "", err
	}
	var there bool
	if err := l.ask(ctx, &there, "SELECT to_regclass($1) IS NOT NULL", l.schema+".migrations"); err != nil || !there {
		return "", err
	}
	var made string
	err = l.ask(ctx, &made, `SELECT CASE WHEN (SELECT count(*) FROM `+l.schema+
		`.migrations) <> $2 THEN '' ELSE md5(string_agg(line, ' ' ORDER BY line COLLATE "C")) END
		FROM (SELECT concat_ws(' ', relname, relkind, attname, atttypid, attcollation, attnotnull, attisdropped) AS line
				FROM pg_class CROSS JOIN LATERAL
					(SELECT * FROM pg_attribute WHERE attrelid = pg_class.oid OFFSET 0) AS columns
				WHERE relnamespace = to_regnamespace($1)
			UNION ALL SELECT concat_ws(' ', conname, contype) FROM pg_constraint
				WHERE connamespace = to_regnamespace($1)
			UNION ALL SELECT concat_ws(' ', name, checksum) FROM `+l.schema+`.migrations) AS made`, l.schema, files)
	return made, err
}

// program returns a name for the program's migrations, and the number of those for Postgres.
func program() (string, int, error) {
	names, err := fs.Glob(migrations.Files, "*.sql")
	if err != nil {
		return "", 0, err
	}
	digest, files := sha256.New(), 0
	for _, name := range names {
		text, err := migrations.Files.ReadFile(name)
		if err != nil {
			return "", 0, err
		}
		digest.Write(text)
		if !strings.HasSuffix(name, ".sqlite.sql") {
			files++
		}
	}
	return hex.EncodeToString(digest.Sum(nil)[:6]), files, nil
}

// do runs statements, and ask queries a value, on the connection that holds the lock.
func (l *loan) do(ctx context.Context, statements string) error {
	_, err := l.server.ExecContext(ctx, statements)
	return l.explain(statements, err)
}

func (l *loan) ask(ctx context.Context, value any, query string, arguments ...any) error {
	return l.explain(query, l.server.QueryRowContext(ctx, query, arguments...).Scan(value))
}

func (l *loan) explain(statement string, err error) error {
	if err != nil {
		return fmt.Errorf("%s: %w", statement, err)
	}
	return nil
}
