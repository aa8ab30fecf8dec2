package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
)

// takeConn takes a connection from a pool, with the driver's view of it.
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

// pgxOf returns the connection inside one of database/sql.
func pgxOf(driver any) (*pgx.Conn, error) {
	c, ok := driver.(*stdlib.Conn)
	if !ok {
		return nil, fmt.Errorf("the driver's connection is a %T", driver)
	}
	return c.Conn(), nil
}

// closeConn closes a connection, even if the caller's context has ended.
func closeConn(ctx context.Context, conn *pgx.Conn) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), rollbackTimeout)
	defer cancel()
	_ = conn.Close(ctx)
}

// sendOn sends statements as one batch. The caller must read the results.
func sendOn(ctx context.Context, conn *pgx.Conn, statements []pending) pgx.BatchResults {
	var batch pgx.Batch
	for _, s := range statements {
		batch.Queue(s.text, s.args...)
	}
	return conn.SendBatch(ctx, &batch)
}

// settle reads the results of statements. After a failed one, the database ran none of the others.
func (e *Engine) settle(ctx context.Context, all pgx.BatchResults, statements []pending) error {
	for _, s := range statements {
		tag, err := all.Exec()
		if err := s.settle(tag.RowsAffected(), e.Translate(ctx, err)); err != nil {
			return err
		}
	}
	return nil
}

// closed ends the reading of results. It returns its error only if there was no earlier one.
func closed(all pgx.BatchResults, before error) error {
	if err := all.Close(); before == nil {
		return err
	}
	return nil
}

// pgRows are the rows of a query sent after pending statements.
type pgRows struct {
	pgx.Rows
	all pgx.BatchResults
}

// Close reads the remaining results, so that the connection can be used again.
func (r *pgRows) Close() error {
	r.Rows.Close()
	return errors.Join(r.Rows.Err(), closed(r.all, r.Rows.Err()))
}

func statementsOf(questions []Question) []pending {
	statements := make([]pending, len(questions))
	for i, q := range questions {
		statements[i] = pending{text: q.Text, args: q.Args}
	}
	return statements
}

// answer passes the results to the takers of their questions.
func answer(all pgx.BatchResults, questions []Question) (err error) {
	for i := 0; err == nil && i < len(questions); i++ {
		var rows pgx.Rows
		if rows, err = all.Query(); err == nil {
			err = questions[i].Take.from(rows)
			rows.Close()
		}
	}
	return errors.Join(err, closed(all, err))
}
