package store

import (
	"cmp"
	"context"
	"database/sql"
	"runtime"
	"slices"
	"sync"

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
	// begun tells that there was an answer, err what came of it.
	begun bool
	err   error
}

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
		led = <-mine.turn // somebody reads for it, or it has to read for others
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

// forgo gives a place up, unless it is about to be asked.
func (l *lanes) forgo(mine *passenger) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := slices.Index(l.waiting, mine)
	if i >= 0 {
		l.waiting = slices.Delete(l.waiting, i, i+1)
	}
	return i >= 0
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
	// The others have not gone when the first has.
	ctx, cancel := l.engine.bounded(context.WithoutCancel(ctx))
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
			one.begun = true
			one.err = one.take.from(rows)
			rows.Close()
			one.err = cmp.Or(one.err, rows.Err())
		}
		return all.Close()
	})
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
