package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"caldav-mcp-server/calendar"
)

// load are early changes that one commit keeps, in one round trip: without a BEGIN, statements that are sent together are one
// transaction. Whoever hears that a load is kept sends the next, on the same connection, and leaves it to the first of those in it
// to hear of that: so the database does not wait until somebody is woken.
type load struct {
	changes []*early
	// held is its connection to Postgres, conn the same as its driver has it.
	held *sql.Conn
	conn *pgx.Conn
	// sent are the statements under way, answer are their results, stop ends the time that they may take.
	sent   []pending
	answer pgx.BatchResults
	stop   context.CancelFunc
}

// lead sees to it that a load is kept, for the first of its changes, and sends the next.
func (l *load) lead(ctx context.Context, p *pipeline) {
	ctx = context.WithoutCancel(ctx)
	err := errLost
	defer func() { l.pass(ctx, p, err) }()
	if l.conn == nil {
		if err = l.connect(ctx, p); err != nil {
			return
		}
		l.send(ctx, p.engine)
	}
	err = l.hear(ctx, p.engine)
}

// pass sends the next load, and tells all what came of this one, whatever becomes of that.
func (l *load) pass(ctx context.Context, p *pipeline, err error) {
	told, next := p.at.convoy.judge(l, err)
	defer func() {
		for _, e := range told {
			if e != p.ahead {
				e.word <- nil
			}
		}
	}()
	if next != nil {
		next.held, next.conn = l.held, l.conn
		defer func() { next.changes[0].word <- next }()
		next.send(ctx, p.engine)
	} else if l.held != nil {
		_ = l.held.Close()
	}
}

// connect takes a connection that is there still, as far as can be seen.
func (l *load) connect(ctx context.Context, p *pipeline) (err error) {
	ctx, cancel := p.engine.bounded(ctx)
	defer cancel()
	if l.held, l.conn, err = takeConn(ctx, p.pool); err != nil {
		return p.engine.translate(ctx, err)
	}
	if !alive(l.conn.PgConn().Conn()) {
		hangUp(ctx, l.conn) // so that the pool gives it to nobody
		return errUnderLock
	}
	return nil
}

// send sends what the changes write.
func (l *load) send(ctx context.Context, e *engine) {
	ctx, l.stop = e.bounded(ctx)
	l.sent = l.statements()
	l.answer = sendOn(ctx, l.conn, l.sent)
}

// hear waits until the changes are kept. Where the database has answered that they are not, each of several hears what is its own fault
// when it is made under the lock. Where the connection broke, nobody knows, unless nothing was sent.
func (l *load) hear(ctx context.Context, e *engine) error {
	defer l.stop()
	if l.answer == nil {
		return errLost
	}
	err := e.settle(ctx, l.answer, l.sent)
	unsent := l.unsent(err)
	err = errors.Join(err, closed(l.answer, err))
	if err == nil {
		return nil
	}
	kind := e.fault(err)
	switch {
	case l.conn.IsClosed() && !unsent:
		if kind == faultOther { // a pooler that lost the database tells so in its own way
			err = &calendar.Error{Reason: faults[faultCut].reason, Message: faults[faultCut].message, Cause: err}
		}
		return notKnown(e.translate(ctx, err))
	case kind == faultSlow || kind == faultConflict:
		return e.translate(ctx, err)
	case movedOn(err):
		return errMovedOn
	}
	return errUnderLock
}

// unsent tells that nothing reached the database. Of statements that are not prepared pgx cannot say: it tells of a connection that broke
// behind them as of one that was closed before.
func (l *load) unsent(err error) bool {
	mode := l.conn.Config().DefaultQueryExecMode
	return mode != pgx.QueryExecModeExec && mode != pgx.QueryExecModeSimpleProtocol && pgconn.SafeToRetry(err)
}

// errMovedOn is what comes of a load whose calendar is not as it was: another server was there first.
var errMovedOn = fmt.Errorf("the calendar has moved on: %w", errUnderLock)

// movedOn tells whether the database refused what keepVersion makes no number of.
func movedOn(err error) bool {
	refused, is := errors.AsType[*pgconn.PgError](err)
	return is && refused.Code == "22P02"
}

// keepVersion gives a calendar its latest version. One that is at another than it is to be at, if only by name, since a standby has taken
// over, or in the trash, gets what is no number: the database refuses that, and with it all that is sent behind. Its log then says why, and
// shows nothing of the calendar. Whoever watches is told the hint $7.
const keepVersion = `UPDATE calendars SET version = CASE WHEN version = $2 AND trashed IS NULL AND $8 = (SELECT epoch FROM life) THEN $3::bigint
		ELSE CAST('changed meanwhile, version ' || version AS BIGINT) END, modified = $4,
	objects = objects + $5, bytes = bytes + $6 WHERE id = $1
	RETURNING (SELECT pg_notify(` + hintChannel + `, $7) IS NULL FROM meta WHERE id = 1 AND watched >= $4)`

// statements are what the changes write.
func (l *load) statements() []pending {
	var grown calendar.Usage
	var rows []pending
	var all gathering
	for _, e := range l.changes {
		grown = grown.Plus(e.grown)
		for _, g := range e.rows {
			for _, values := range g.rows {
				if !all.keep(g.into, values) {
					rows = append(rows, all.lists()...)
					all.keep(g.into, values)
				}
			}
		}
	}
	first, last := l.changes[0], l.changes[len(l.changes)-1]
	hint, _ := json.Marshal(calendar.Hint{Calendars: []calendar.CalendarID{first.id}}) // it consists of texts
	version := pending{keepVersion, []any{first.id, first.version - 1, last.version, last.at, grown.Objects, grown.Bytes, string(hint), first.epoch}, expectRow}
	return slices.Concat([]pending{version}, rows, all.lists())
}
