package store

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"sync"

	"caldav-mcp-server/calendar"
)

// maxBatch bounds how many writes one commit keeps, and so how long the first of them waits.
const maxBatch = 64

// fileWriter is the one connection that writes to a SQLite file. Writers of this process stand in
// line for it. A writer with others behind it leaves the commit to the last: one wait for the
// disk keeps what all of them wrote, and nobody is told so before.
type fileWriter struct {
	statements
	conn *sql.Conn

	mu   sync.Mutex
	busy bool
	line []*place

	// batch is the transaction under way. It belongs to the writer whose turn it is.
	batch *batch
}

// place is one in the line.
type place struct{ turn chan struct{} }

// batch is a transaction of several writers, each but the first in a savepoint of its own. The first has nobody's writes
// before it, so that all of the transaction may go with it: under a savepoint SQLite copies each page before it is changed
// and writes out the words for the search again and again, which doubles what an invitation of fifty takes.
type batch struct {
	size int
	// lost tells that SQLite has rolled back all of it, as it does when the disk is full.
	lost bool
	// done is closed when the commit is over; then err is set.
	done chan struct{}
	err  error
}

// errLost sends those who were in a batch with the one who lost it back to the start.
var errLost = errors.New("the transaction was rolled back with another one's")

// begin runs work in a transaction.
func (w *fileWriter) begin(ctx context.Context, work func(session) error) (err error) {
	if err := w.enter(ctx); err != nil {
		return err
	}
	m := &member{fileWriter: w}
	defer func() {
		b := w.leave(ctx)
		if b == nil {
			return
		}
		// A refusal waits, too: it may be due to what another part wrote, which is not so until
		// it is kept. A refused writer that reads again must see why.
		if <-b.done; m.kept || m.undone && b.err != nil {
			err = b.err
		}
	}()
	if err := w.join(ctx); err != nil {
		return err
	}
	m.first = w.batch.size == 1
	return work(m)
}

// enter waits for the writer's turn.
func (w *fileWriter) enter(ctx context.Context) error {
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
func (w *fileWriter) forgo(mine *place) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	i := slices.Index(w.line, mine)
	if i >= 0 {
		w.line = slices.Delete(w.line, i, i+1)
	}
	return i >= 0
}

// join begins the transaction, unless it is under way, and the writer's part of it. It takes the
// file's write lock at once: a transaction that read first and then had to wait could only fail.
func (w *fileWriter) join(ctx context.Context) error {
	ctx = context.WithoutCancel(ctx)
	if w.batch == nil {
		if _, err := w.exec(ctx, "BEGIN IMMEDIATE"); err != nil {
			return err
		}
		w.batch = &batch{size: 1, done: make(chan struct{})}
		return nil
	}
	w.batch.size++
	_, err := w.exec(ctx, "SAVEPOINT part")
	w.batch.lost = err != nil
	return err
}

// leave hands the turn to the next in line, with the transaction, or else ends that.
func (w *fileWriter) leave(ctx context.Context) *batch {
	b := w.batch
	if (b == nil || b.size < maxBatch && !b.lost) && w.hand(true) {
		return b
	}
	if b != nil {
		b.err = w.end(ctx, b)
		w.batch = nil
		close(b.done)
	}
	w.hand(false)
	return b
}

// hand gives the turn to the next in line. When there is none the turn stays with its owner, to be
// ended, or nobody has it.
func (w *fileWriter) hand(keep bool) bool {
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

// end commits a batch, also when the last of its writers has gone away.
func (w *fileWriter) end(ctx context.Context, b *batch) error {
	ctx = context.WithoutCancel(ctx)
	err := errLost
	if !b.lost {
		_, err = w.exec(ctx, "COMMIT")
	}
	if err != nil {
		// Where this fails SQLite has rolled back by itself.
		_, _ = w.exec(ctx, "ROLLBACK")
	}
	return w.engine.uncertain(w.engine.translate(ctx, err))
}

// member is one writer's part of a batch.
type member struct {
	*fileWriter
	// first tells that nobody was before it in the batch. Kept tells that the part is to be committed, undone that only the
	// part was rolled back.
	first, kept, undone bool
}

// approach waits for nothing: a writer is alone.
func (m *member) approach(context.Context, calendar.CalendarID) error { return nil }

// query and exec let nobody's going away interrupt a statement, which would roll back everybody's
// part. It is over in a moment anyway.
func (m *member) query(ctx context.Context, text string, args ...any) (rows, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return m.statements.query(context.WithoutCancel(ctx), text, args...)
}

func (m *member) exec(ctx context.Context, text string, args ...any) (int64, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	return m.statements.exec(context.WithoutCancel(ctx), text, args...)
}

func (m *member) later(ctx context.Context, settle settler, text string, args ...any) error {
	return settle(m.exec(ctx, text, args...))
}

func (m *member) script(ctx context.Context, text string) error {
	_, err := m.conn.ExecContext(context.WithoutCancel(ctx), text)
	return m.engine.translate(ctx, err)
}

func (m *member) commit(ctx context.Context) error {
	ctx = context.WithoutCancel(ctx)
	var err error
	if !m.first {
		_, err = m.statements.exec(ctx, "RELEASE part")
	} else if _, within := m.statements.exec(ctx, "BEGIN"); within == nil {
		err = errLost // SQLite has rolled back, and nobody noticed: within the transaction that would be refused
	}
	m.kept = err == nil
	return err
}

// rollback gives up the writer's part. Where that cannot be done, all of the batch is lost.
func (m *member) rollback(ctx context.Context) {
	ctx = context.WithoutCancel(ctx)
	if m.first {
		// Where this fails SQLite has rolled back by itself.
		_, _ = m.statements.exec(ctx, "ROLLBACK")
		m.batch = nil
		return
	}
	if _, err := m.statements.exec(ctx, "ROLLBACK TO part"); err != nil {
		m.batch.lost = true
		return
	}
	_, err := m.statements.exec(ctx, "RELEASE part")
	m.batch.lost, m.undone = err != nil, err == nil
}
