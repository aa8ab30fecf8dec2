package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"modernc.org/sqlite"
	codes "modernc.org/sqlite/lib"
)

const (
	defaultReaders = 4
	// busyTimeout is how long a connection waits for another process that writes.
	busyTimeout = 10 * time.Second
	// busyAgain is how soon it is tried again where SQLite does not wait by itself.
	busyAgain = 20 * time.Millisecond
)

// sqliteEngine describes SQLite.
func sqliteEngine() *engine {
	return &engine{
		name:            "sqlite",
		countMigrations: `SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'migrations'`,
		shrink:          `PRAGMA incremental_vacuum(500)`,
		free:            `SELECT CASE WHEN v.auto_vacuum = 2 THEN f.freelist_count ELSE 0 END FROM pragma_freelist_count f, pragma_auto_vacuum v`,
		check:           `PRAGMA quick_check(1)`,
		columns: `SELECT m.name, c.name, c.type, c.pk FROM sqlite_schema m JOIN pragma_table_info(m.name) c
			WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite\_%' ESCAPE '\' ORDER BY m.name, c.cid`,
		references: `SELECT m.name, f."table" FROM sqlite_schema m JOIN pragma_foreign_key_list(m.name) f WHERE m.type = 'table'`,
		snapshot:   sql.TxOptions{ReadOnly: true},
		bulk:       100,
		search:     sqliteSearching(),
		fault:      sqliteFault,
	}
}

// sqliteFaults tells what SQLite's result codes mean. Those of the same family, as told by the low
// byte, are alike unless they have a row of their own.
var sqliteFaults = map[int]fault{
	codes.SQLITE_CONSTRAINT_UNIQUE:     faultTaken,
	codes.SQLITE_CONSTRAINT_PRIMARYKEY: faultTaken,
	codes.SQLITE_CONSTRAINT_FOREIGNKEY: faultOrphan,
	codes.SQLITE_BUSY:                  faultConflict,
	codes.SQLITE_LOCKED:                faultConflict,
	codes.SQLITE_FULL:                  faultFull,
	// The index of the log, which lies beside the file, cannot grow.
	codes.SQLITE_IOERR_SHMSIZE: faultFull,
	codes.SQLITE_IOERR:         faultAway,
	codes.SQLITE_CANTOPEN:      faultAway,
	codes.SQLITE_READONLY:      faultAway,
}

func sqliteFault(err error) fault {
	if errors.Is(err, errLost) {
		return faultConflict
	}
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return faultOther
	}
	if kind, found := sqliteFaults[e.Code()]; found {
		return kind
	}
	return sqliteFaults[e.Code()&0xff]
}

// openSQLite opens a file with one connection that writes and a pool of readers. With the
// write-ahead log the readers never wait for the writer, nor the writer for them.
func openSQLite(ctx context.Context, where string, o Options) (*Store, error) {
	path, err := sqlitePath(where)
	if err != nil {
		return nil, err
	}
	if err := createFile(path, o.Existing); err != nil {
		return nil, err
	}
	s := &Store{engine: sqliteEngine(), place: path, options: o.withDefaults(defaultReaders)}
	s.warnOfReaders(ctx)
	writer, closeWriter, err := s.openWriter(ctx, path)
	if err != nil {
		return nil, err
	}
	readers, err := sql.Open("sqlite", dataSource(path, "query_only(1)", "cache_size(-4000)", "temp_store(memory)"))
	if err != nil {
		return nil, errors.Join(err, closeWriter())
	}
	readers.SetMaxOpenConns(s.options.MaxConns)
	readers.SetMaxIdleConns(s.options.MaxConns)
	s.reads = &statements{engine: s.engine, on: readers, kept: map[string]*sql.Stmt{}}
	s.brief, s.lists = hasty{s.reads}, hasty{s.reads}
	s.begin = writer.begin
	s.hints.hear = hearFile(path)
	if s.memory, err = openFileMemory(ctx, path); err != nil {
		return nil, errors.Join(err, readers.Close(), closeWriter())
	}
	s.close = func() error { return errors.Join(s.memory.close(), s.reads.close(), readers.Close(), closeWriter()) }
	return s, nil
}

// openWriter opens the connection that writes.
func (s *Store) openWriter(ctx context.Context, path string) (*fileWriter, func() error, error) {
	db, err := sql.Open("sqlite", dataSource(path,
		// Of a new file: it can be made smaller. It must come before all else that writes.
		"auto_vacuum(incremental)",
		"journal_mode(wal)",
		// An acknowledged write survives power loss.
		"synchronous(full)",
		"foreign_keys(1)",
		"cache_size(-8000)",
		// Writes to a large file are spread over it: moving more of them from the log into the file at
		// a time, 16 MB, makes fewer of them.
		"wal_autocheckpoint(4000)",
		// A long read lets the log grow; this gives the disk back afterwards.
		"journal_size_limit(67108864)"))
	if err != nil {
		return nil, nil, err
	}
	db.SetMaxOpenConns(1)
	conn, err := connectFile(ctx, db, path)
	if err != nil {
		return nil, nil, errors.Join(s.engine.translate(ctx, fmt.Errorf("%s: %w", path, err)), db.Close())
	}
	w := &fileWriter{statements: statements{engine: s.engine, on: conn, kept: map[string]*sql.Stmt{}}, conn: conn}
	w.turns.end, w.turns.shares = w.commitAll, s.options.shares
	return w, func() error { return errors.Join(w.close(), conn.Close(), db.Close()) }, nil
}

// connectFile opens a file that others may be making at this moment: SQLite does not wait for those who change its kind of log, as it
// waits for those who write.
func connectFile(ctx context.Context, db *sql.DB, path string) (*sql.Conn, error) {
	patience, cancel := context.WithTimeout(ctx, busyTimeout)
	defer cancel()
	for {
		conn, err := db.Conn(ctx)
		if err == nil {
			err = requireWAL(ctx, conn, path)
		}
		if err == nil {
			return conn, nil
		}
		if conn != nil {
			err = errors.Join(err, conn.Close())
		}
		if sqliteFault(err) != faultConflict {
			return nil, err
		}
		select {
		case <-time.After(busyAgain):
		case <-patience.Done():
			return nil, err
		}
	}
}

// requireWAL refuses a file system, such as a network's, on which the write-ahead log cannot work.
func requireWAL(ctx context.Context, conn *sql.Conn, path string) error {
	var mode string
	if err := conn.QueryRowContext(ctx, "PRAGMA journal_mode").Scan(&mode); err != nil {
		return err
	}
	if mode != "wal" {
		return fmt.Errorf("the file system has no write-ahead log for SQLite (it offers %q): keep %s on a local disk", mode, filepath.Dir(path))
	}
	return nil
}

// sqlitePath returns the absolute path of the file that a URL names.
func sqlitePath(where string) (string, error) {
	path, _ := strings.CutPrefix(where, "sqlite:")
	if rest, found := strings.CutPrefix(path, "///"); found {
		path = "/" + rest
	}
	switch {
	case path == "":
		return "", errors.New("the database's URL is empty: it is sqlite:PATH or postgres://…")
	case strings.Contains(path, "://"), strings.HasPrefix(path, "//"):
		return "", fmt.Errorf("the database's URL begins with neither postgres:// nor sqlite:PATH: %.12s…", where)
	case strings.HasPrefix(path, ":"):
		return "", fmt.Errorf("%s is no file: a database in memory would be lost", path)
	}
	return filepath.Abs(path)
}

// createFile makes the file before SQLite does, so that nobody else may read it. SQLite gives its
// companions (-wal, -shm) the same mode.
func createFile(path string, existing bool) error {
	if _, err := os.Stat(path); existing && errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: %w", path, fs.ErrNotExist)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600) //nolint:gosec // the path is the operator's choice
	if err != nil {
		return err
	}
	return f.Close()
}

// warnOfReaders tells of a file that others on this machine may read: one that was made otherwise, such as a
// backup brought back. The operator may want it so, so that the mode is theirs to change.
func (s *Store) warnOfReaders(ctx context.Context) {
	info, err := os.Stat(s.place)
	if err == nil && runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		s.options.Logger.WarnContext(ctx, "others on this machine may read all calendars and hashes: chmod 600 the database, and keep its backups likewise",
			"file", s.place, "mode", info.Mode().Perm().String())
	}
}

// dataSource is the driver's name for a file whose connections begin with these pragmas.
func dataSource(path string, pragmas ...string) string {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path // C:/calendar.db
	}
	query := url.Values{"_pragma": append(pragmas, fmt.Sprintf("busy_timeout(%d)", busyTimeout.Milliseconds()))}
	file := url.URL{Scheme: "file", Path: path, RawQuery: query.Encode()}
	return file.String()
}

// hasty finds rows by their keys, before a query could be interrupted. To watch over one, the driver and database/sql start a
// goroutine each, which takes longer than the row.
type hasty struct{ *statements }

func (h hasty) query(ctx context.Context, text string, args ...any) (rows, error) {
	if ctx.Err() == nil {
		ctx = context.WithoutCancel(ctx)
	}
	return h.statements.query(ctx, text, args...)
}

func (h hasty) ask(ctx context.Context, questions []question) error {
	return askInTurn(ctx, h, questions)
}
