package store

import (
	"context"
	"errors"
	"slices"
	"sync"
)

// maxBatch bounds how many writes one commit keeps, and so how long the first of them waits.
const maxBatch = 64

// turns are those of writers that write one after the other: to a file, or to a calendar. A writer with others behind it
// leaves the commit to the last: one wait for the disk keeps what all of them wrote, and nobody is told so before.
type turns struct {
	mu   sync.Mutex
	busy bool
	line []*place

	// batch is the transaction under way. It belongs to the writer whose turn it is.
	batch *batch
	// shares reports whether the next writer may join the transaction. It is nil but in tests, which refuse that at random.
	shares func() bool
	// end commits a batch, or gives it up.
	end func(context.Context, *batch) error
}

// place is one in the line.
type place struct{ turn chan struct{} }

// batch is a transaction of several writers, each but the first in a savepoint of its own. The first has nobody's writes
// before it, so that all of the transaction may go with it: under a savepoint SQLite copies each page before it is changed
// and writes out the words for the search again and again, which is an eighth and more of what an invitation of fifty takes.
type batch struct {
	size int
	// lost reports that the database rolled back all of it, as SQLite does when the disk is full.
	lost bool
	// done is closed when the commit is over; then err is set.
	done chan struct{}
	err  error
}

// open reports whether another writer may join.
func (b *batch) open() bool { return b.size < maxBatch && !b.lost }

// part is what one writer has of a batch.
type part struct {
	// first tells that nobody was before it in the batch. Kept tells that the part is to be committed, undone that only the
	// part was rolled back.
	first, kept, undone bool
}

// judge waits for the end of a batch, and says what came of one writer's part, which ended with err. A refusal waits, too: it
// may be due to what another part wrote, which is not so until it is kept. A refused writer that reads again must see why.
func (b *batch) judge(p *part, err error) error {
	if b == nil {
		return err
	}
	if <-b.done; p.kept || p.undone && b.err != nil {
		return b.err
	}
	return err
}

// errLost sends those who were in a batch with the one who lost it back to the start.
var errLost = errors.New("the transaction was rolled back with another one's")

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

// forgo gives a place in the line up, unless its turn has come.
func (w *turns) forgo(mine *place) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	i := slices.Index(w.line, mine)
	if i >= 0 {
		w.line = slices.Delete(w.line, i, i+1)
	}
	return i >= 0
}

// leave hands the turn to the next in line, with the transaction, or else ends that.
func (w *turns) leave(ctx context.Context) *batch {
	b := w.batch
	if (b == nil || b.open() && (w.shares == nil || w.shares())) && w.hand(true) {
		return b
	}
	w.conclude(ctx)
	w.hand(false)
	return b
}

// conclude ends the transaction, if one is under way.
func (w *turns) conclude(ctx context.Context) {
	if b := w.batch; b != nil {
		b.err = w.end(ctx, b)
		w.batch = nil
		close(b.done)
	}
}

// hand gives the turn to the next in line. When there is none the turn stays with its owner, to be
// ended, or nobody has it.
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
