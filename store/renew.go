package store

import (
	"context"
	"errors"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// renewEpoch begins a new epoch where the present one was begun on another history: on a primary that
// is gone, and may have kept more than the standby that took over, or in a cluster of which this is a
// copy. Of several processes that notice at once, one does so.
const renewEpoch = `UPDATE meta SET epoch = $1, timeline = server_timeline(), cluster = server_cluster()
	WHERE id = 1 AND (timeline <> server_timeline() OR cluster <> server_cluster())`

// notRenewed are the SQLSTATEs of what has no epoch to renew: a database whose tables are not made yet
// or are an older program's, or a standby that has not taken over.
var notRenewed = []string{"42P01", "42703", "42883", "25006", "55000"}

// steady is how a connection plans. All our queries name by their text the index that they take: to plan one for its values takes up to five
// times as long as to answer it, and workers beside it take longer to start than any takes. A pooler is asked for
// neither when a connection begins, since it would refuse what it does not know; a URL that names one has its way.
var steady = map[string]string{"plan_cache_mode": "force_generic_plan", "max_parallel_workers_per_gather": "0"}

// greet is what each new connection begins with.
func (s *Store) greet(ctx context.Context, conn *pgx.Conn) error {
	if err := steadied(ctx, conn); err != nil {
		return err
	}
	return s.renew(ctx, conn)
}

func steadied(ctx context.Context, conn *pgx.Conn) error {
	for name, value := range steady {
		if _, set := conn.Config().RuntimeParams[name]; set {
			continue
		}
		_, err := conn.Exec(ctx, "SET "+name+" = "+value)
		if e, known := errors.AsType[*pgconn.PgError](err); err != nil && (!known || e.Code != "42704") { // no such setting
			return err
		}
	}
	return nil
}

// renew looks at each new connection whether the database behind it is the one that it was. The view
// "life" tells a new epoch from the old one before that is done, and where connections are pooled by
// somebody else; but two standbys that took over one after the other may both say that they are second.
func (s *Store) renew(ctx context.Context, conn *pgx.Conn) error {
	tag, err := conn.Exec(ctx, renewEpoch, newEpoch())
	if e, known := errors.AsType[*pgconn.PgError](err); known && slices.Contains(notRenewed, e.Code) {
		return nil
	}
	if err == nil && tag.RowsAffected() > 0 {
		s.options.Logger.WarnContext(ctx, "another Postgres has taken over, or this is a copy: what it may have lost cannot be told, so clients begin anew")
		s.hints.tell(everything())
	}
	return err
}
