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
	writerQueue

	conn *sql.Conn
}

// begin runs work in a transaction.
func (w *fileWriter) begin(ctx context.Context, work func(session) error) (err error) {
	if err := w.enter(ctx); err != nil {
		return err
	}
	m := &fileTransaction{fileWriter: w}
	defer func() {
		err = w.leave(ctx).outcome(&m.part, err)
	}()
	if err := w.join(ctx); err != nil {
		return err
	}
	m.first = w.group.size == 1
	return work(m)
}

// join begins the transaction or, if one is open, the writer's savepoint in it. BEGIN IMMEDIATE takes the
// file's write lock at once: a transaction that reads first and waits for the lock later can only fail.
func (w *fileWriter) join(ctx context.Context) error {
	ctx = context.WithoutCancel(ctx)
	if w.group == nil {
		if _, err := w.Exec(ctx, "BEGIN IMMEDIATE"); err != nil {
			return err
		}
		w.group = &commitGroup{size: 1, done: make(chan struct{})}
		return nil
	}
	w.group.size++
	_, err := w.Exec(ctx, "SAVEPOINT part")
	w.group.lost = err != nil
	return err
}

// commitAll commits a batch, even if its last writer's request was canceled.
func (w *fileWriter) commitAll(ctx context.Context, b *commitGroup) error {
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

// fileTransaction is one writer in a batch.
type fileTransaction struct {
	*fileWriter
	part
	rowBuffer
	// ignored is why a deferred row could not be written. The next statement returns it; if the caller ignores
	// it, nothing is committed.
	ignored error
}

// Approach does not wait: a writer holds the whole file.
func (m *fileTransaction) Approach(context.Context, string) error { return nil }

// query and exec ignore cancellation: interrupting a statement would roll back every writer's part, and it ends
// in a moment anyway.
func (m *fileTransaction) query(ctx context.Context, text string, args ...any) (rows, error) {
	if err := m.ready(ctx); err != nil {
		return nil, err
	}
	return m.statements.query(context.WithoutCancel(ctx), text, args...)
}

func (m *fileTransaction) Exec(ctx context.Context, text string, args ...any) (int64, error) {
	if err := m.ready(ctx); err != nil {
		return 0, err
	}
	return m.statements.Exec(context.WithoutCancel(ctx), text, args...)
}

func (m *fileTransaction) Ask(ctx context.Context, questions []Question) error {
	return askEach(ctx, m, questions)
}

func (m *fileTransaction) Later(ctx context.Context, settle settler, text string, args ...any) error {
	return settle(m.Exec(ctx, text, args...))
}

func (m *fileTransaction) script(ctx context.Context, text string) error {
	if err := m.flushRows(ctx); err != nil {
		return err
	}
	_, err := m.conn.ExecContext(context.WithoutCancel(ctx), text)
	return m.engine.Translate(ctx, err)
}

func (m *fileTransaction) commit(ctx context.Context) error {
	ctx = context.WithoutCancel(ctx)
	if err := m.flushRows(ctx); err != nil {
		return err
	}
	var err error
	if !m.first {
		_, err = m.statements.Exec(ctx, "RELEASE part")
	} else if _, within := m.statements.Exec(ctx, "BEGIN"); within == nil {
		err = errLost // SQLite has rolled back unnoticed: inside a transaction this BEGIN would fail
	}
	m.committed = err == nil
	return err
}

// rollback undoes the writer's part. If that fails, the whole batch is lost.
func (m *fileTransaction) rollback(ctx context.Context) {
	ctx = context.WithoutCancel(ctx)
	if m.first {
		// If this fails, SQLite has already rolled back.
		_, _ = m.statements.Exec(ctx, "ROLLBACK")
		m.group = nil
		return
	}
	if _, err := m.statements.Exec(ctx, "ROLLBACK TO part"); err != nil {
		m.group.lost = true
		return
	}
	_, err := m.statements.Exec(ctx, "RELEASE part")
	m.group.lost, m.rolledBack = err != nil, err == nil
}

// Row defers a row, as a pgTransaction does.
func (m *fileTransaction) Row(ctx context.Context, into *insertion, values ...any) error {
	if m.add(into, values) {
		return nil
	}
	if err := m.flushRows(ctx); err != nil {
		return err
	}
	m.add(into, values)
	return nil
}

// ready checks that the caller's context has not ended, and writes the deferred rows.
func (m *fileTransaction) ready(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return m.flushRows(ctx)
}

// flushRows writes the deferred rows.
func (m *fileTransaction) flushRows(ctx context.Context) error {
	for _, g := range m.take() {
		for _, s := range g.singles() {
			if err := s.settle(m.statements.Exec(context.WithoutCancel(ctx), s.text, s.args...)); err != nil {
				m.ignored = cmp.Or(m.ignored, err)
				return err
			}
		}
	}
	return m.ignored
}
