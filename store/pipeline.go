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
// the next one: a write takes three round trips in place of six, and holds the calendar's lock for
// two of them.
type pipeline struct {
	engine *engine
	pool   *sql.DB
	gates  *gates
	// held is the connection once there is one, conn the same as its driver has it.
	held *sql.Conn
	conn *pgx.Conn
	// leave gives back the place in front of a calendar, if one was entered.
	leave   func()
	entered bool
	// pending are the statements that were not sent yet.
	pending []pending
	// rows are those that wait for others of their tables, to come behind pending.
	rows    []*gathered
	timeout time.Duration
}

type pending struct {
	text   string
	args   []any
	settle settler
}

// beginPipeline makes what runs work in a transaction on a connection of the pool, which it takes with the first statement.
func beginPipeline(db *sql.DB, e *engine, timeout time.Duration) func(context.Context, func(session) error) error {
	calendars := &gates{all: map[calendar.CalendarID]*gate{}}
	return func(_ context.Context, work func(session) error) error {
		p := &pipeline{engine: e, pool: db, gates: calendars, timeout: timeout, leave: func() {}}
		defer p.end()
		p.pending = append(p.pending, pending{text: "BEGIN", settle: ignore})
		return work(p)
	}
}

// approach waits in front of the calendar that is changed first.
func (p *pipeline) approach(ctx context.Context, id calendar.CalendarID) error {
	if p.conn != nil || p.entered {
		return nil
	}
	leave, err := p.gates.enter(ctx, id)
	if err == nil {
		p.leave, p.entered = leave, true
	}
	return err
}

// connect takes a connection, unless the transaction has one. It is the transaction's alone until its end.
func (p *pipeline) connect(ctx context.Context) error {
	if p.conn != nil {
		return nil
	}
	held, err := p.pool.Conn(ctx)
	if err != nil {
		return err
	}
	p.held = held
	return held.Raw(func(driver any) error {
		c, ok := driver.(*stdlib.Conn)
		if !ok {
			return fmt.Errorf("the driver's connection is a %T", driver)
		}
		p.conn = c.Conn()
		return nil
	})
}

// end gives back what the transaction has taken.
func (p *pipeline) end() {
	if p.held != nil {
		_ = p.held.Close()
	}
	p.leave()
}

func ignore(_ int64, err error) error { return err }

func (p *pipeline) of() *engine { return p.engine }

func (p *pipeline) later(_ context.Context, settle settler, text string, args ...any) error {
	p.gather()
	p.pending = append(p.pending, pending{text, args, settle})
	return nil
}

// query sends what is pending with the query.
func (p *pipeline) query(ctx context.Context, text string, args ...any) (rows, error) {
	if err := p.connect(ctx); err != nil {
		return nil, err
	}
	all := p.send(ctx, pending{text: text, args: args})
	if err := p.settle(ctx, all, len(p.pending)); err != nil {
		return nil, errors.Join(err, closed(all, err))
	}
	p.pending = nil
	result, err := all.Query()
	if err != nil {
		return nil, errors.Join(err, closed(all, err))
	}
	return &pipelineRows{result, all}, nil
}

// exec sends what is pending with the statement.
func (p *pipeline) exec(ctx context.Context, text string, args ...any) (int64, error) {
	var changed int64
	err := p.flush(ctx, pending{text: text, args: args, settle: func(n int64, err error) error {
		changed = n
		return err
	}})
	return changed, err
}

// script uses the protocol that takes several statements in one text.
func (p *pipeline) script(ctx context.Context, text string) error {
	if err := p.flush(ctx); err != nil {
		return err
	}
	_, err := p.conn.Exec(ctx, text)
	return p.engine.translate(ctx, err)
}

func (p *pipeline) commit(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	return p.engine.uncertain(p.flush(ctx, pending{text: "COMMIT", settle: ignore}))
}

// rollback gives up what the transaction did. Should it fail, the connection is in no state to keep
// anything, and the pool throws it away.
func (p *pipeline) rollback(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), rollbackTimeout)
	defer cancel()
	p.pending, p.rows = nil, nil
	if p.conn != nil && p.conn.PgConn().TxStatus() != 'I' {
		_, _ = p.conn.Exec(ctx, "ROLLBACK")
	}
}

// flush sends what is pending with further statements, and settles all of them.
func (p *pipeline) flush(ctx context.Context, more ...pending) error {
	if err := p.connect(ctx); err != nil {
		return p.engine.translate(ctx, err)
	}
	all := p.send(ctx, more...)
	p.pending = append(p.pending, more...)
	err := p.settle(ctx, all, len(p.pending))
	p.pending = nil
	return p.engine.translate(ctx, errors.Join(err, closed(all, err)))
}

func (p *pipeline) send(ctx context.Context, more ...pending) pgx.BatchResults {
	p.gather()
	var batch pgx.Batch
	for _, s := range slices.Concat(p.pending, more) {
		batch.Queue(s.text, s.args...)
	}
	return p.conn.SendBatch(ctx, &batch)
}

// settle reads the results of the first n pending statements. After one that failed the database
// has run none of the others.
func (p *pipeline) settle(ctx context.Context, all pgx.BatchResults, n int) error {
	for _, s := range p.pending[:n] {
		tag, err := all.Exec()
		if err := s.settle(tag.RowsAffected(), p.engine.translate(ctx, err)); err != nil {
			return err
		}
	}
	return nil
}

// closed ends the reading of results. An earlier error is not told twice.
func closed(all pgx.BatchResults, before error) error {
	if err := all.Close(); before == nil {
		return err
	}
	return nil
}

// pipelineRows are the rows of a query that was sent with others before it.
type pipelineRows struct {
	pgx.Rows
	all pgx.BatchResults
}

// Close reads what is left and makes the connection ready again.
func (r *pipelineRows) Close() error {
	r.Rows.Close()
	return errors.Join(r.Rows.Err(), closed(r.all, r.Rows.Err()))
}
