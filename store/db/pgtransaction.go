package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
)

// pgTransaction is a transaction on Postgres. It sends statements whose results are not needed at once together with
// the next query or with the COMMIT. A PUT takes two round trips in place of six, and holds its row's lock for one of
// them.
type pgTransaction struct {
	engine *Engine
	pool   *sql.DB
	queues *queues
	// at is the queue in which it has its turn, nil for none.
	at *queue
	// held is the transaction's connection, taken with the first statement, and conn is the driver's view of it.
	held *sql.Conn
	conn *pgx.Conn
	// pending are statements that are not sent yet, gathering are rows that follow them.
	pending []pending
	rowBuffer
	timeout time.Duration
}

// beginPostgres returns what runs work in a transaction on a connection of the pool.
func beginPostgres(
	pool *sql.DB, queues *queues, e *Engine, timeout time.Duration,
) func(context.Context, func(session) error) error {
	return func(_ context.Context, work func(session) error) error {
		p := &pgTransaction{engine: e, pool: pool, queues: queues, timeout: timeout}
		defer p.end()
		p.pending = append(p.pending, pending{text: "BEGIN", settle: Ignore})
		return work(p)
	}
}

// waitBriefly bounds the wait for the lock of a row by LockWait. It is no setting of the connection, since poolers
// refuse those.
var waitBriefly = pending{text: fmt.Sprintf("SET LOCAL lock_timeout = %d", LockWait.Milliseconds()), settle: Ignore}

// Approach waits in the queue of the first row that the transaction locks. A transaction that has a connection never
// waits there: those in front may wait for a connection.
func (p *pgTransaction) Approach(ctx context.Context, key string) (err error) {
	if p.conn != nil || p.at != nil || len(p.pending) > 1 || len(p.rows) > 0 {
		return nil
	}
	p.at, err = p.queues.enter(ctx, key)
	p.pending = append(p.pending, waitBriefly)
	return err
}

// connect takes a connection, unless the transaction has one.
func (p *pgTransaction) connect(ctx context.Context) (err error) {
	if p.conn == nil {
		p.held, p.conn, err = takeConn(ctx, p.pool)
	}
	return err
}

// end returns the connection and the turn.
func (p *pgTransaction) end() {
	if p.held != nil {
		_ = p.held.Close()
	}
	if p.at != nil {
		p.queues.leave(p.at)
	}
}

func (p *pgTransaction) Of() *Engine { return p.engine }

func (p *pgTransaction) Later(_ context.Context, settle settler, text string, args ...any) error {
	p.flushRows()
	p.pending = append(p.pending, pending{text, args, settle})
	return nil
}

// query sends the pending statements and the query.
func (p *pgTransaction) query(ctx context.Context, text string, args ...any) (rows, error) {
	all, err := p.send(ctx, pending{text: text, args: args})
	if err != nil {
		return nil, err
	}
	result, err := all.Query()
	if err != nil {
		return nil, errors.Join(err, closed(all, err))
	}
	return &pgRows{result, all}, nil
}

// Ask sends the pending statements and the questions.
func (p *pgTransaction) Ask(ctx context.Context, questions []Question) (err error) {
	defer func() { err = p.engine.Translate(ctx, err) }()
	span := traced(ctx, questions[0].Text)
	defer func() { span.End(err != nil) }()
	bounded, end := p.engine.bounded(ctx)
	defer end()
	all, err := p.send(bounded, statementsOf(questions)...)
	if err != nil {
		return err
	}
	return answer(all, questions)
}

// Exec sends the pending statements and this one.
func (p *pgTransaction) Exec(ctx context.Context, text string, args ...any) (int64, error) {
	var changed int64
	err := p.flush(ctx, pending{text: text, args: args, settle: func(n int64, err error) error {
		changed = n
		return err
	}})
	return changed, err
}

// script uses the protocol that takes several statements in one text.
func (p *pgTransaction) script(ctx context.Context, text string) error {
	if err := p.flush(ctx); err != nil {
		return err
	}
	_, err := p.conn.Exec(ctx, text)
	return p.engine.Translate(ctx, err)
}

// ErrIgnored is returned by a change that went on after the database refused one of its statements. Postgres would
// answer its COMMIT with a rollback that is no error.
var ErrIgnored = errors.New("the change ignored an error of the database")

// commit sends the pending statements with the COMMIT.
func (p *pgTransaction) commit(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	if err := p.connect(ctx); err != nil {
		return p.engine.Translate(ctx, err)
	}
	if p.conn.PgConn().TxStatus() == 'E' {
		return ErrIgnored
	}
	return p.engine.uncertain(p.flush(ctx, pending{text: "COMMIT", settle: Ignore}))
}

// rollback drops everything that the transaction did. If the connection fails meanwhile, the pool closes it.
func (p *pgTransaction) rollback(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), rollbackTimeout)
	defer cancel()
	p.pending, p.rows = nil, nil
	if p.conn != nil && p.conn.PgConn().TxStatus() != 'I' {
		_, _ = p.conn.Exec(ctx, "ROLLBACK")
	}
}

// flush sends the pending statements and more, and settles all of them.
func (p *pgTransaction) flush(ctx context.Context, more ...pending) error {
	all, err := p.send(ctx, more...)
	if err != nil {
		return p.engine.Translate(ctx, err)
	}
	err = p.engine.settle(ctx, all, more)
	return p.engine.Translate(ctx, errors.Join(err, closed(all, err)))
}

// send sends the pending statements and more. It settles the pending ones; the caller reads the results of the others.
func (p *pgTransaction) send(ctx context.Context, more ...pending) (pgx.BatchResults, error) {
	if err := p.connect(ctx); err != nil {
		return nil, err
	}
	p.flushRows()
	own := p.pending
	p.pending = nil // they are sent, whatever comes of them
	all := sendOn(ctx, p.conn, slices.Concat(own, more))
	if err := p.engine.settle(ctx, all, own); err != nil {
		return nil, errors.Join(err, closed(all, err))
	}
	return all, nil
}

// Row keeps a row for the statement that writes all new rows of its table.
func (p *pgTransaction) Row(_ context.Context, into *insertion, values ...any) error {
	if !p.add(into, values) {
		p.flushRows()
		p.add(into, values)
	}
	return nil
}

// flushRows makes statements of the rows that were kept.
func (p *pgTransaction) flushRows() { p.pending = append(p.pending, p.rowBuffer.batches()...) }
