// Package store holds all SQL of the program. It stores the data of the packages calendar and auth in SQLite or
// Postgres.
//
// Both engines share the SQL texts. Package store/db has the connections, the transactions and the differences between
// the engines. Both fulfil the contract in store/storetest.
package store

import (
	"context"
	"database/sql"
	"sync/atomic"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/auth/oauth"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/migrations"
	"caldav-mcp-server/store/db"
)

// Options configure how a store uses its database.
type Options = db.Options

// Store stores calendars, users and tokens in a database. It is safe for concurrent use, and several processes
// may use one database.
//
// Each group of tables has its own type; a Store has the methods of all of them.
type Store struct {
	*database
	bookingPageStore
	pollStore
	calendarStore
	credentialStore
	mirrorStore
	oauthStore
	objectStore
	reminderStore
	schedulingStore
	serverStore
	shareStore
	subscriberStore
	suggestionStore
	uploadStore
	userStore
	pruned struct{ tombstones, bodies atomic.Int64 }
}

var (
	_ calendar.Store = (*Store)(nil)
	_ auth.Store     = (*Store)(nil)
	_ oauth.Store    = (*Store)(nil)

	_ calendar.Reminders = (*Store)(nil)
)

// Open opens the database at url: "postgres://…", "sqlite:PATH" or a bare path. It creates a missing SQLite
// file, but no tables: see [Store.Migrate].
func Open(ctx context.Context, url string, o Options) (*Store, error) {
	s := new(database)
	hooks := db.Hooks{Renewed: func() { s.hints.notify(everything()) }, Refresh: refresh}
	d, err := db.Open(ctx, url, o, migrations.Files, hooks)
	if err != nil {
		return nil, err
	}
	s.db = d
	s.hints.listen, s.hints.log, s.packers.New = s.listen, d.Options.Logger, newPacker
	return &Store{
		database:         s,
		bookingPageStore: bookingPageStore{s},
		pollStore:        pollStore{s},
		calendarStore:    calendarStore{s},
		credentialStore:  credentialStore{s},
		mirrorStore:      mirrorStore{s},
		oauthStore:       oauthStore{s},
		objectStore:      objectStore{s, objectReader{searchingOf(d.Engine), readFrom(d.Reads)}},
		reminderStore:    reminderStore{s},
		schedulingStore:  schedulingStore{s},
		serverStore:      serverStore{s},
		shareStore:       shareStore{s},
		subscriberStore:  subscriberStore{s},
		suggestionStore:  suggestionStore{s},
		uploadStore:      uploadStore{s},
		userStore:        userStore{s},
	}, nil
}

// Place names the database for people: a file's path, or the database and the server's address.
func (s *Store) Place() string { return s.db.Place() }

// Close closes the database. The store must not be used any more.
func (s *Store) Close() error {
	s.hints.close()
	s.statistics.renewals.Wait()
	return s.db.Close()
}

// Ping reports whether the database answers.
func (s *Store) Ping(ctx context.Context) error { return s.db.Ping(ctx) }

// File returns the file of the URL of a database, if it is one of SQLite.
func File(url string) (path string, ok bool) { return db.File(url) }

// DiskFull reports whether changes fail because the disk of the database is full.
func (s *Store) DiskFull(ctx context.Context) bool {
	return s.db.Full(func() error { return s.run(ctx, `UPDATE meta SET derivation = derivation WHERE id = 1`) })
}

// Pool returns the statistics of the connections for reads; on Postgres, writes use them too.
func (s *Store) Pool() sql.DBStats { return s.db.Pool() }

// Size returns the number of users, without rooms and groups, and the size of the database in bytes.
func (s *Store) Size(ctx context.Context) (users, bytes int64, err error) {
	users, err = db.RowOf(ctx, s.db.Reads, db.ScanNumber,
		`SELECT count(*) FROM users WHERE NOT is_group AND place = ''`)
	if err == nil {
		bytes, err = db.RowOf(ctx, s.db.Reads, db.ScanNumber, s.db.Engine.Size)
	}
	return users, bytes, err
}

// Done counts the work that a process did in its database since it started.
type Done struct {
	// Committed and Failed count transactions that write, Repeated the ones retried after a conflict. Full counts the
	// ones that failed because the disk was full.
	Committed, Failed, Repeated, Full int64
	// Tombstones and Bodies count pruned rows: deleted objects, and texts of objects before changes.
	Tombstones, Bodies int64
}

// Done returns the counters of this process.
func (s *Store) Done() Done {
	committed, failed, repeated := s.db.Done()
	return Done{
		committed, failed, repeated, s.db.FullDisks(), s.pruned.tombstones.Load(), s.pruned.bodies.Load(),
	}
}
