package db

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
	// busyAgain is the pause before a retry where SQLite itself does not wait.
	busyAgain = 20 * time.Millisecond
)

// sqliteEngine describes SQLite.
func sqliteEngine() *Engine {
	return &Engine{
		Name:            "sqlite",
		countMigrations: `SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'migrations'`,
		Shrink:          `PRAGMA incremental_vacuum(500)`,
		Free: `SELECT CASE WHEN v.auto_vacuum = 2 THEN f.freelist_count ELSE 0 END
			FROM pragma_freelist_count f, pragma_auto_vacuum v`,
		Size:  `SELECT p.page_count * s.page_size FROM pragma_page_count p, pragma_page_size s`,
		Check: `PRAGMA quick_check(1)`,
		Columns: `SELECT m.name, c.name, c.type, c.pk FROM sqlite_schema m JOIN pragma_table_info(m.name) c
			WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite\_%' ESCAPE '\' ORDER BY m.name, c.cid`,
		References: `SELECT m.name, f."table" FROM sqlite_schema m JOIN pragma_foreign_key_list(m.name) f
			WHERE m.type = 'table'`,
		snapshot: sql.TxOptions{ReadOnly: true},
		Bulk:     100,
		fault:    sqliteFault,
	}
}

// sqliteFaults maps SQLite's result codes to faults. An extended code without a row of its own is treated like
// its primary code, the low byte.
var sqliteFaults = map[int]fault{
	codes.SQLITE_CONSTRAINT_UNIQUE:     faultTaken,
	codes.SQLITE_CONSTRAINT_PRIMARYKEY: faultTaken,
	codes.SQLITE_CONSTRAINT_FOREIGNKEY: faultOrphan,
	codes.SQLITE_BUSY:                  faultConflict,
	codes.SQLITE_LOCKED:                faultConflict,
	codes.SQLITE_FULL:                  faultFull,
	// The write-ahead log's index, a separate file, cannot grow.
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

// openSQLite opens a file with one connection for writes and a pool for reads. With the write-ahead log,
// readers and the writer never wait for each other.
func openSQLite(ctx context.Context, where string, o Options, h Hooks) (*DB, error) {
	path, err := sqlitePath(where)
	if err != nil {
		return nil, err
	}
	if err := createFile(path, o.Existing); err != nil {
		return nil, unusable(err)
	}
	d := &DB{Engine: sqliteEngine(), place: path, Options: o.withDefaults(defaultReaders), hooks: h}
	d.warnOfReaders(ctx)
	writer, closeWriter, err := d.openWriter(ctx, path)
	if err != nil {
		return nil, err
	}
	readers, err := sql.Open("sqlite", dataSource(path, "query_only(1)", "cache_size(-4000)", "temp_store(memory)"))
	if err != nil {
		return nil, errors.Join(err, closeWriter())
	}
	readers.SetMaxOpenConns(d.Options.MaxConns)
	readers.SetMaxIdleConns(d.Options.MaxConns)
	d.Reads = &statements{engine: d.Engine, on: readers, kept: map[string]*sql.Stmt{}}
	d.Brief, d.Lists = uninterrupted{d.Reads}, uninterrupted{d.Reads}
	d.begin = writer.begin
	d.Listen = listenFile(path)
	d.close = func() error { return errors.Join(d.Reads.Close(), readers.Close(), closeWriter()) }
	// The first read creates the index of the log, which readStates needs.
	if _, err := writer.Exec(ctx, "SELECT 1 FROM sqlite_schema"); err != nil {
		return nil, errors.Join(err, d.close())
	}
	d.state = readStates(path)
	return d, nil
}

// openWriter opens the connection for writes.
func (d *DB) openWriter(ctx context.Context, path string) (*fileWriter, func() error, error) {
	db, err := sql.Open("sqlite", dataSource(path,
		// Lets a new file shrink later. It must be set before the first write.
		"auto_vacuum(incremental)",
		"journal_mode(wal)",
		// An acknowledged write survives power loss.
		"synchronous(full)",
		"foreign_keys(1)",
		"cache_size(-8000)",
		// Writes to a large file are spread over it. Moving more of them at a time from the log into the file,
		// 16 MB, makes them fewer.
		"wal_autocheckpoint(4000)",
		// A long read lets the log grow; this returns the disk space afterwards.
		"journal_size_limit(67108864)"))
	if err != nil {
		return nil, nil, err
	}
	db.SetMaxOpenConns(1)
	conn, err := connectFile(ctx, db, path)
	if err != nil {
		if why := notWritable(path); why != nil {
			return nil, nil, errors.Join(unusable(why), db.Close())
		}
		return nil, nil, errors.Join(d.Engine.Translate(ctx, fmt.Errorf("%s: %w", path, err)), db.Close())
	}
	w := &fileWriter{statements: statements{engine: d.Engine, on: conn, kept: map[string]*sql.Stmt{}}, conn: conn}
	w.writerQueue.endGroup, w.writerQueue.mayJoin = w.commitAll, d.Options.Shares
	return w, func() error { return errors.Join(w.Close(), conn.Close(), db.Close()) }, nil
}

// connectFile opens a file that other processes may be creating at the same time. SQLite waits for a writer,
// but not for a connection that changes the journal mode.
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

// requireWAL refuses a file system without support for the write-ahead log, such as a network share.
func requireWAL(ctx context.Context, conn *sql.Conn, path string) error {
	var mode string
	if err := conn.QueryRowContext(ctx, "PRAGMA journal_mode").Scan(&mode); err != nil {
		return err
	}
	if mode != "wal" {
		return fmt.Errorf("the file system has no write-ahead log for SQLite (it offers %q): keep %s on a local disk",
			mode, filepath.Dir(path))
	}
	return nil
}

// File returns the file of a URL for SQLite.
func File(url string) (path string, ok bool) {
	if !strings.HasPrefix(url, "sqlite:") {
		return "", false
	}
	path, err := sqlitePath(url)
	return path, err == nil
}

// sqlitePath returns the absolute path of a URL's file.
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
		return "", fmt.Errorf("%s is not a file: a database in memory would be lost", path)
	}
	return filepath.Abs(path)
}

// createFile creates the file before SQLite does, readable only by its owner. SQLite gives the files next to it
// (-wal, -shm) the same mode.
func createFile(path string, existing bool) error {
	if _, err := os.Stat(path); existing && errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: %w", path, fs.ErrNotExist)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600) // the path is the administrator's choice
	if err != nil {
		return err
	}
	return f.Close()
}

// warnOfReaders warns of a file that other users of this machine can read, such as a restored copy. It does not
// change the mode, which may be the administrator's intention.
func (d *DB) warnOfReaders(ctx context.Context) {
	info, err := os.Stat(d.place)
	if err == nil && runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		d.Options.Logger.WarnContext(ctx,
			"other users of this machine can read all calendars and hashes: chmod 600 the database and its backups",
			"file", d.place, "mode", info.Mode().Perm().String())
	}
}

// dataSource returns the driver's name for a file, with the pragmas of its connections.
func dataSource(path string, pragmas ...string) string {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path // C:/calendar.db
	}
	query := url.Values{"_pragma": append(pragmas, fmt.Sprintf("busy_timeout(%d)", busyTimeout.Milliseconds()))}
	file := url.URL{Scheme: "file", Path: path, RawQuery: query.Encode()}
	return file.String()
}

// uninterrupted runs queries for rows by their keys, which end before they could be interrupted. To watch for
// cancellation, the driver and database/sql start a goroutine each, which takes longer than reading the row.
type uninterrupted struct{ *statements }

func (h uninterrupted) query(ctx context.Context, text string, args ...any) (rows, error) {
	if ctx.Err() == nil {
		ctx = context.WithoutCancel(ctx)
	}
	return h.statements.query(ctx, text, args...)
}

func (h uninterrupted) Ask(ctx context.Context, questions []Question) error {
	return askEach(ctx, h, questions)
}

// listenFile polls SQLite on a separate connection for writes by others. It also notices this process's own
// writes.
func listenFile(path string) func(context.Context, func(string)) error {
	return func(ctx context.Context, tell func(string)) (err error) {
		db, err := sql.Open("sqlite", dataSource(path, "query_only(1)"))
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, db.Close()) }()
		db.SetMaxOpenConns(1) // data_version is relative to one connection
		ticker := time.NewTicker(filePause)
		defer ticker.Stop()
		for last := int64(-1); ; {
			var now int64
			if err := db.QueryRowContext(ctx, "PRAGMA data_version").Scan(&now); err != nil {
				return err
			}
			if now != last {
				tell("")
			}
			last = now
			select {
			case <-ctx.Done():
				return nil
			case <-ticker.C:
			}
		}
	}
}

// filePause is how long another process's change of a SQLite file may go unnoticed.
const filePause = 250 * time.Millisecond
