package store

import (
	"context"
	"errors"
	"sync"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/store/db"
)

// database is the open database, with what all parts of a store share.
type database struct {
	db         *db.DB
	hints      hints
	statistics statistics
	// packers are for [pack].
	packers sync.Pool
}

// transaction is a transaction of the store. Its guarantees are in package store/db. Each change locks its calendar's
// row first (Advance, AdvanceTo, AdvanceAll), which gives the calendar its next version: so versions are committed in
// their order, and a sync token skips nothing. It is stored only if the caller's rights hold after it has the lock: see
// provenStill.
type transaction struct {
	*db.Tx
	store *database
	// unit is the first change of the current unit.
	unit calendar.ChangeID
	// moved is set if this transaction changed users' credential generations.
	moved bool
	// put counts the objects written.
	put int64
	// hint describes the change to watchers after the commit.
	hint calendar.Hint
}

// transact runs fn in a transaction, and retries it after a conflict.
func (s *database) transact(ctx context.Context, fn func(*transaction) error) (err error) {
	auth.AlongOf(ctx).Forget()
	return s.db.Transact(ctx, func(in *db.Tx) error {
		t := &transaction{Tx: in, store: s}
		in.Committed = func() {
			s.hints.tell(t.hint)
			s.wrote(ctx, t.put)
		}
		if err := fn(t); err != nil {
			return err
		}
		return t.announce(ctx)
	})
}

// refresh renews the caller's proof of rights if it is stale.
func refresh(ctx context.Context, failed error) (again bool, err error) {
	if !errors.Is(failed, errProofStale) {
		return false, nil
	}
	return true, auth.ProofOf(ctx).Renew()
}

// write runs one statement in a transaction of its own.
func (s *database) write(ctx context.Context, text string, args ...any) (int64, error) {
	var changed int64
	err := s.transact(ctx, func(t *transaction) error {
		var err error
		changed, err = t.Exec(ctx, text, args...)
		return err
	})
	return changed, err
}

// run is write without the number of changed rows.
func (s *database) run(ctx context.Context, text string, args ...any) error {
	_, err := s.write(ctx, text, args...)
	return err
}
