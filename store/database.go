package store

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"sync/atomic"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/store/db"
)

// database is the open database, with what all parts of a store share.
type database struct {
	db         *db.DB
	hints      hints
	statistics statistics
	// alongs are the answers to CredentialGeneration.
	alongs db.Kept[alongKey, alongRow]
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
			s.hints.notify(t.hint)
			s.wrote(ctx, t.put)
		}
		if err := fn(t); err != nil {
			return err
		}
		return t.notifyOthers(ctx)
	})
}

// Update implements [calendar.Store].
func (s *Store) Update(ctx context.Context, fn func(tx calendar.Tx) error) error {
	return s.update(ctx, func(t *Tx) error { return fn(t) })
}

// update is Update with the store's own type.
func (s *Store) update(ctx context.Context, fn func(t *Tx) error) error {
	return s.transact(ctx, func(t *transaction) error {
		return fn(&Tx{
			transaction:  t,
			calendarTx:   calendarTx{t},
			mirrorTx:     mirrorTx{t},
			objectTx:     objectTx{t},
			schedulingTx: schedulingTx{t},
			shareTx:      shareTx{t},
			userTx:       userTx{t},
		})
	})
}

// Tx is a transaction; it implements [calendar.Tx].
type Tx struct {
	*transaction
	calendarTx
	mirrorTx
	objectTx
	schedulingTx
	shareTx
	userTx
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

// now is the time as stored.
func (s *database) now() int64 { return s.db.Now() }

// inSteps repeats a statement until it changes no more rows.
func (s *database) inSteps(ctx context.Context, count *int64, text string, args ...any) error {
	for {
		changed, err := s.write(ctx, text, args...)
		*count += changed
		if err != nil || changed == 0 {
			return err
		}
	}
}

// pruneRows is the most rows that one transaction of Prune removes, so that requests do not wait for it.
const pruneRows = 500

// eachCalendar calls do for one calendar after another, including the trash.
func (s *database) eachCalendar(ctx context.Context, do func(calendar.CalendarID) error) error {
	for last := calendar.CalendarID(""); ; {
		ids, err := db.RowsOf(ctx, s.db.Reads, db.ScanOnly[calendar.CalendarID], `SELECT id FROM calendars
			WHERE id > $1 ORDER BY id LIMIT $2`, last, pageRows)
		if err != nil || len(ids) == 0 {
			return err
		}
		for _, last = range ids {
			if err := do(last); err != nil {
				return err
			}
		}
	}
}

// Watch implements [calendar.Watchable].
func (s *database) Watch(heard func(calendar.Hint)) (stop func()) {
	n, w := &s.hints, &watcher{heard}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.watchers == nil {
		n.watchers = make(map[*watcher]bool)
	}
	n.watchers[w] = true
	if n.end == nil {
		n.end = n.start()
	}
	return func() { n.leave(w) }
}

// listen passes on the hints of other processes until ctx ends, or it fails.
func (s *database) listen(ctx context.Context, tell func(calendar.Hint)) error {
	return s.db.Listen(ctx, func(payload string) {
		var hint calendar.Hint
		if json.Unmarshal([]byte(payload), &hint) != nil {
			hint = everything() // unknown, or from a newer program
		}
		tell(hint)
	})
}

// notifyOthers notifies other processes after the commit.
func (t *transaction) notifyOthers(ctx context.Context) error {
	if t.hint.Empty() {
		return nil
	}
	return t.NotifyOthers(ctx, t.hint)
}

// errProofStale reports that the caller's credentials changed after the request was authenticated.
var errProofStale = &calendar.Error{Reason: calendar.Unavailable, Message: "your credentials keep changing"}

// provenStill returns the query for the generation of the caller's credentials, and the function that checks
// its answer. The query runs after the wait for a lock.
func (t *transaction) provenStill(ctx context.Context) ([]db.Question, func() error) {
	proof := auth.ProofOf(ctx)
	if proof == nil || t.moved {
		return nil, func() error { return nil }
	}
	var now []int64
	asked := db.Question{Take: db.TakeAll(&now, db.ScanNumber), Text: `SELECT credentials FROM users
		WHERE id = $1`, Args: []any{string(proof.User())}}
	return []db.Question{asked}, func() error {
		if len(now) != 1 || now[0] != proof.Generation() {
			return errProofStale
		}
		return nil
	}
}

// credentialsChanged advances one user's generation.
func (t *transaction) credentialsChanged(ctx context.Context, of calendar.UserID) error {
	return t.moveGeneration(ctx, moveGeneration+` WHERE id = $2`, of)
}

// allCredentialsChanged advances every user's generation.
func (t *transaction) allCredentialsChanged(ctx context.Context) error {
	return t.moveGeneration(ctx, moveGeneration)
}

func (t *transaction) moveGeneration(ctx context.Context, text string, args ...any) error {
	t.hint.Everything, t.moved = true, true
	return t.Run(ctx, text, append([]any{t.store.db.Options.Now().UnixMicro()}, args...)...)
}

// moveGeneration follows the clock, in microseconds. So after a restore from a backup, the next change does not
// reuse an old number. If the clock goes back, the number still grows.
const moveGeneration = `UPDATE users SET credentials = CASE WHEN credentials < $1 THEN $1 ELSE credentials + 1 END`

// taken replaces the message of an error for a value that exists already.
func taken(err error, rule calendar.Rule, message string) error {
	if err == nil || calendar.ReasonOf(err) != calendar.Exists {
		return err
	}
	return &calendar.Error{Reason: calendar.Exists, Rule: rule, Message: message, Cause: errors.Unwrap(err)}
}

const (
	// firstAnalysis is the number of written objects before the first ANALYZE; each further one follows after
	// analysisGrowth times as many.
	firstAnalysis  = 250
	analysisGrowth = 4
)

// statistics keeps Postgres' statistics about objects current while many are written at once, as in an import.
// Autovacuum checks only once a minute. Until then the planner assumes that every calendar is tiny, and scans
// all of it to find fifty names. A larger table needs an update less often.
type statistics struct {
	written, next atomic.Int64
	renewals      sync.WaitGroup
}

// due counts written objects and reports whether to update the statistics. Only one of several concurrent
// callers gets true.
func (s *statistics) due(objects int64) bool {
	written, next := s.written.Add(objects), s.next.Load()
	return written >= max(next, firstAnalysis) && s.next.CompareAndSwap(next, written*analysisGrowth)
}

// wrote counts objects, and updates the statistics when due. The writer does not wait for it: with a million
// objects it takes a second or two.
func (s *database) wrote(ctx context.Context, objects int64) {
	if objects > 0 && s.db.Engine.Analyze != "" && s.statistics.due(objects) {
		s.statistics.renewals.Go(func() { s.analyze(ctx) })
	}
}

// analyze updates the statistics.
func (s *database) analyze(ctx context.Context) {
	err := s.db.Maintain(context.WithoutCancel(ctx), s.db.Engine.Analyze+`objects`)
	if err != nil {
		s.db.Options.Logger.WarnContext(ctx, "cannot update the database's statistics", "err", err)
	}
}

const (
	// ofName and ofHolder find the user whose generation is read, by name and by token.
	ofName   = ` FROM users u WHERE u.name = $1`
	ofHolder = ` FROM tokens t JOIN users u ON u.id = t.user_id WHERE t.id = $1`

	selectGeneration = `SELECT u.credentials`
)
