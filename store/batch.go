package store

import (
	"context"
	"database/sql"

	"caldav-mcp-server/calendar"
)

// fileWriter is the one connection that writes to a SQLite file. Writers of this process stand in
// line for it. A writer with others behind it leaves the commit to the last: one wait for the
// disk keeps what all of them wrote, and nobody is told so before.
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

// commitAll commits a batch, also when the last of its writers has gone away.
func (w *fileWriter) commitAll(ctx context.Context, b *batch) error {
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
	part
	gathering
	// unheeded is why a row that was kept back could not be written: whoever asks next is told, and nothing is kept should they not heed it.
	unheeded error
}

// approach does not wait: a writer has the whole file.
func (m *member) approach(context.Context, calendar.CalendarID) error { return nil }

// query and exec let nobody's going away interrupt a statement, which would roll back everybody's
// part. It is over in a moment anyway.
func (m *member) query(ctx context.Context, text string, args ...any) (rows, error) {
	if err := m.ready(ctx); err != nil {
		return nil, err
	}
	return m.statements.query(context.WithoutCancel(ctx), text, args...)
}

func (m *member) exec(ctx context.Context, text string, args ...any) (int64, error) {
	if err := m.ready(ctx); err != nil {
		return 0, err
	}
	return m.statements.exec(context.WithoutCancel(ctx), text, args...)
}

func (m *member) ask(ctx context.Context, questions []question) error {
	return askInTurn(ctx, m, questions)
}

func (m *member) later(ctx context.Context, settle settler, text string, args ...any) error {
	return settle(m.exec(ctx, text, args...))
}

func (m *member) script(ctx context.Context, text string) error {
	if err := m.gather(ctx); err != nil {
		return err
	}
	_, err := m.conn.ExecContext(context.WithoutCancel(ctx), text)
	return m.engine.translate(ctx, err)
}

func (m *member) commit(ctx context.Context) error {
	ctx = context.WithoutCancel(ctx)
	if err := m.gather(ctx); err != nil {
		return err
	}
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
