package db

import (
	"context"
	"database/sql"
	"errors"
)

// FileVersion reads the data_version of a SQLite file, which changes with each commit of any other connection, in this
// process or another one.
type FileVersion struct {
	pool *sql.DB
	conn *sql.Conn
	// version is PRAGMA data_version, prepared on conn.
	version *sql.Stmt
}

// FileVersion opens a connection for the file's version. It returns nil on Postgres.
func (d *DB) FileVersion(ctx context.Context) (*FileVersion, error) {
	if d.Engine.Name != "sqlite" {
		return nil, nil
	}
	pool, err := sql.Open("sqlite", dataSource(d.place, "query_only(1)"))
	if err != nil {
		return nil, err
	}
	conn, err := pool.Conn(ctx)
	if err != nil {
		return nil, errors.Join(err, pool.Close())
	}
	version, err := conn.PrepareContext(ctx, "PRAGMA data_version")
	if err != nil {
		return nil, errors.Join(err, conn.Close(), pool.Close())
	}
	return &FileVersion{pool, conn, version}, nil
}

// Now reads the version. A connection runs one statement at a time: callers take turns. One who goes away must not
// interrupt it.
func (v *FileVersion) Now(ctx context.Context) (now int64, err error) {
	err = v.version.QueryRowContext(context.WithoutCancel(ctx)).Scan(&now)
	return now, err
}

// Close closes the connection.
func (v *FileVersion) Close() error {
	return errors.Join(v.version.Close(), v.conn.Close(), v.pool.Close())
}
