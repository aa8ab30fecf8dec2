// Package db connects to SQLite or Postgres, and runs queries and transactions there. It knows how rows are read and
// written, but not what is in them: package store has the SQL texts.
//
// A difference between the engines is a field of [Engine], or a migration with the engine's name.
package db

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
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
	// Replica is the postgres:// URL of a read replica for large reads, see [DB.ReplicaLag]; empty for none.
	Replica string
	// Migrating is called before each migration; nil for no call.
	Migrating func(file string, n, of int)
	// Now is the clock; nil means the system's.
	Now func() time.Time
	// Shares is for tests: it reports whether the next writer to a SQLite file may join a transaction.
	Shares func() bool
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

// Hooks are what a DB calls in the package that uses it.
type Hooks struct {
	// Renewed is called, unless it is nil, after a new epoch began because the database is another one.
	Renewed func()
	// Refresh is called, unless it is nil, with the error of a failed transaction. It reports whether the transaction
	// can run again now; an error of its own ends it.
	Refresh func(ctx context.Context, failed error) (again bool, err error)
}

// DB is a database. It is safe for concurrent use.
type DB struct {
	Engine  *Engine
	Options Options
	hooks   Hooks
	// place names the database for people, without a password.
	place string
	Reads *statements
	// Brief reads rows by their keys.
	Brief interface {
		Querier
		// Ask runs independent queries, on Postgres in one round trip.
		Ask(ctx context.Context, questions []Question) error
	}
	// Lists reads any number of rows by an index.
	Lists Querier
	// Replica is nil without a replica.
	Replica *replica
	// begin waits for a connection that may write, and runs work in a transaction on it. Work ends the
	// transaction.
	begin func(ctx context.Context, work func(session) error) error
	// Apart runs work on a separate connection to Postgres without a statement timeout; nil on SQLite.
	Apart func(ctx context.Context, work func(*pgx.Conn) error) error
	// Listen listens to other processes until ctx ends, or it fails. It passes on their announcements, or "" if
	// anything
	// may have changed.
	Listen func(ctx context.Context, tell func(payload string)) error
	close  func() error
	// state identifies the content of the database, for [Kept].
	state  func() (fileState, bool)
	counts counts
	// announcer is unused on SQLite.
	announcer announcer
	// Files are the program's migrations.
	Files fs.FS
}

// Place names the database for people: a file's path, or the database and the server's address.
func (d *DB) Place() string { return d.place }

// Close closes the database. It must not be used any more.
func (d *DB) Close() error {
	d.announcer.all.Wait()
	if d.Replica != nil {
		return errors.Join(d.Replica.Pool.Close(), d.close())
	}
	return d.close()
}

// Ping reports whether the database answers.
func (d *DB) Ping(ctx context.Context) error {
	_, err := RowOf(ctx, d.Reads, ScanNumber, "SELECT 1")
	return err
}

// Pool returns the statistics of the connections for reads; on Postgres, writes use them too.
func (d *DB) Pool() sql.DBStats {
	if pool, ok := d.Reads.on.(*sql.DB); ok {
		return pool.Stats()
	}
	return sql.DBStats{}
}

// Maintain runs a statement outside of transactions.
func (d *DB) Maintain(ctx context.Context, text string) error {
	_, err := d.Reads.on.ExecContext(ctx, text)
	return err
}

// Now is the time as stored.
func (d *DB) Now() int64 { return d.Options.Now().Unix() }

// counts are the counters of this process's transactions. full counts the ones that failed because the disk was full,
// fullAt is when the last of them failed, in Unix time.
type counts struct{ committed, repeated, failed, full, fullAt atomic.Int64 }

func (c *counts) transaction(err error, attempt int) {
	if attempt > 1 {
		c.repeated.Add(1)
	}
	if err == nil {
		c.committed.Add(1)
	} else {
		c.failed.Add(1)
	}
}

// fullFor is how long a full disk is reported without another try: small changes may find room that large ones did not.
const fullFor = time.Minute

// Full reports whether changes fail because the disk is full: one failed within the last minute, or try, which writes,
// fails again.
func (d *DB) Full(try func() error) bool {
	at := d.counts.fullAt.Load()
	switch {
	case at == 0:
		return false
	case d.Now()-at < int64(fullFor/time.Second):
		return true
	case try() != nil:
		return true
	}
	d.counts.fullAt.CompareAndSwap(at, 0)
	return false
}

// FullDisks returns how many transactions failed because the disk was full.
func (d *DB) FullDisks() int64 { return d.counts.full.Load() }

// Done returns how many transactions were committed, failed, and were repeated after a conflict.
func (d *DB) Done() (committed, failed, repeated int64) {
	return d.counts.committed.Load(), d.counts.failed.Load(), d.counts.repeated.Load()
}
