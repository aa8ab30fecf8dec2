// Package store holds all SQL of the program. It stores the data of the packages calendar and auth in SQLite or
// Postgres.
//
// Both engines share the SQL texts. A difference is a field of engine, or a migration with the engine's name.
// Both fulfil the contract in store/storetest.
package store

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/auth/oauth"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/migrations"
)

// Options configure how a store uses its database. The zero value is usable.
type Options struct {
	// MaxConns is the most connections to Postgres, or readers on SQLite; 0 means 16, or 4 readers.
	MaxConns int
	// StatementTimeout bounds each statement on Postgres; 0 means 30 seconds.
	StatementTimeout time.Duration
	// Wait is how long Open waits for an unreachable Postgres; each failed attempt is logged.
	Wait time.Duration
	// Existing makes Open fail if the SQLite file does not exist.
	Existing bool
	// Second is the postgres:// URL of a read replica for large reads, see [Store.At]; empty for none.
	Second string
	// Migrating is called before each migration; nil for no call.
	Migrating func(file string, n, of int)
	// Now is the clock; nil means the system's.
	Now func() time.Time
	// shares is for tests, see turns.
	shares func() bool
	// Logger logs waits and retries; nil discards them.
	Logger *slog.Logger
}

const defaultStatementTimeout = 30 * time.Second

func (o Options) withDefaults(conns int) Options {
	if o.MaxConns <= 0 {
		o.MaxConns = conns
	}
	if o.StatementTimeout <= 0 {
		o.StatementTimeout = defaultStatementTimeout
	}
	if o.Now == nil {
		o.Now = time.Now //nolint:forbidigo // the default of the injected clock
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

// Store stores calendars, users and tokens in a database. It is safe for concurrent use, and several processes
// may use one database.
type Store struct {
	engine  *engine
	options Options
	// place names the database for people, without a password.
	place string
	reads *statements
	// brief reads rows by their keys.
	brief interface {
		querier
		// ask runs independent queries, on Postgres in one round trip.
		ask(ctx context.Context, questions []question) error
	}
	// lists reads any number of rows by an index.
	lists querier
	// objectReader uses reads.
	objectReader
	// second is nil without a replica.
	second *second
	// begin waits for a connection that may write, and runs work in a transaction on it. Work ends the
	// transaction.
	begin func(ctx context.Context, work func(session) error) error
	// apart runs work on a separate connection to Postgres without a statement timeout; nil on SQLite.
	apart func(ctx context.Context, work func(*pgx.Conn) error) error
	close func() error
	// memory caches credentials on SQLite; nil on Postgres.
	memory     *fileMemory
	hints      hints
	counts     counts
	statistics statistics
	// packers are for [pack].
	packers sync.Pool
	// files are the program's migrations.
	files fs.FS
}

var (
	_ calendar.Store = (*Store)(nil)
	_ auth.Store     = (*Store)(nil)
	_ oauth.Store    = (*Store)(nil)
)

// schemes select the engine by the start of the URL.
var schemes = [...]struct {
	prefix string
	open   func(ctx context.Context, url string, o Options) (*Store, error)
}{
	{"postgres://", openPostgres},
	{"postgresql://", openPostgres},
	{"sqlite:", openSQLite},
}

// Open opens the database at url: "postgres://…", "sqlite:PATH" or a bare path. It creates a missing SQLite
// file, but no tables: see [Store.Migrate].
func Open(ctx context.Context, url string, o Options) (*Store, error) {
	open := openSQLite
	for _, scheme := range schemes {
		if strings.HasPrefix(url, scheme.prefix) {
			open = scheme.open
		}
	}
	s, err := open(ctx, url, o)
	if err != nil {
		return nil, err
	}
	s.files, s.objectReader = migrations.Files, objectReader{s.engine, only(s.reads)}
	s.hints.log, s.packers.New = s.options.Logger, newPacker
	s.engine.trouble = &trouble{log: s.options.Logger, now: s.options.Now}
	return s, nil
}

// Place names the database for people: a file's path, or the database and the server's address.
func (s *Store) Place() string { return s.place }

// Close closes the database. The store must not be used any more.
func (s *Store) Close() error {
	s.hints.close()
	s.statistics.renewals.Wait()
	if s.second != nil {
		return errors.Join(s.second.db.Close(), s.close())
	}
	return s.close()
}

// Ping reports whether the database answers.
func (s *Store) Ping(ctx context.Context) error {
	_, err := rowOf(ctx, s.reads, scanNumber, "SELECT 1")
	return err
}

// now is the time as stored.
func (s *Store) now() int64 { return s.options.Now().Unix() }
