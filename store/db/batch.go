package db

import (
	"cmp"
	"context"
	"database/sql"
)

// fileWriter is the one connection that writes to a SQLite file. Writers of this process queue for it. A writer
// with others waiting leaves the commit to the last of them: one disk sync commits all of them, and each
// returns to its caller only after that.
type fileWriter struct {
	statements
	turns

	conn *sql.Conn
}

// begin runs work in a transaction.
func (w *fileWriter) begin(ctx context.Context, work func(session) error) (err error) {
	if err := w.enter(ctx); err != nil {
		return err
	}
	m := &member{fileWriter: w}
	defer func() {
		err = w.leave(ctx).judge(&m.part, err)
	}()
	if err := w.join(ctx); err != nil {
		return err
	}
	m.first = w.batch.size == 1
	return work(m)
}

// join begins the transaction or, if one is open, the writer's savepoint in it. BEGIN IMMEDIATE takes the
// file's write lock at once: a transaction that reads first and waits for the lock later can only fail.
func (w *fileWriter) join(ctx context.Context) error {
	ctx = context.WithoutCancel(ctx)
	if w.batch == nil {
		if _, err := w.Exec(ctx, "BEGIN IMMEDIATE"); err != nil {
			return err
		}
		w.batch = &batch{size: 1, done: make(chan struct{})}
		return nil
	}
	w.batch.size++
	_, err := w.Exec(ctx, "SAVEPOINT part")
	w.batch.lost = err != nil
	return err
}

// commitAll commits a batch, even if its last writer's request was canceled.
func (w *fileWriter) commitAll(ctx context.Context, b *batch) error {
	ctx = context.WithoutCancel(ctx)
	err := errLost
	if !b.lost {
		_, err = w.Exec(ctx, "COMMIT")
	}
	if err != nil {
		// If this fails, SQLite has already rolled back.
		_, _ = w.Exec(ctx, "ROLLBACK")
	}
	return w.engine.uncertain(w.engine.Translate(ctx, err))
}

// member is one writer in a batch.
type member struct {
	*fileWriter
	part
	gathering
	// unheeded is why a deferred row could not be written. The next statement returns it; if the caller ignores
	// it, nothing is committed.
	unheeded error
}

// Approach does not wait: a writer holds the whole file.
func (m *member) Approach(context.Context, string) error { return nil }

// query and exec ignore cancellation: interrupting a statement would roll back every writer's part, and it ends
// in a moment anyway.
func (m *member) query(ctx context.Context, text string, args ...any) (rows, error) {
	if err := m.ready(ctx); err != nil {
		return nil, err
	}
	return m.statements.query(context.WithoutCancel(ctx), text, args...)
}

func (m *member) Exec(ctx context.Context, text string, args ...any) (int64, error) {
	if err := m.ready(ctx); err != nil {
		return 0, err
	}
	return m.statements.Exec(context.WithoutCancel(ctx), text, args...)
}

func (m *member) Ask(ctx context.Context, questions []Question) error {
	return askInTurn(ctx, m, questions)
}

func (m *member) Later(ctx context.Context, settle settler, text string, args ...any) error {
	return settle(m.Exec(ctx, text, args...))
}

func (m *member) script(ctx context.Context, text string) error {
	if err := m.gather(ctx); err != nil {
		return err
	}
	_, err := m.conn.ExecContext(context.WithoutCancel(ctx), text)
	return m.engine.Translate(ctx, err)
}

func (m *member) commit(ctx context.Context) error {
	ctx = context.WithoutCancel(ctx)
	if err := m.gather(ctx); err != nil {
		return err
	}
	var err error
	if !m.first {
		_, err = m.statements.Exec(ctx, "RELEASE part")
	} else if _, within := m.statements.Exec(ctx, "BEGIN"); within == nil {
		err = errLost // SQLite has rolled back unnoticed: inside a transaction this BEGIN would fail
	}
	m.kept = err == nil
	return err
}

// rollback undoes the writer's part. If that fails, the whole batch is lost.
func (m *member) rollback(ctx context.Context) {
	ctx = context.WithoutCancel(ctx)
	if m.first {
		// If this fails, SQLite has already rolled back.
		_, _ = m.statements.Exec(ctx, "ROLLBACK")
		m.batch = nil
		return
	}
	if _, err := m.statements.Exec(ctx, "ROLLBACK TO part"); err != nil {
		m.batch.lost = true
		return
	}
	_, err := m.statements.Exec(ctx, "RELEASE part")
	m.batch.lost, m.undone = err != nil, err == nil
}

// Row defers a row, as a pgTransaction does.
func (m *member) Row(ctx context.Context, into *insertion, values ...any) error {
	if m.keep(into, values) {
		return nil
	}
	if err := m.gather(ctx); err != nil {
		return err
	}
	m.keep(into, values)
	return nil
}

// ready checks that the caller's context has not ended, and writes the deferred rows.
func (m *member) ready(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return m.gather(ctx)
}

// gather writes the deferred rows.
func (m *member) gather(ctx context.Context) error {
	for _, g := range m.let() {
		for _, s := range g.singles() {
			if err := s.settle(m.statements.Exec(context.WithoutCancel(ctx), s.text, s.args...)); err != nil {
				m.unheeded = cmp.Or(m.unheeded, err)
				return err
			}
		}
	}
	return m.unheeded
}
