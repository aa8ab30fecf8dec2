package db

import (
	"context"
	"errors"
	"slices"
	"sync"
)

// maxGroup is the most writes in a commit, which bounds how long the first of them waits.
const maxGroup = 64

// writerQueue is a queue of writers to a SQLite file. A writer with others waiting leaves the commit to the last of
// them: one disk sync commits all of them, and each returns to its caller only after that.
type writerQueue struct {
	mu      sync.Mutex
	busy    bool
	waiting []*waitingWriter

	// group is the current transaction. It belongs to the writer whose turn it is.
	group *commitGroup
	// mayJoin reports whether the next writer may join the transaction. It is nil except in tests, which refuse
	// at random.
	mayJoin func() bool
	// endGroup commits a batch, or rolls it back.
	endGroup func(context.Context, *commitGroup) error
}

// waitingWriter is a writer in the queue.
type waitingWriter struct{ turn chan struct{} }

// commitGroup is a transaction of several writers, each but the first in its own savepoint. The first needs none:
// there are no other writes that its rollback could undo. In a savepoint, SQLite copies each page before
// changing it, and flushes the full-text index again and again. That takes at least an eighth of the time for
// an invitation of fifty attendees.
type commitGroup struct {
	size int
	// lost is set if the database rolled back the whole transaction, as SQLite does when the disk is full.
	lost bool
	// done is closed after the commit; then err is set.
	done chan struct{}
	err  error
}

// open reports whether another writer may join.
func (b *commitGroup) open() bool { return b.size < maxGroup && !b.lost }

// part is one writer's part of a batch.
type part struct {
	// first is set for the first writer of a batch, kept if the part will be committed, undone if only this
	// part was rolled back.
	first, committed, rolledBack bool
}

// outcome waits for the end of a batch and returns the outcome of one writer's part, which ended with err. A
// refused writer waits, too. Its refusal may be due to another part, which is not committed before; when the
// writer reads again, it must see the reason.
func (b *commitGroup) outcome(p *part, err error) error {
	if b == nil {
		return err
	}
	if <-b.done; p.committed || p.rolledBack && b.err != nil {
		return b.err
	}
	return err
}

// errLost makes the writers of a batch start again if one of them lost the transaction.
var errLost = errors.New("the transaction was rolled back with another one in its batch")

// enter waits for the writer's turn.
func (w *writerQueue) enter(ctx context.Context) error {
	w.mu.Lock()
	if !w.busy {
		w.busy = true
		w.mu.Unlock()
		return nil
	}
	mine := &waitingWriter{make(chan struct{})}
	w.waiting = append(w.waiting, mine)
	w.mu.Unlock()
	select {
	case <-mine.turn:
		return nil
	case <-ctx.Done():
		if !w.abandon(mine) {
			w.leave(ctx) // the turn came at the same moment
		}
		return ctx.Err()
	}
}

// abandon gives up a place in the queue. It reports false if its turn has come.
func (w *writerQueue) abandon(mine *waitingWriter) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	i := slices.Index(w.waiting, mine)
	if i >= 0 {
		w.waiting = slices.Delete(w.waiting, i, i+1)
	}
	return i >= 0
}

// leave passes the turn and the transaction to the next writer, or ends the transaction.
func (w *writerQueue) leave(ctx context.Context) *commitGroup {
	b := w.group
	if (b == nil || b.open() && (w.mayJoin == nil || w.mayJoin())) && w.pass(true) {
		return b
	}
	w.conclude(ctx)
	w.pass(false)
	return b
}

// conclude ends the transaction, if there is one.
func (w *writerQueue) conclude(ctx context.Context) {
	if b := w.group; b != nil {
		b.err = w.endGroup(ctx, b)
		w.group = nil
		close(b.done)
	}
}

// pass passes the turn to the next writer. Without one it reports false; the caller then keeps the turn or, if
// add is false, gives it up.
func (w *writerQueue) pass(keep bool) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.waiting) == 0 {
		w.busy = keep
		return false
	}
	next := w.waiting[0]
	w.waiting = slices.Delete(w.waiting, 0, 1)
	close(next.turn)
	return true
}
