package db

import (
	"cmp"
	"context"
	"database/sql"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

const (
	// maxBatched is the most queries in a batch.
	maxBatched = 32
	// connTries is the number of attempts for a query whose connection turns out to be lost, as in
	// database/sql.
	connTries = 3
)

// batcher batches brief queries on Postgres. A query runs at once while fewer than limit run. Queries that arrive
// meanwhile wait for the first one to end, and are sent together. That takes one round trip
// and one connection instead of one for each.
type batcher struct {
	*statements

	pool *sql.DB
	mu   sync.Mutex
	// running is the number of queries and batches that run, of at most limit.
	running, limit int
	waiting        []*batchedQuery
}

// batchedQuery is a query that waits to be sent, and then for its answer.
type batchedQuery struct {
	Question
	// ready receives the batch that this query leads, itself first. It is closed after another query has led it.
	ready chan []*batchedQuery
	// leads is set if this query runs the batch, which it must do even if its caller has gone.
	leads bool
	// claimed is set by the goroutine that takes the answer, or by the query's own caller when it leaves before.
	claimed atomic.Bool
	// answered is set if there was an answer; err is its outcome.
	answered bool
	err      error
}

// claim reports whether the caller is the first to claim the answer, to take it or to leave.
func (p *batchedQuery) claim() bool { return p.claimed.CompareAndSwap(false, true) }

// newBatcher allows one query per processor, which parses answers, and at least two, but at most half of the
// connections.
func newBatcher(reads *statements, pool *sql.DB, conns int) *batcher {
	return &batcher{statements: reads, pool: pool, limit: max(1, min(max(2, runtime.GOMAXPROCS(0)), conns/2))}
}

// Answer implements [answerer].
func (l *batcher) Answer(ctx context.Context, q Question) error {
	mine := l.start(q)
	if mine == nil {
		defer l.release()
		return l.alone(ctx, q)
	}
	var led []*batchedQuery
	select {
	case led = <-mine.ready:
	case <-ctx.Done():
		if l.abandon(mine) {
			return ctx.Err()
		}
		led = <-mine.ready // its answer is being taken, or it has to lead the batch
	}
	if led != nil {
		l.runBatch(ctx, led)
	}
	if !mine.answered {
		return l.alone(ctx, q)
	}
	return mine.err
}

// start returns nil if the query may run at once, or its place in the queue.
func (l *batcher) start(q Question) *batchedQuery {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.running < l.limit {
		l.running++
		return nil
	}
	mine := &batchedQuery{Question: q, ready: make(chan []*batchedQuery, 1)}
	l.waiting = append(l.waiting, mine)
	return mine
}

// abandon gives up a place in the queue or in another query's batch. It reports false if its answer is being
// taken.
func (l *batcher) abandon(mine *batchedQuery) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if i := slices.Index(l.waiting, mine); i >= 0 {
		l.waiting = slices.Delete(l.waiting, i, i+1)
		return true
	}
	return !mine.leads && mine.claim()
}

// release lets the waiting queries run after one has ended.
func (l *batcher) release() {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := min(len(l.waiting), maxBatched)
	if n == 0 {
		l.running--
		return
	}
	led := slices.Clone(l.waiting[:n])
	l.waiting = slices.Delete(l.waiting, 0, n)
	led[0].leads = true
	led[0].ready <- led
}

// alone runs one query, on another connection if the first turns out to be lost before the query was sent.
func (l *batcher) alone(ctx context.Context, q Question) (err error) {
	for range connTries {
		if err = l.once(ctx, q); !pgconn.SafeToRetry(err) {
			break
		}
	}
	return err
}

func (l *batcher) once(ctx context.Context, q Question) error {
	return l.withConn(ctx, func(conn *pgx.Conn) error {
		rows, err := conn.Query(ctx, q.Text, q.Args...)
		if err != nil {
			return err
		}
		defer rows.Close()
		if err := q.Take.from(rows); err != nil {
			return err
		}
		rows.Close()
		return rows.Err()
	})
}

// Ask sends several queries of one caller together.
func (l *batcher) Ask(asked context.Context, questions []Question) (err error) {
	ctx, cancel := l.engine.bounded(asked)
	defer cancel()
	defer func() { err = l.engine.Translate(asked, err) }()
	span := traced(ctx, questions[0].Text)
	defer func() { span.End(err != nil) }()
	return l.withConn(ctx, func(conn *pgx.Conn) error {
		return answer(sendOn(ctx, conn, statementsOf(questions)), questions)
	})
}

// runBatch runs a batch of waiting queries. A query that gets no answer is retried by its caller, since another
// query of the batch may have failed.
func (l *batcher) runBatch(ctx context.Context, led []*batchedQuery) {
	defer func() {
		l.release()
		for _, other := range led[1:] {
			close(other.ready)
		}
	}()
	if first := led[0]; len(led) == 1 {
		first.answered, first.err = true, l.alone(ctx, first.Question)
		return
	}
	ctx, cancel := l.batchContext(ctx)
	defer cancel()
	_ = l.withConn(ctx, func(conn *pgx.Conn) error {
		statements := make([]pending, len(led))
		for i, one := range led {
			statements[i] = pending{text: one.Text, args: one.Args}
		}
		all := sendOn(ctx, conn, statements)
		for _, one := range led {
			rows, err := all.Query()
			if err != nil {
				break
			}
			if one.claim() {
				one.answered, one.err = true, one.Take.from(rows)
			}
			rows.Close()
			if one.answered {
				one.err = cmp.Or(one.err, rows.Err())
			}
		}
		return all.Close()
	})
}

// unbatched runs queries with an unbounded number of rows outside the batches: one user's large home must not delay
// everyone's queries.
type unbatched struct{ *batcher }

func (a unbatched) Answer(ctx context.Context, q Question) error { return a.alone(ctx, q) }

// batchContext returns the context of a batch. The leader's cancellation does not end it, since the others still
// wait. The leader's deadline does: without an answer, no query waits for two timeouts.
func (l *batcher) batchContext(ctx context.Context) (context.Context, context.CancelFunc) {
	if end, has := ctx.Deadline(); has {
		return context.WithDeadline(context.WithoutCancel(ctx), end)
	}
	return l.engine.bounded(context.WithoutCancel(ctx))
}

// withConn runs a function on a connection of the pool.
func (l *batcher) withConn(ctx context.Context, do func(*pgx.Conn) error) (err error) {
	held, err := l.pool.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = held.Close() }()
	return held.Raw(func(driver any) error {
		conn, err := pgxOf(driver)
		if err != nil {
			return err
		}
		return do(conn)
	})
}
