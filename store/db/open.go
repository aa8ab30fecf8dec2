package db

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/stdlib"
)

// schemes select the engine by the start of the URL.
var schemes = [...]struct {
	prefix string
	open   func(ctx context.Context, url string, o Options, h Hooks) (*DB, error)
}{
	{"postgres://", openPostgres},
	{"postgresql://", openPostgres},
	{"sqlite:", openSQLite},
}

// Open opens the database at url: "postgres://…", "sqlite:PATH" or a bare path. It creates a missing SQLite file, but
// no tables: see [DB.Migrate].
func Open(ctx context.Context, url string, o Options, files fs.FS, h Hooks) (*DB, error) {
	if h.Renewed == nil {
		h.Renewed = func() {}
	}
	if h.Refresh == nil {
		h.Refresh = func(context.Context, error) (bool, error) { return false, nil }
	}
	open := openSQLite
	for _, scheme := range schemes {
		if strings.HasPrefix(url, scheme.prefix) {
			open = scheme.open
		}
	}
	d, err := open(ctx, url, o, h)
	if err != nil {
		return nil, err
	}
	d.Files = files
	d.Engine.faultLog = &faultLog{log: d.Options.Logger, now: d.Options.Now}
	return d, nil
}

// openPostgres opens a pool of connections and waits until the database answers.
func openPostgres(ctx context.Context, where string, o Options, h Hooks) (*DB, error) {
	d := &DB{Engine: postgresEngine(), Options: o.withDefaults(defaultConns), hooks: h}
	d.Engine.Patience = d.Options.StatementTimeout + d.Options.StatementTimeout/6
	where, listen, err := listenAt(where)
	if err != nil {
		return nil, err
	}
	config, err := postgresConfig(where, d.Options)
	if err != nil {
		return nil, err
	}
	d.place = fmt.Sprintf("%s on the Postgres at %s", config.Database,
		net.JoinHostPort(config.Host, strconv.Itoa(int(config.Port))))
	pool := stdlib.OpenDB(*config, stdlib.OptionAfterConnect(d.prepareConn))
	bound(pool, d.Options)
	// pgx keeps the prepared statements of each connection itself.
	d.Reads = &statements{engine: d.Engine, on: pool}
	l := newBatcher(d.Reads, pool, d.Options.MaxConns)
	d.Brief, d.Lists = l, unbatched{l}
	d.state = unknownState
	d.begin = beginPostgres(pool, newQueues(), d.Engine, d.Options.StatementTimeout)
	d.close = pool.Close
	d.Listen = d.listenOrPoll(listen.Of(config))
	d.announcer.send = d.announce
	d.Apart = withoutTimeout(listen.Of(config))
	if err := d.await(ctx, net.JoinHostPort(config.Host, strconv.Itoa(int(config.Port)))); err != nil {
		return nil, errors.Join(err, pool.Close())
	}
	if o.Replica != "" {
		if d.Replica, err = openReplica(ctx, d, o.Replica); err != nil {
			return nil, errors.Join(err, pool.Close())
		}
	}
	return d, nil
}
