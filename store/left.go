package store

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
)

// left is what a writer has written and not sent: the next one's first statements, or the commit, take it along. So each
// of those who share a commit takes one round trip.
type left struct {
	statements []pending
	by         *part
}

// send sends what the writer before has left, and own behind it, of which the results are to be read.
func (b *batch) send(ctx context.Context, e *engine, own []pending) (pgx.BatchResults, error) {
	before := b.left
	b.left = nil
	if before == nil {
		return sendOn(ctx, b.conn, own), nil
	}
	all := sendOn(ctx, b.conn, append(before.statements, own...))
	err := e.settle(ctx, all, before.statements)
	if err == nil {
		return all, nil
	}
	_ = all.Close()
	if err := b.withdraw(ctx, before.by, err); err != nil {
		return nil, err
	}
	return sendOn(ctx, b.conn, own), nil
}

// withdraw takes back what the writer before has written, where the database refused it: that writer alone hears of it. What failed on
// this side is nobody's fault, and all who have written begin anew.
func (b *batch) withdraw(ctx context.Context, by *part, refused error) error {
	b.lost = true
	if b.conn.IsClosed() {
		return refused // the connection is gone, and with it what all have written
	}
	if b.conn.PgConn().TxStatus() != 'E' {
		return errLost
	}
	by.kept, by.refused = false, refused
	if by.first {
		return errLost
	}
	// Of what came behind it in the same round trip the database has done nothing.
	_, err := b.conn.Exec(ctx, "ROLLBACK TO part; RELEASE part")
	b.lost, by.undone = err != nil, err == nil
	return err
}

// commit ends the transaction, with what the last writer has left.
func (b *batch) commit(ctx context.Context, e *engine) error {
	last := []pending{{text: "COMMIT", settle: ignore}}
	all, err := b.send(ctx, e, last)
	if err != nil {
		return err
	}
	err = e.settle(ctx, all, last)
	return errors.Join(err, closed(all, err))
}

// commitShared makes what ends the transaction of a batch, and gives its connection back.
func (e *engine) commitShared(timeout time.Duration) func(context.Context, *batch) error {
	return func(ctx context.Context, b *batch) (err error) {
		defer func() { _ = b.held.Close() }()
		if b.over {
			return b.err
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), timeout)
		defer cancel()
		if !b.lost && b.conn.PgConn().TxStatus() == 'T' {
			err = e.uncertain(e.translate(ctx, b.commit(ctx, e)))
		}
		if b.conn.PgConn().TxStatus() != 'I' {
			_, _ = b.conn.Exec(ctx, "ROLLBACK")
			return cmp.Or(err, errLost)
		}
		return err
	}
}
