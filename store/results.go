package store

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
)

// sendOn sends statements together, of which the results are to be read.
func sendOn(ctx context.Context, conn *pgx.Conn, statements []pending) pgx.BatchResults {
	var batch pgx.Batch
	for _, s := range statements {
		batch.Queue(s.text, s.args...)
	}
	return conn.SendBatch(ctx, &batch)
}

// settle reads the results of statements. After one that failed the database has run none of the others.
func (e *engine) settle(ctx context.Context, all pgx.BatchResults, statements []pending) error {
	for _, s := range statements {
		tag, err := all.Exec()
		if err := s.settle(tag.RowsAffected(), e.translate(ctx, err)); err != nil {
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

// pgRows are the rows of a query that was sent after pending statements.
type pgRows struct {
	pgx.Rows
	all pgx.BatchResults
}

// Close reads what is left and makes the connection ready again.
func (r *pgRows) Close() error {
	r.Rows.Close()
	return errors.Join(r.Rows.Err(), closed(r.all, r.Rows.Err()))
}

func statementsOf(questions []question) []pending {
	statements := make([]pending, len(questions))
	for i, q := range questions {
		statements[i] = pending{text: q.text, args: q.args}
	}
	return statements
}

// answer hands the results over to those who asked.
func answer(all pgx.BatchResults, questions []question) (err error) {
	for i := 0; err == nil && i < len(questions); i++ {
		var rows pgx.Rows
		if rows, err = all.Query(); err == nil {
			err = questions[i].take.from(rows)
			rows.Close()
		}
	}
	return errors.Join(err, closed(all, err))
}
