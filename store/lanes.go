package store

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
	// mostGathered bounds how many questions are sent together.
	mostGathered = 32
	// connTries is how often a question is asked that no connection took, as database/sql does.
	connTries = 3
)

// lanes ask brief questions on Postgres. One that finds a lane free is asked at once. Those that come while all are taken wait
// for the first that is free, which takes all of them along: a round trip for many, where each had its own, and a connection.
type lanes struct {
	*statements

	pool *sql.DB
	mu   sync.Mutex
	// taken is how many lanes are, of most.
	taken, most int
	waiting     []*passenger
}

// passenger is a question that waits for a lane, and then for its answer.
type passenger struct {
	question
	// turn brings those whom it leads, itself the first; it is closed when another one has led it.
	turn chan []*passenger
	// leads tells that it is asked, with the others that it leads, whether it has gone or not.
	leads bool
	// taken is set by whoever takes the answer, or by the question itself when it goes away before.
	taken atomic.Bool
	// begun tells that there was an answer, err what came of it.
	begun bool
	err   error
}

// claim tells the first who asks that the answer is theirs to take, or to leave.
func (p *passenger) claim() bool { return p.taken.CompareAndSwap(false, true) }

// newLanes makes as many lanes as there are processors to take answers apart, two at least, but of no more than half of the connections.
func newLanes(reads *statements, pool *sql.DB, conns int) *lanes {
	return &lanes{statements: reads, pool: pool, most: max(1, min(max(2, runtime.GOMAXPROCS(0)), conns/2))}
}

// answer implements [answerer].
func (l *lanes) answer(ctx context.Context, q question) error {
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
		led = <-mine.turn // its answer is being taken, or it has to read for others
	}
	if led != nil {
		l.lead(ctx, led)
	}
	if !mine.begun {
		return l.alone(ctx, q)
	}
	return mine.err
}

// enter takes a lane, and returns nil, or a place among those that wait.
func (l *lanes) enter(q question) *passenger {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.taken < l.most {
		l.taken++
		return nil
	}
	mine := &passenger{question: q, turn: make(chan []*passenger, 1)}
	l.waiting = append(l.waiting, mine)
	return mine
}

// forgo gives a place up, in line or among those whom another one leads, unless its answer is being taken.
func (l *lanes) forgo(mine *passenger) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if i := slices.Index(l.waiting, mine); i >= 0 {
		l.waiting = slices.Delete(l.waiting, i, i+1)
		return true
	}
	return !mine.leads && mine.claim()
}

// hand gives a lane to those that wait, or leaves it free.
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

// alone asks a question by itself, on another connection where one turns out to be gone before it was asked.
func (l *lanes) alone(ctx context.Context, q question) (err error) {
	for range connTries {
		if err = l.once(ctx, q); !pgconn.SafeToRetry(err) {
			break
		}
	}
	return err
}

func (l *lanes) once(ctx context.Context, q question) error {
	return l.on(ctx, func(conn *pgx.Conn) error {
		rows, err := conn.Query(ctx, q.text, q.args...)
		if err != nil {
			return err
		}
		defer rows.Close()
		if err := q.take.from(rows); err != nil {
			return err
		}
		rows.Close()
		return rows.Err()
	})
}

// ask sends questions together, of one who has several.
func (l *lanes) ask(asked context.Context, questions []question) (err error) {
	ctx, cancel := l.engine.bounded(asked)
	defer cancel()
	defer func() { err = l.engine.translate(asked, err) }()
	span := traced(ctx, questions[0].text)
	defer func() { span.End(err != nil) }()
	return l.on(ctx, func(conn *pgx.Conn) error {
		return answer(sendOn(ctx, conn, statementsOf(questions)), questions)
	})
}

// lead asks together what waited. Those that are not answered are asked again by whoever wants to know: it may be another one's fault.
func (l *lanes) lead(ctx context.Context, led []*passenger) {
	defer func() {
		l.hand()
		for _, other := range led[1:] {
			close(other.turn)
		}
	}()
	if first := led[0]; len(led) == 1 {
		first.begun, first.err = true, l.alone(ctx, first.question)
		return
	}
	ctx, cancel := l.forAll(ctx)
	defer cancel()
	_ = l.on(ctx, func(conn *pgx.Conn) error {
		statements := make([]pending, len(led))
		for i, one := range led {
			statements[i] = pending{text: one.text, args: one.args}
		}
		all := sendOn(ctx, conn, statements)
		for _, one := range led {
			rows, err := all.Query()
			if err != nil {
				break
			}
			if one.claim() {
				one.begun, one.err = true, one.take.from(rows)
			}
			rows.Close()
			if one.begun {
				one.err = cmp.Or(one.err, rows.Err())
			}
		}
		return all.Close()
	})
}

// aside asks without a lane for as many rows as there are: what one user has made large would hold up the questions of all.
type aside struct{ *lanes }

func (a aside) answer(ctx context.Context, q question) error { return a.alone(ctx, q) }

// forAll is the context of a question that leads others: they have not gone when it has. It waits no longer than for itself, so that
// where no answer comes nobody waits for their own time and for that of another one.
func (l *lanes) forAll(ctx context.Context) (context.Context, context.CancelFunc) {
	if end, has := ctx.Deadline(); has {
		return context.WithDeadline(context.WithoutCancel(ctx), end)
	}
	return l.engine.bounded(context.WithoutCancel(ctx))
}

// on does something on a connection of the pool.
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
