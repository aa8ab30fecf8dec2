package db

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"caldav-mcp-server/calendar"
)

const (
	defaultConns   = 16
	connectTimeout = 5 * time.Second
	// idleTime is how long an unused connection is kept.
	idleTime = 5 * time.Minute
	// retryPause is the pause between two attempts to reach the database.
	retryPause = time.Second
)

// postgresEngine describes Postgres.
func postgresEngine() *Engine {
	return &Engine{
		Name:  "postgres",
		Lists: true,
		// A migration may take longer than a request. The lock admits readers, and [IndexLock].
		migrate: `SET LOCAL statement_timeout = 0; LOCK TABLE migrations IN SHARE ROW EXCLUSIVE MODE`,
		collate: byteCollation,
		life:    lifeFunctions,
		Size:    `SELECT pg_database_size(current_database())`,
		Columns: `SELECT c.relname, a.attname, t.typname, COALESCE(array_position(i.indkey::int2[], a.attnum) + 1, 0)
			FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid JOIN pg_type t ON t.oid = a.atttypid
			LEFT JOIN pg_index i ON i.indrelid = c.oid AND i.indisprimary
			WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r' AND a.attnum > 0
				AND NOT a.attisdropped
				AND a.attgenerated = '' ORDER BY c.relname, a.attnum`,
		References: `SELECT c.relname, f.relname FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid
			JOIN pg_class f ON f.oid = k.confrelid
			WHERE k.contype = 'f' AND c.relnamespace = current_schema()::regnamespace`,
		snapshot: sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true},
		Endless:  `SET LOCAL statement_timeout = 0`,
		Bulk:     2000,
		LockRows: " FOR UPDATE",
		LockFree: " FOR UPDATE SKIP LOCKED",
		countMigrations: `SELECT count(*) FROM pg_tables
			WHERE schemaname = current_schema() AND tablename = 'migrations'`,
		watched: `SELECT 1 FROM meta WHERE id = 1 AND watched >= $1`,
		Analyze: `ANALYZE `,
		fault:   postgresFault,
	}
}

// byteCollation gives all text columns byte order and byte equality, as on SQLite. With the database's locale,
// paging by name would depend on the machine, and an upgrade of the C library could corrupt an index.
const byteCollation = `DO $$
DECLARE
	statement TEXT;
BEGIN
	FOR statement IN
		SELECT format('ALTER TABLE %s ',
		c.oid::regclass) || string_agg(format('ALTER COLUMN %I TYPE TEXT COLLATE "C"', a.attname), ', ')
		FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
		WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r' AND a.attnum > 0
			AND NOT a.attisdropped
			AND a.atttypid = 'text'::regtype AND a.attcollation <> '"C"'::regcollation
		GROUP BY c.oid
	LOOP
		EXECUTE statement;
	END LOOP;
END
$$`

// postgresFaults maps SQLSTATEs to faults: the whole code, or its class, the first two characters.
var postgresFaults = map[string]fault{
	"23505": faultTaken,
	"42P07": faultTaken, // duplicate table
	"23503": faultOrphan,
	"40":    faultConflict, // serialization failure, deadlock
	"55P03": faultLocked,   // lock not available
	"57014": faultSlow,     // statement timeout
	"53100": faultFull,
	"22021": faultText,  // character not in repertoire
	"22P05": faultText,  // untranslatable character
	"08":    faultCut,   // connection exception
	"08P01": faultOther, // protocol violation: a pooler that refuses a request will refuse it again
	"53":    faultAway,  // insufficient resources: connections, memory
	"57P01": faultCut,   // administrator's shutdown
	"57P02": faultCut,   // crash shutdown
	"57P03": faultAway,  // starting up or shutting down
	"57P05": faultCut,   // idle session timeout
	"25006": faultAway,  // read-only: a standby that was not promoted yet
	"55000": faultAway,  // the same, when it is asked for its epoch
}

// noFeature are the SQLSTATEs of a server that lacks a feature or refuses it to the role.
var noFeature = []string{
	"0A000", // feature not supported
	"42501", // insufficient privilege
	"42601", // syntax error
	"42704", // undefined object
	"42883", // undefined function
	"55000", // object not in prerequisite state, as of a server that does not log enough
}

// refusedFeature reports whether the server will refuse the statement again.
func refusedFeature(err error) bool {
	e, known := errors.AsType[*pgconn.PgError](err)
	return known && slices.Contains(noFeature, e.Code)
}

func postgresFault(err error) fault {
	if errors.Is(err, errLocked) {
		return faultLocked
	}
	var e *pgconn.PgError
	if errors.As(err, &e) && len(e.Code) == 5 {
		if kind, found := postgresFaults[e.Code]; found {
			return kind
		}
		return postgresFaults[e.Code[:2]]
	}
	if _, connecting := errors.AsType[*pgconn.ConnectError](err); connecting {
		return faultAway
	}
	if cut(err) {
		return faultCut
	}
	return faultOther
}

// cut reports whether an error means that an open connection was lost.
func cut(err error) bool {
	for _, sign := range []error{driver.ErrBadConn, sql.ErrConnDone, io.EOF, io.ErrUnexpectedEOF, net.ErrClosed} {
		if errors.Is(err, sign) {
			return true
		}
	}
	_, network := errors.AsType[net.Error](err)
	return network || pgconn.SafeToRetry(err)
}

// bound lets a pool keep as many idle connections as it may open.
func bound(db *sql.DB, o Options) {
	db.SetMaxOpenConns(o.MaxConns)
	db.SetMaxIdleConns(o.MaxConns)
	db.SetConnMaxIdleTime(idleTime)
}

// postgresConfig parses the URL. Its settings override the program'd.
func postgresConfig(where string, o Options) (*pgx.ConnConfig, error) {
	config, err := pgx.ParseConfig(where)
	if err != nil {
		return nil, fmt.Errorf("the database's URL: %w", err)
	}
	defaults := map[string]string{
		"application_name": "caldav-mcp-server",
		// Compiling a query takes longer than any of ours runs; only a wrong estimate would trigger it.
		"jit":               "off",
		"statement_timeout": strconv.FormatInt(o.StatementTimeout.Milliseconds(), 10),
	}
	for name, value := range defaults {
		if _, set := config.RuntimeParams[name]; !set {
			config.RuntimeParams[name] = value
		}
	}
	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = connectTimeout
	}
	return config, nil
}

// withoutTimeout returns a function that runs work on a separate connection without a statement timeout.
func withoutTimeout(config *pgx.ConnConfig) func(context.Context, func(*pgx.Conn) error) error {
	config = config.Copy()
	config.RuntimeParams["statement_timeout"] = "0"
	return func(ctx context.Context, work func(*pgx.Conn) error) error {
		conn, err := pgx.ConnectConfig(ctx, config)
		if err != nil {
			return err
		}
		defer closeConn(ctx, conn)
		return work(conn)
	}
}

// await waits until the database answers, for as long as the options allow. A refusal counts as an answer.
func (d *DB) await(ctx context.Context, address string) error {
	deadline := time.NewTimer(d.Options.Wait)
	defer deadline.Stop()
	for {
		err := d.Ping(ctx)
		if kind := d.Engine.fault(err); kind != faultAway && kind != faultCut {
			return err
		}
		away := &calendar.Error{
			Reason: calendar.Unavailable, Cause: err,
			Message: fmt.Sprintf("the database at %s is away: %v", address, errors.Unwrap(err)),
		}
		if d.Options.Wait <= 0 {
			return away
		}
		d.Options.Logger.WarnContext(ctx, "waiting for the database", "address", address, "err", errors.Unwrap(err))
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-deadline.C:
			return away
		case <-time.After(retryPause):
		}
	}
}
