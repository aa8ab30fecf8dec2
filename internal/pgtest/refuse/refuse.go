// Package refuse lends a Postgres database that refuses some features, as hosted and distributed databases do: LISTEN
// and NOTIFY, advisory locks, and the functions that identify the server's history.
package refuse

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/jackc/pgx/v5"
)

// functions are the refused ones.
const functions = `SELECT oid::regprocedure::text FROM pg_proc WHERE pronamespace = 'pg_catalog'::regnamespace
	AND (proname ~ '^pg_(try_)?advisory_' OR proname IN
		('pg_notify', 'pg_current_wal_lsn', 'pg_walfile_name', 'pg_control_system', 'pg_control_checkpoint'))`

// Database is such a database, with a role of its own.
type Database struct {
	// URL is its address, behind a proxy that refuses LISTEN.
	URL string

	server, name string
	proxy        *proxy
}

// On creates one on a server, whose URL belongs to a superuser.
func On(ctx context.Context, server string) (*Database, error) {
	at, err := url.Parse(server)
	if err != nil {
		return nil, fmt.Errorf("refuse: %w", err)
	}
	d := &Database{server: server, name: "refusing_" + strings.ToLower(rand.Text())}
	password := rand.Text()
	at.Path, at.RawQuery = "/"+d.name, "sslmode=disable"
	err = errors.Join(execute(ctx, server, "CREATE ROLE "+d.name+" LOGIN PASSWORD '"+password+"'",
		"CREATE DATABASE "+d.name+" OWNER "+d.name), revoke(ctx, at.String()))
	if err == nil {
		d.proxy, err = listen(ctx, at.Host)
	}
	if err != nil {
		return nil, errors.Join(err, d.drop(ctx))
	}
	at.User, at.Host = url.UserPassword(d.name, password), d.proxy.address()
	d.URL = at.String()
	return d, nil
}

// Drop removes it.
func (d *Database) Drop(ctx context.Context) error { return errors.Join(d.proxy.close(), d.drop(ctx)) }

func (d *Database) drop(ctx context.Context) error {
	return execute(ctx, d.server, "DROP DATABASE IF EXISTS "+d.name+" WITH (FORCE)", "DROP ROLE IF EXISTS "+d.name)
}

// revoke takes the functions from all roles but superusers.
func revoke(ctx context.Context, at string) error {
	return with(ctx, at, func(conn *pgx.Conn) error {
		rows, err := conn.Query(ctx, functions)
		if err != nil {
			return err
		}
		refused, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			return err
		}
		_, err = conn.Exec(ctx, "REVOKE EXECUTE ON FUNCTION "+strings.Join(refused, ", ")+" FROM PUBLIC")
		return err
	})
}

// execute runs statements one by one.
func execute(ctx context.Context, at string, statements ...string) error {
	return with(ctx, at, func(conn *pgx.Conn) error {
		for _, one := range statements {
			if _, err := conn.Exec(ctx, one); err != nil {
				return err
			}
		}
		return nil
	})
}

// with works on a connection.
func with(ctx context.Context, at string, work func(*pgx.Conn) error) error {
	conn, err := pgx.Connect(ctx, at)
	if err != nil {
		return fmt.Errorf("refuse: %w", err)
	}
	if err = errors.Join(work(conn), conn.Close(ctx)); err != nil {
		return fmt.Errorf("refuse: %w", err)
	}
	return nil
}
