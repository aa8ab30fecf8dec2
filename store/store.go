// Package store is all the SQL of the program: it keeps what calendar and auth want remembered,
// in SQLite or in Postgres.
//
// There is one SQL text for both engines; where they differ, the difference is a field of engine
// or a migration with the engine's name. The contract that both keep is store/storetest.
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

// Options say how a store uses its database. The zero value is fit for use.
type Options struct {
	// MaxConns bounds the connections to Postgres, or SQLite's readers; 0 means 16, or 4 readers.
	MaxConns int
	// StatementTimeout bounds each statement on Postgres; 0 means 30 seconds.
	StatementTimeout time.Duration
	// Wait is how long Open waits for a Postgres that is away; each vain try is logged.
	Wait time.Duration
	// Existing refuses to make a SQLite file that is not there.
	Existing bool
	// Second is the postgres:// URL of a standby that is asked long questions, see [Store.At]; empty for none.
	Second string
	// Migrating is told each migration that is about to be applied; nil if nobody asks.
	Migrating func(file string, n, of int)
	// Now is the clock; nil means the system's.
	Now func() time.Time
	// shares is for tests, see turns.
	shares func() bool
	// Logger hears about waiting and trying again; nil means nobody does.
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

// Store keeps calendars, users and tokens in a database. Many goroutines may use it at once, and
// many stores, of several processes, may use one database.
type Store struct {
	engine  *engine
	options Options
	// place names the database for people, without a password.
	place string
	reads *statements
	// brief is asked for rows by their keys.
	brief interface {
		querier
		// ask hands over questions of which none waits for another's answer: to Postgres at once, for one round trip.
		ask(ctx context.Context, questions []question) error
	}
	// lists is asked for any number of rows that an index finds.
	lists querier
	// objectReader asks there.
	objectReader
	// second is nil where there is none.
	second *second
	// begin waits for a connection that may write and runs work in a transaction on it, which work
	// ends.
	begin func(ctx context.Context, work func(session) error) error
	// apart runs work on a connection of its own to Postgres, on which a statement may take as long as it wants; nil on SQLite.
	apart func(ctx context.Context, work func(*pgx.Conn) error) error
	close func() error
	// memory answers for credentials on SQLite; nil on Postgres.
	memory     *fileMemory
	hints      hints
	counts     counts
	statistics statistics
	// packers are for [pack].
	packers sync.Pool
	// files are the migrations that this program knows.
	files fs.FS
}

var (
	_ calendar.Store = (*Store)(nil)
	_ auth.Store     = (*Store)(nil)
	_ oauth.Store    = (*Store)(nil)
)

// schemes tell the engines apart by how their URLs begin.
var schemes = [...]struct {
	prefix string
	open   func(ctx context.Context, url string, o Options) (*Store, error)
}{
	{"postgres://", openPostgres},
	{"postgresql://", openPostgres},
	{"sqlite:", openSQLite},
}

// Open opens the database that url names: "postgres://…", "sqlite:PATH" or a bare path. It makes
// a SQLite file that is not there, but no tables: see [Store.Migrate].
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

// Place names the database for people: a file's path, or the server and what it is called there.
func (s *Store) Place() string { return s.place }

// Close lets go of the database. Nobody may use the store any more.
func (s *Store) Close() error {
	s.hints.close()
	s.statistics.renewals.Wait()
	if s.second != nil {
		return errors.Join(s.second.db.Close(), s.close())
	}
	return s.close()
}

// Ping tells whether the database answers.
func (s *Store) Ping(ctx context.Context) error {
	_, err := rowOf(ctx, s.reads, scanNumber, "SELECT 1")
	return err
}

// now is the time as the database keeps it.
func (s *Store) now() int64 { return s.options.Now().Unix() }
