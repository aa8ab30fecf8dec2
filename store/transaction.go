package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/trace"
)

// # What a change guarantees
//
// Every change of the database is a function that runs in one transaction, on both engines:
//
//  1. Changes of one calendar follow each other. Each locks the calendar's row first (Advance, AdvanceTo, AdvanceAll), and holds the lock
//     until its commit is over. All that it decides on is read after that. On SQLite a change has the whole file.
//  2. The lock gives the calendar its next version. So versions are committed in their order, and a sync token skips nothing.
//  3. A change locks further calendars in the order of their ids, or only if they are free (AdvanceFree). Changes do not wait for each other
//     in a circle. If the database finds that they do, one of them begins again.
//  4. Update returns nil only after the database has confirmed the commit, which waits for the disk.
//  5. Any other result of Update means that nothing was stored, except an uncertainError: the connection broke after the COMMIT was sent.
//     Such a change is not repeated.
//  6. A change that another was in the way of, or whose connection broke before the COMMIT was sent, runs again from the start, up to
//     maxAttempts times. The function must not leave anything behind outside of its transaction.
//  7. A change is stored only if the caller's rights hold after it has the lock: see provenStill.
//  8. A change waits for its turn and for the lock no longer than 2 * lockWait on Postgres, and fails with Unavailable.
//
// SQLite's writers share transactions, see turns: then 4 and 5 hold for all that are in one.

const (
	// maxAttempts bounds how often a transaction begins anew.
	maxAttempts = 5
	// firstPause is before the second attempt; each further one waits twice as long.
	firstPause = 5 * time.Millisecond
	// rollbackTimeout bounds the tidying up after the caller has gone.
	rollbackTimeout = 5 * time.Second
)

// session is a transaction as the engines have it.
type session interface {
	querier
	exec(ctx context.Context, text string, args ...any) (changed int64, err error)
	// approach is called before the first calendar's lock is taken, and may wait for changes of this process that are ahead.
	approach(ctx context.Context, id calendar.CalendarID) error
	// ask asks questions one after the other; on Postgres they are sent together.
	ask(ctx context.Context, questions []question) error
	// later runs a statement at once, or together with what comes next, at the latest the commit:
	// that spares a round trip. settle judges what came of it.
	later(ctx context.Context, settle settler, text string, args ...any) error
	// row is later for a row that is written; those of one table may be written together.
	row(ctx context.Context, into *insertion, values ...any) error
	// script runs several statements without arguments.
	script(ctx context.Context, text string) error
	commit(ctx context.Context) error
	rollback(ctx context.Context)
}

// settler judges what came of a statement: how many rows it changed, or its error.
type settler func(changed int64, err error) error

// Tx is a transaction; it implements [calendar.Tx].
type Tx struct {
	session
	store *Store
	// unit is the first change of the unit that is logged.
	unit calendar.ChangeID
	// moved reports that the transaction itself has moved users' generations on.
	moved bool
	// put counts the objects written.
	put int64
	// hint is what those who watch are told once it is kept.
	hint calendar.Hint
}

// Update implements [calendar.Store].
func (s *Store) Update(ctx context.Context, fn func(tx calendar.Tx) error) error {
	return s.transact(ctx, func(t *Tx) error { return fn(t) })
}

// transact runs fn in a transaction, again when another one was in the way.
func (s *Store) transact(ctx context.Context, fn func(*Tx) error) (err error) {
	auth.AlongOf(ctx).Forget()
	ctx, span := trace.Start(ctx, "transaction", trace.Client)
	defer func() { span.End(err != nil) }()
	pause := firstPause
	for attempt := 1; ; attempt++ {
		err = s.attempt(ctx, fn)
		if errors.Is(err, errProofStale) && attempt < maxAttempts {
			if err := auth.ProofOf(ctx).Renew(); err != nil {
				return err
			}
			continue
		}
		s.counts.transaction(err, attempt)
		if err == nil || attempt == maxAttempts || !s.again(err) {
			return s.engine.translate(ctx, err)
		}
		s.options.Logger.DebugContext(ctx, "transaction begins anew", "attempt", attempt, "err", err)
		select {
		case <-time.After(pause):
			pause *= 2
		case <-ctx.Done():
			return s.engine.translate(ctx, ctx.Err()) // nothing of it is kept
		}
	}
}

// uncertainError says that the commit failed in a way that leaves open whether it took place.
type uncertainError struct{ error }

func (e uncertainError) Unwrap() error { return e.error }

// again tells whether a transaction that failed may begin anew: one that was in conflict, or whose
// connection was lost before it asked for the commit.
func (s *Store) again(err error) bool {
	if _, uncertain := errors.AsType[uncertainError](err); uncertain {
		return false
	}
	kind := s.engine.fault(err)
	return kind == faultConflict || kind == faultCut
}

// attempt runs fn in one transaction.
func (s *Store) attempt(ctx context.Context, fn func(*Tx) error) error {
	var t *Tx
	err := s.begin(ctx, func(session session) error {
		done := false
		defer func() {
			if !done {
				session.rollback(ctx)
			}
		}()
		t = &Tx{session: session, store: s}
		if err := fn(t); err != nil {
			return err
		}
		if err := t.announce(ctx); err != nil {
			return err
		}
		// A caller who goes away at this moment does not interrupt the commit.
		if err := session.commit(context.WithoutCancel(ctx)); err != nil {
			return err
		}
		done = true
		return nil
	})
	if err == nil {
		s.hints.tell(t.hint)
		s.wrote(ctx, t.put)
	}
	return err
}

// uncertain marks the error of a commit that may have taken place all the same.
func (e *engine) uncertain(err error) error {
	if kind := e.fault(err); kind == faultCut || kind == faultAway {
		return notKnown(err)
	}
	return err
}

func notKnown(err error) error {
	return uncertainError{fmt.Errorf("whether the change was kept is not known: %w", err)}
}

// write runs one statement in a transaction of its own.
func (s *Store) write(ctx context.Context, text string, args ...any) (int64, error) {
	var changed int64
	err := s.transact(ctx, func(t *Tx) error {
		var err error
		changed, err = t.exec(ctx, text, args...)
		return err
	})
	return changed, err
}

// run is write where it does not matter how many rows are changed.
func (s *Store) run(ctx context.Context, text string, args ...any) error {
	_, err := s.write(ctx, text, args...)
	return err
}

// run is exec where it does not matter how many rows are changed.
func (t *Tx) run(ctx context.Context, text string, args ...any) error {
	_, err := t.exec(ctx, text, args...)
	return err
}
