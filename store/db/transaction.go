package db

import (
	"context"
	"errors"
	"fmt"
	"time"

	"caldav-mcp-server/trace"
)

// # What a change guarantees
//
// Every change of the database is a function that runs in one transaction, on both engines:
//
//  1. Changes of one row that lock it first, after Approach with its key, follow each other. Each holds the lock
//     until its commit is over, and reads all that it decides on after that. Package store locks the calendar's row.
//     On SQLite a change has the whole file.
//  2. What a change gives out under the lock is committed in its order, such as a calendar's next version.
//  3. A change locks further rows in the order of their ids, or only if they are free. Changes do not wait for each
//     other in a circle. If the database finds that they do, one of them begins again.
//  4. Transact returns nil only after the database has confirmed the commit, which waits for the disk.
//  5. Any other result of Transact means that nothing was stored, except an uncertainError: the connection broke
//     after the COMMIT was sent. Such a change is not repeated.
//  6. A change that another was in the way of, or whose connection broke before the COMMIT was sent, runs again
//     from the start, up to maxAttempts times. The function must not leave anything behind outside of its transaction.
//  7. A change whose error Hooks.Refresh can refresh runs again, too. Package store so checks the caller's rights
//     under the lock.
//  8. On Postgres, a change that uses Approach waits at most LockWait for its turn, and as long for each row's lock.
//     Then it fails with Unavailable.
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

// Tx is a transaction.
type Tx struct {
	session
	db *DB
	// Committed is called after the commit.
	Committed func()
	// hint is for other processes, heard is set if one of them listens.
	hint  string
	heard bool
}

// Transact runs fn in a transaction, and retries it after a conflict.
func (d *DB) Transact(ctx context.Context, fn func(*Tx) error) (err error) {
	ctx, span := trace.Start(ctx, "transaction", trace.Client)
	defer func() { span.End(err != nil) }()
	pause := firstPause
	for attempt := 1; ; attempt++ {
		err = d.attempt(ctx, fn)
		if err != nil && attempt < maxAttempts {
			if again, err := d.hooks.Refresh(ctx, err); err != nil {
				return err
			} else if again {
				continue
			}
		}
		d.counts.transaction(err, attempt)
		if d.Engine.fault(err) == faultFull {
			d.counts.full.Add(1)
			d.counts.fullAt.Store(d.Now())
		}
		if err == nil || attempt == maxAttempts || !d.again(err) {
			return d.Engine.Translate(ctx, err)
		}
		d.Options.Logger.DebugContext(ctx, "retrying a transaction", "attempt", attempt, "err", err)
		select {
		case <-time.After(pause):
			pause *= 2
		case <-ctx.Done():
			return d.Engine.Translate(ctx, ctx.Err()) // nothing was stored
		}
	}
}

// uncertainError reports a commit that failed with an unknown outcome.
type uncertainError struct{ error }

func (e uncertainError) Unwrap() error { return e.error }

// again reports whether to retry a failed transaction: after a conflict, or if the connection was lost before
// the COMMIT was sent.
func (d *DB) again(err error) bool {
	if _, uncertain := errors.AsType[uncertainError](err); uncertain {
		return false
	}
	kind := d.Engine.fault(err)
	return kind == faultConflict || kind == faultCut
}

// attempt runs fn in one transaction.
func (d *DB) attempt(ctx context.Context, fn func(*Tx) error) error {
	var t *Tx
	err := d.begin(ctx, func(session session) error {
		done := false
		defer func() {
			if !done {
				session.rollback(ctx)
			}
		}()
		t = &Tx{session: session, db: d}
		if err := fn(t); err != nil {
			return err
		}
		// Cancellation at this point does not interrupt the commit.
		if err := session.commit(context.WithoutCancel(ctx)); err != nil {
			return err
		}
		done = true
		return nil
	})
	if err == nil && t.Committed != nil {
		t.Committed()
	}
	if err == nil && t.heard {
		d.announcer.tell(t.hint)
	}
	return err
}

// uncertain marks the error of a commit that may have succeeded anyway.
func (e *Engine) uncertain(err error) error {
	if kind := e.fault(err); kind == faultCut || kind == faultAway {
		return notKnown(err)
	}
	return err
}

func notKnown(err error) error {
	return uncertainError{fmt.Errorf("it is unknown whether the change was stored: %w", err)}
}

// Run is exec without the number of changed rows.
func (t *Tx) Run(ctx context.Context, text string, args ...any) error {
	_, err := t.Exec(ctx, text, args...)
	return err
}

// MaybeScript runs an engine's script, if it has one.
func (t *Tx) MaybeScript(ctx context.Context, text string) error {
	if text == "" {
		return nil
	}
	return t.script(ctx, text)
}
