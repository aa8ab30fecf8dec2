package db

import (
	"context"
	"errors"
	"slices"
	"sync"
)

// maxBatch is the most writes in a commit, which bounds how long the first of them waits.
const maxBatch = 64

// turns is a queue of writers to a SQLite file. A writer with others waiting leaves the commit to the last of
// them: one disk sync commits all of them, and each returns to its caller only after that.
type turns struct {
	mu   sync.Mutex
	busy bool
	line []*place

	// batch is the current transaction. It belongs to the writer whose turn it is.
	batch *batch
	// shares reports whether the next writer may join the transaction. It is nil except in tests, which refuse
	// at random.
	shares func() bool
	// end commits a batch, or rolls it back.
	end func(context.Context, *batch) error
}

// place is a writer in the queue.
type place struct{ turn chan struct{} }

// batch is a transaction of several writers, each but the first in its own savepoint. The first needs none:
// there are no other writes that its rollback could undo. In a savepoint, SQLite copies each page before
// changing it, and flushes the full-text index again and again. That takes at least an eighth of the time for
// an invitation of fifty attendees.
type batch struct {
	size int
	// lost is set if the database rolled back the whole transaction, as SQLite does when the disk is full.
	lost bool
	// done is closed after the commit; then err is set.
	done chan struct{}
	err  error
}

// open reports whether another writer may join.
func (b *batch) open() bool { return b.size < maxBatch && !b.lost }

// part is one writer's part of a batch.
type part struct {
	// first is set for the first writer of a batch, kept if the part will be committed, undone if only this
	// part was rolled back.
	first, kept, undone bool
}

// judge waits for the end of a batch and returns the outcome of one writer's part, which ended with err. A
// refused writer waits, too. Its refusal may be due to another part, which is not committed before; when the
// writer reads again, it must see the reason.
func (b *batch) judge(p *part, err error) error {
	if b == nil {
		return err
	}
	if <-b.done; p.kept || p.undone && b.err != nil {
		return b.err
	}
	return err
}

// errLost makes the writers of a batch start again if one of them lost the transaction.
var errLost = errors.New("the transaction was rolled back with another one in its batch")

// enter waits for the writer's turn.
func (w *turns) enter(ctx context.Context) error {
	w.mu.Lock()
	if !w.busy {
		w.busy = true
		w.mu.Unlock()
		return nil
	}
	mine := &place{make(chan struct{})}
	w.line = append(w.line, mine)
	w.mu.Unlock()
	select {
	case <-mine.turn:
		return nil
	case <-ctx.Done():
		if !w.forgo(mine) {
			w.leave(ctx) // the turn came at the same moment
		}
		return ctx.Err()
	}
}

// forgo gives up a place in the queue. It reports false if its turn has come.
func (w *turns) forgo(mine *place) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	i := slices.Index(w.line, mine)
	if i >= 0 {
		w.line = slices.Delete(w.line, i, i+1)
	}
	return i >= 0
}

// leave passes the turn and the transaction to the next writer, or ends the transaction.
func (w *turns) leave(ctx context.Context) *batch {
	b := w.batch
	if (b == nil || b.open() && (w.shares == nil || w.shares())) && w.hand(true) {
		return b
	}
	w.conclude(ctx)
	w.hand(false)
	return b
}

// conclude ends the transaction, if there is one.
func (w *turns) conclude(ctx context.Context) {
	if b := w.batch; b != nil {
		b.err = w.end(ctx, b)
		w.batch = nil
		close(b.done)
	}
}

// hand passes the turn to the next writer. Without one it reports false; the caller then keeps the turn or, if
// keep is false, gives it up.
func (w *turns) hand(keep bool) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.line) == 0 {
		w.busy = keep
		return false
	}
	next := w.line[0]
	w.line = slices.Delete(w.line, 0, 1)
	close(next.turn)
	return true
}
