package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"caldav-mcp-server/calendar"
)

// pipeline is a transaction on Postgres. Statements that nobody waits for are sent together with
// the next one: a write alone takes two round trips in place of six, and holds the calendar's lock for
// one of them.
type pipeline struct {
	engine *engine
	pool   *sql.DB
	lanes  *lanes
	gates  *gates
	// held is the connection once there is one, conn the same as its driver has it.
	held *sql.Conn
	conn *pgx.Conn
	// at is the calendar at which it has the turn, nil for none; what is there of the batch belongs to it until it leaves.
	at *gate
	part
	// ahead is the change as long as it is made without the calendar's lock, locks tells that it is made under it.
	ahead *early
	locks bool
	// begun tells that something was sent, further that it has locks which the calendar's does not cover.
	begun, further bool
	// pending are the statements that were not sent yet.
	pending []pending
	// gathering are rows that wait for others of their tables, to come behind pending.
	gathering
	timeout time.Duration
}

type pending struct {
	text   string
	args   []any
	settle settler
}

// judged tells that the statement fails where it changes no row.
func (s pending) judged() bool { return s.settle(0, nil) != nil }

// beginPipeline makes what runs work in a transaction on a connection of the pool, which it takes with the first statement.
func beginPipeline(db *sql.DB, lanes *lanes, calendars *gates, e *engine, timeout time.Duration) func(context.Context, func(session) error) error {
	return func(ctx context.Context, work func(session) error) (err error) {
		p := &pipeline{engine: e, pool: db, lanes: lanes, gates: calendars, timeout: timeout}
		defer func() { err = p.end(ctx, err) }()
		p.pending = append(p.pending, pending{text: "BEGIN", settle: ignore})
		return work(p)
	}
}

// approach waits in front of the calendar that is changed first, and goes on with the transaction of the one before.
func (p *pipeline) approach(ctx context.Context, id calendar.CalendarID, several bool) error {
	if p.conn != nil || p.at != nil || len(p.pending) > 1 || len(p.rows) > 0 {
		return nil
	}
	at, err := p.gates.enter(ctx, id)
	if err != nil {
		return err
	}
	p.at = at
	if several {
		at.conclude(ctx) // it may wait for long, which those before it need not
	}
	return p.underLock(ctx)
}

// underLock begins under the lock: with the transaction of the one before, or once nothing of the convoy is under way.
func (p *pipeline) underLock(ctx context.Context) error {
	if p.at.batch != nil {
		p.join()
		return nil
	}
	err := p.at.convoy.settled(ctx)
	if err == nil {
		p.lock()
	}
	return err
}

// lock has the convoy know of a change under the lock: it forgets which versions it gave.
func (p *pipeline) lock() {
	p.locks = true
	p.at.convoy.lock()
}

// join goes on with the transaction of the one before.
func (p *pipeline) join() {
	p.lock()
	b := p.at.batch
	b.size++
	p.held, p.conn = b.held, b.conn
	p.pending[0].text = "SAVEPOINT part"
}

// connect takes a connection, unless the transaction has one. It is the transaction's alone until its end.
func (p *pipeline) connect(ctx context.Context) error {
	if p.conn != nil {
		return nil
	}
	if p.ahead != nil {
		return p.ahead.refuse()
	}
	var err error
	if p.held, p.conn, err = takeConn(ctx, p.pool); err != nil {
		return err
	}
	if p.first = p.at != nil; p.first {
		p.at.batch = &batch{size: 1, held: p.held, conn: p.conn, done: make(chan struct{})}
	}
	return nil
}

// takeConn takes a connection from a pool, also as its driver has it.
func takeConn(ctx context.Context, pool *sql.DB) (held *sql.Conn, conn *pgx.Conn, err error) {
	if held, err = pool.Conn(ctx); err != nil {
		return nil, nil, err
	}
	err = held.Raw(func(driver any) (err error) {
		conn, err = pgxOf(driver)
		return err
	})
	if err != nil {
		return nil, nil, errors.Join(err, held.Close())
	}
	return held, conn, nil
}

// pgxOf is the connection that database/sql has.
func pgxOf(driver any) (*pgx.Conn, error) {
	c, ok := driver.(*stdlib.Conn)
	if !ok {
		return nil, fmt.Errorf("the driver's connection is a %T", driver)
	}
	return c.Conn(), nil
}

// end gives back what the transaction has taken, or hands it on, and waits until what it wrote is kept.
func (p *pipeline) end(ctx context.Context, err error) error {
	if p.held != nil && (p.at == nil || p.at.batch == nil) {
		_ = p.held.Close()
	}
	if p.at == nil {
		return err
	}
	defer p.gates.depart(p.at)
	b := p.at.leave(ctx)
	if p.locks {
		p.at.convoy.unlock()
	}
	if p.ahead != nil {
		return p.endEarly(ctx, err)
	}
	return b.judge(&p.part, err)
}

// shielded is the context for what a change asks of a transaction that has the writes of others in it: pgx closes the
// connection of a caller who goes away while the database works.
func (p *pipeline) shielded(ctx context.Context) (context.Context, context.CancelFunc, error) {
	if p.at == nil || p.first || p.conn == nil {
		return ctx, func() {}, nil
	}
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	ctx, cancel := p.engine.bounded(context.WithoutCancel(ctx))
	return ctx, cancel, nil
}

// note remembers what a statement locks.
func (p *pipeline) note(text string, args []any) {
	p.further = p.further || p.at == nil || p.at.reachesFurther(text, args)
}

func ignore(_ int64, err error) error { return err }

func (p *pipeline) of() *engine { return p.engine }

func (p *pipeline) later(_ context.Context, settle settler, text string, args ...any) error {
	if p.ahead != nil {
		return p.ahead.later(p.engine.announce, pending{text, args, settle})
	}
	p.note(text, args)
	p.gather()
	p.pending = append(p.pending, pending{text, args, settle})
	return nil
}

// query sends what is pending with the query.
func (p *pipeline) query(ctx context.Context, text string, args ...any) (rows, error) {
	if err := p.connect(ctx); err != nil {
		return nil, err
	}
	ctx, cancel, err := p.shielded(ctx)
	if err != nil {
		return nil, err
	}
	p.note(text, args)
	all, err := p.send(ctx, pending{text: text, args: args})
	if err != nil {
		cancel()
		return nil, err
	}
	result, err := all.Query()
	if err != nil {
		err = errors.Join(err, closed(all, err))
		cancel()
		return nil, err
	}
	return &pipelineRows{result, all, cancel}, nil
}

// ask sends what is pending with the questions.
func (p *pipeline) ask(ctx context.Context, questions []question) (err error) {
	defer func() { err = p.engine.translate(ctx, err) }()
	span := traced(ctx, questions[0].text)
	defer func() { span.End(err != nil) }()
	if err := p.connect(ctx); err != nil {
		return err
	}
	bounded, end := p.engine.bounded(ctx)
	defer end()
	bounded, cancel, err := p.shielded(bounded)
	if err != nil {
		return err
	}
	defer cancel()
	for _, q := range questions {
		p.note(q.text, q.args)
	}
	all, err := p.send(bounded, statementsOf(questions)...)
	if err != nil {
		return err
	}
	return answer(all, questions)
}

// exec sends what is pending with the statement.
func (p *pipeline) exec(ctx context.Context, text string, args ...any) (int64, error) {
	p.note(text, args)
	var changed int64
	err := p.flush(ctx, pending{text: text, args: args, settle: func(n int64, err error) error {
		changed = n
		return err
	}})
	return changed, err
}

// script uses the protocol that takes several statements in one text.
func (p *pipeline) script(ctx context.Context, text string) error {
	p.further = true
	if err := p.flush(ctx); err != nil {
		return err
	}
	_, err := p.conn.Exec(ctx, text)
	return p.engine.translate(ctx, err)
}

// commit keeps what was written, with the last statements. What has the writes of others in it, or somebody waits for, is
// kept when the turn ends.
func (p *pipeline) commit(ctx context.Context) error {
	if p.ahead != nil {
		p.ahead.rows = p.let()
		err := p.at.convoy.add(p.ahead)
		p.kept = err == nil
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	if err := p.connect(ctx); err != nil {
		return p.engine.translate(ctx, err)
	}
	if p.conn.PgConn().TxStatus() == 'E' {
		return errUnheeded
	}
	if p.at != nil {
		b := p.at.batch
		if b.alone = p.further; !p.first || p.begun && b.open(p.at.most) && p.at.waited() {
			return p.handOn(ctx)
		}
	}
	err := p.engine.uncertain(p.flush(ctx, pending{text: "COMMIT", settle: ignore}))
	if p.at != nil && err == nil {
		p.at.batch.over = true
	}
	return err
}

// errUnheeded is a change that goes on after the database refused a part of it. Its COMMIT would be answered by a rollback that is no error.
var errUnheeded = errors.New("the database refused a part of the transaction, and nobody heeded it")

// handOn leaves what was written, without the commit, to whoever comes next: that spares the round trip. What may fail without the
// database refusing it is sent before: it is to be taken back while nobody has written behind it.
func (p *pipeline) handOn(ctx context.Context) error {
	b := p.at.batch
	p.gather()
	if b.left != nil || slices.ContainsFunc(p.pending, pending.judged) {
		if err := p.flush(ctx); err != nil {
			return err
		}
	}
	if !p.first {
		p.pending = append(p.pending, pending{text: "RELEASE part", settle: ignore})
	}
	b.left = &left{p.pending, &p.part}
	p.pending, p.kept = nil, true
	return nil
}

// rollback gives up what the transaction did. Should it fail, the connection is in no state to keep
// anything, and the pool throws it away.
func (p *pipeline) rollback(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), rollbackTimeout)
	defer cancel()
	p.pending, p.rows = nil, nil
	switch {
	case p.conn == nil:
	case p.at == nil || p.first:
		if p.conn.PgConn().TxStatus() != 'I' {
			_, _ = p.conn.Exec(ctx, "ROLLBACK")
		}
		if p.at != nil {
			p.at.batch = nil
		}
	case p.begun:
		_, err := p.conn.Exec(ctx, "ROLLBACK TO part; RELEASE part")
		p.at.batch.lost, p.undone = p.at.batch.lost || err != nil, err == nil
	}
}

// flush sends what is pending with further statements, and settles all of them.
func (p *pipeline) flush(ctx context.Context, more ...pending) error {
	if err := p.connect(ctx); err != nil {
		return p.engine.translate(ctx, err)
	}
	ctx, cancel, err := p.shielded(ctx)
	if err != nil {
		return err
	}
	defer cancel()
	all, err := p.send(ctx, more...)
	if err != nil {
		return p.engine.translate(ctx, err)
	}
	err = p.engine.settle(ctx, all, more)
	return p.engine.translate(ctx, errors.Join(err, closed(all, err)))
}

// send sends what is pending and more behind it, of which the results are to be read.
func (p *pipeline) send(ctx context.Context, more ...pending) (all pgx.BatchResults, err error) {
	p.gather()
	own := p.pending
	p.pending, p.begun = nil, true // they are sent, whatever comes of them
	if p.at != nil {
		all, err = p.at.batch.send(ctx, p.engine, slices.Concat(own, more))
	} else {
		all = sendOn(ctx, p.conn, slices.Concat(own, more))
	}
	if err != nil {
		return nil, err
	}
	if err := p.engine.settle(ctx, all, own); err != nil {
		return nil, errors.Join(err, closed(all, err))
	}
	return all, nil
}
