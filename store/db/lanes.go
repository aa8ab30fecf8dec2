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
	// mostGathered is the most queries in a batch.
	mostGathered = 32
	// connTries is the number of attempts for a query whose connection turns out to be lost, as in
	// database/sql.
	connTries = 3
)

// lanes batches brief queries on Postgres. A query that finds a free lane runs at once. Queries that arrive
// while all lanes are taken wait for the first free one, which sends them together. That takes one round trip
// and one connection instead of one for each.
type lanes struct {
	*statements

	pool *sql.DB
	mu   sync.Mutex
	// taken is the number of lanes in use, of most.
	taken, most int
	waiting     []*passenger
}

// passenger is a query that waits for a lane, and then for its answer.
type passenger struct {
	Question
	// turn receives the batch that this query leads, itself first. It is closed after another query has led it.
	turn chan []*passenger
	// leads is set if this query runs the batch, which it must do even if its caller has gone.
	leads bool
	// taken is set by the goroutine that takes the answer, or by the query's own caller when it leaves before.
	taken atomic.Bool
	// begun is set if there was an answer; err is its outcome.
	begun bool
	err   error
}

// claim reports whether the caller is the first to claim the answer, to take it or to leave.
func (p *passenger) claim() bool { return p.taken.CompareAndSwap(false, true) }

// newLanes creates one lane per processor, to parse answers, and at least two, but uses at most half of the
// connections.
func newLanes(reads *statements, pool *sql.DB, conns int) *lanes {
	return &lanes{statements: reads, pool: pool, most: max(1, min(max(2, runtime.GOMAXPROCS(0)), conns/2))}
}

// Answer implements [answerer].
func (l *lanes) Answer(ctx context.Context, q Question) error {
	mine := l.enter(q)
	if mine == nil {
		defer l.hand()
		return l.alone(ctx, q)
	}
	var led []*passenger
	select {
	case led = <-mine.turn:
	case <-ctx.Done():
		if l.forgo(mine) {
			return ctx.Err()
		}
		led = <-mine.turn // its answer is being taken, or it has to lead the batch
	}
	if led != nil {
		l.lead(ctx, led)
	}
	if !mine.begun {
		return l.alone(ctx, q)
	}
	return mine.err
}

// enter takes a lane and returns nil, or returns a place in the queue.
func (l *lanes) enter(q Question) *passenger {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.taken < l.most {
		l.taken++
		return nil
	}
	mine := &passenger{Question: q, turn: make(chan []*passenger, 1)}
	l.waiting = append(l.waiting, mine)
	return mine
}

// forgo gives up a place in the queue or in another query's batch. It reports false if its answer is being
// taken.
func (l *lanes) forgo(mine *passenger) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if i := slices.Index(l.waiting, mine); i >= 0 {
		l.waiting = slices.Delete(l.waiting, i, i+1)
		return true
	}
	return !mine.leads && mine.claim()
}

// hand gives a lane to the waiting queries, or frees it.
func (l *lanes) hand() {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := min(len(l.waiting), mostGathered)
	if n == 0 {
		l.taken--
		return
	}
	led := slices.Clone(l.waiting[:n])
	l.waiting = slices.Delete(l.waiting, 0, n)
	led[0].leads = true
	led[0].turn <- led
}

// alone runs one query, on another connection if the first turns out to be lost before the query was sent.
func (l *lanes) alone(ctx context.Context, q Question) (err error) {
	for range connTries {
		if err = l.once(ctx, q); !pgconn.SafeToRetry(err) {
			break
		}
	}
	return err
}

func (l *lanes) once(ctx context.Context, q Question) error {
	return l.on(ctx, func(conn *pgx.Conn) error {
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
func (l *lanes) Ask(asked context.Context, questions []Question) (err error) {
	ctx, cancel := l.engine.bounded(asked)
	defer cancel()
	defer func() { err = l.engine.Translate(asked, err) }()
	span := traced(ctx, questions[0].Text)
	defer func() { span.End(err != nil) }()
	return l.on(ctx, func(conn *pgx.Conn) error {
		return answer(sendOn(ctx, conn, statementsOf(questions)), questions)
	})
}

// lead runs a batch of waiting queries. A query that gets no answer is retried by its caller, since another
// query of the batch may have failed.
func (l *lanes) lead(ctx context.Context, led []*passenger) {
	defer func() {
		l.hand()
		for _, other := range led[1:] {
			close(other.turn)
		}
	}()
	if first := led[0]; len(led) == 1 {
		first.begun, first.err = true, l.alone(ctx, first.Question)
		return
	}
	ctx, cancel := l.forAll(ctx)
	defer cancel()
	_ = l.on(ctx, func(conn *pgx.Conn) error {
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
				one.begun, one.err = true, one.Take.from(rows)
			}
			rows.Close()
			if one.begun {
				one.err = cmp.Or(one.err, rows.Err())
			}
		}
		return all.Close()
	})
}

// aside runs queries with an unbounded number of rows outside the lanes: one user's large home must not delay
// everyone's queries.
type aside struct{ *lanes }

func (a aside) Answer(ctx context.Context, q Question) error { return a.alone(ctx, q) }

// forAll returns the context of a batch. The leader's cancellation does not end it, since the others still
// wait. The leader's deadline does: without an answer, no query waits for two timeouts.
func (l *lanes) forAll(ctx context.Context) (context.Context, context.CancelFunc) {
	if end, has := ctx.Deadline(); has {
		return context.WithDeadline(context.WithoutCancel(ctx), end)
	}
	return l.engine.bounded(context.WithoutCancel(ctx))
}

// on runs a function on a connection of the pool.
func (l *lanes) on(ctx context.Context, do func(*pgx.Conn) error) (err error) {
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
