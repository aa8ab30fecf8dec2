package db

import (
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// renewEpoch starts a new epoch if the current one started on another history. That is a lost primary, which
// may have committed more than the promoted standby has, or the cluster that this one is a copy of. If several
// processes notice at once, one of them does it.
const renewEpoch = `UPDATE meta SET epoch = $1, timeline = server_timeline(), cluster = server_cluster()
	WHERE id = 1 AND (timeline <> server_timeline() OR cluster <> server_cluster())`

// notRenewed are the SQLSTATEs of databases without an epoch to renew: the tables are missing or older than the
// program, it is a standby, or it was copied from a server that had other functions.
var notRenewed = append([]string{"42P01", "42703", "25006"}, noFeature...)

// plannerSettings are the planner settings of a connection. The text of each query determines its index, so planning
// for
// its values gains nothing, and takes up to five times as long as the query. Parallel workers take longer to
// start than any query runs. They are set after connecting, because a pooler may refuse unknown startup
// parameters. A setting in the URL takes precedence.
var plannerSettings = map[string]string{"plan_cache_mode": "force_generic_plan", "max_parallel_workers_per_gather": "0"}

// prepareConn prepares each new connection.
func (d *DB) prepareConn(ctx context.Context, conn *pgx.Conn) error {
	if err := setPlanner(ctx, conn); err != nil {
		return err
	}
	return d.renew(ctx, conn)
}

func setPlanner(ctx context.Context, conn *pgx.Conn) error {
	for name, value := range plannerSettings {
		if _, set := conn.Config().RuntimeParams[name]; set {
			continue
		}
		_, err := conn.Exec(ctx, "SET "+name+" = "+value)
		if e, known := errors.AsType[*pgconn.PgError](err); err != nil && (!known ||
			e.Code != "42704") { // no such setting
			return err
		}
	}
	return nil
}

// renew checks on each new connection whether the database is still the same. The view "life" shows a new epoch
// earlier, and also if a pooler shares the connections. But it cannot distinguish two standbys that were
// promoted one after another to the same timeline.
func (d *DB) renew(ctx context.Context, conn *pgx.Conn) error {
	tag, err := conn.Exec(ctx, renewEpoch, NewEpoch())
	if e, known := errors.AsType[*pgconn.PgError](err); known && slices.Contains(notRenewed, e.Code) {
		return nil
	}
	if err == nil && tag.RowsAffected() > 0 {
		d.Options.Logger.WarnContext(ctx,
			"another Postgres was promoted, or this is a copy: it may lack changes, so clients sync from the start")
		d.hooks.Renewed()
	}
	return err
}

// NewEpoch returns a random name, unique among all stores.
func NewEpoch() string { return strings.ToLower(rand.Text()) }
