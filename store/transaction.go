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
	// maxAttempts is the most attempts at a transaction.
	maxAttempts = 5
	// firstPause is the pause before the second attempt; it doubles for each further one.
	firstPause = 5 * time.Millisecond
	// rollbackTimeout bounds the cleanup after the caller's context has ended.
	rollbackTimeout = 5 * time.Second
)

// session is a transaction of an engine.
type session interface {
	querier
	exec(ctx context.Context, text string, args ...any) (changed int64, err error)
	// approach is called before the first calendar's lock, and may wait for earlier changes of this process.
	approach(ctx context.Context, id calendar.CalendarID) error
	// ask runs queries one after another; on Postgres they are sent together.
	ask(ctx context.Context, questions []question) error
	// later runs a statement at once, or sends it with the next one or the commit, which saves a round trip.
	// settle checks its result.
	later(ctx context.Context, settle settler, text string, args ...any) error
	// row is later for an inserted row; rows of one table may be written together.
	row(ctx context.Context, into *insertion, values ...any) error
	// script runs several statements without arguments.
	script(ctx context.Context, text string) error
	commit(ctx context.Context) error
	rollback(ctx context.Context)
}

// settler checks the result of a statement: the number of rows that it changed, or its error.
type settler func(changed int64, err error) error

// Tx is a transaction; it implements [calendar.Tx].
type Tx struct {
	session
	store *Store
	// unit is the first change of the current unit.
	unit calendar.ChangeID
	// moved is set if this transaction changed users' credential generations.
	moved bool
	// put counts the objects written.
	put int64
	// hint describes the change to watchers after the commit.
	hint calendar.Hint
}

// Update implements [calendar.Store].
func (s *Store) Update(ctx context.Context, fn func(tx calendar.Tx) error) error {
	return s.transact(ctx, func(t *Tx) error { return fn(t) })
}

// transact runs fn in a transaction, and retries it after a conflict.
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
		s.options.Logger.DebugContext(ctx, "retrying a transaction", "attempt", attempt, "err", err)
		select {
		case <-time.After(pause):
			pause *= 2
		case <-ctx.Done():
			return s.engine.translate(ctx, ctx.Err()) // nothing was stored
		}
	}
}

// uncertainError reports a commit that failed with an unknown outcome.
type uncertainError struct{ error }

func (e uncertainError) Unwrap() error { return e.error }

// again reports whether to retry a failed transaction: after a conflict, or if the connection was lost before
// the COMMIT was sent.
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
		// Cancellation at this point does not interrupt the commit.
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

// uncertain marks the error of a commit that may have succeeded anyway.
func (e *engine) uncertain(err error) error {
	if kind := e.fault(err); kind == faultCut || kind == faultAway {
		return notKnown(err)
	}
	return err
}

func notKnown(err error) error {
	return uncertainError{fmt.Errorf("it is unknown whether the change was stored: %w", err)}
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

// run is write without the number of changed rows.
func (s *Store) run(ctx context.Context, text string, args ...any) error {
	_, err := s.write(ctx, text, args...)
	return err
}

// run is exec without the number of changed rows.
func (t *Tx) run(ctx context.Context, text string, args ...any) error {
	_, err := t.exec(ctx, text, args...)
	return err
}
