package db

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"caldav-mcp-server/internal/testdb"
)

// oneSlot returns a database whose only slot is taken until release is called.
func oneSlot(t *testing.T) (d *DB, l *batcher, release func()) {
	t.Helper()
	d, err := Open(t.Context(), testdb.Postgres(t), Options{MaxConns: 3}, nil, Hooks{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	l, is := d.Brief.(*batcher)
	if !is || l.limit != 1 {
		t.Fatalf("three connections have %+v, want one slot", d.Brief)
	}
	l.start(Question{})
	return d, l, l.release
}

// asking runs a query in the background; outcome waits for its answer.
func (l *batcher) asking(ctx context.Context, text string, args ...any) (outcome func() (int64, error)) {
	var n int64
	var err error
	var done sync.WaitGroup
	l.mu.Lock()
	before := len(l.waiting)
	l.mu.Unlock()
	done.Go(func() { n, err = RowOf(ctx, l, ScanNumber, text, args...) })
	for waiting := before; waiting == before; runtime.Gosched() {
		l.mu.Lock()
		waiting = len(l.waiting)
		l.mu.Unlock()
	}
	return func() (int64, error) {
		done.Wait()
		return n, err
	}
}

func answers(t *testing.T, want int64, outcome func() (int64, error)) {
	t.Helper()
	if got, err := outcome(); err != nil || got != want {
		t.Errorf("the answer is %d, %v, want %d", got, err, want)
	}
}

// TestBriefQuestionsShareARoundTrip: the database sees waiting queries as one transaction.
func TestBriefQuestionsShareARoundTrip(t *testing.T) {
	t.Parallel()
	_, l, release := oneSlot(t)
	const many = 2*maxBatched + 3
	outcomes := make([]func() (int64, error), many)
	for i := range outcomes {
		outcomes[i] = l.asking(t.Context(),
			`SELECT (extract(epoch FROM transaction_timestamp()) * 1000000)::bigint + 0 * $1::bigint`, i)
	}
	release()
	moments := map[int64]int{}
	for _, outcome := range outcomes {
		at, err := outcome()
		if err != nil {
			t.Fatal(err)
		}
		moments[at]++
	}
	if len(moments) != 3 {
		t.Errorf("%d questions were sent in %d round trips, want 3: %v", many, len(moments), moments)
	}
	if l.running != 0 || len(l.waiting) != 0 {
		t.Errorf("%d slots are taken by nobody, and %d wait", l.running, len(l.waiting))
	}
}

// TestEachBriefQuestionHasItsOwnFault: a query that fails, or breaks the connection, does not fail the others
// in its batch.
func TestEachBriefQuestionHasItsOwnFault(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]string{
		"refused": `SELECT 1 / $1::bigint`, "cannot be prepared": `SELECT nothing FROM nowhere WHERE $1 = 0`,
		"connection lost": `SELECT CASE WHEN pg_terminate_backend(pg_backend_pid()) THEN $1::bigint END
			FROM pg_sleep(0.01)`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, l, release := oneSlot(t)
			first := l.asking(t.Context(), `SELECT 10 + $1::bigint`, 1)
			wrong := l.asking(t.Context(), fault, 0)
			last := l.asking(t.Context(), `SELECT 20 + $1::bigint`, 2)
			release()
			answers(t, 11, first)
			answers(t, 22, last)
			if _, err := wrong(); err == nil {
				t.Error("what is wrong is answered")
			}
			answers(t, 7, func() (int64, error) { return RowOf(t.Context(), l, ScanNumber, `SELECT 7`) })
		})
	}
}

// TestWhoGoesAwayHoldsUpNobody: a canceled query delays no other, whether it is queued or first in the queue.
func TestWhoGoesAwayHoldsUpNobody(t *testing.T) {
	t.Parallel()
	_, l, release := oneSlot(t)
	ctx, cancel := context.WithCancel(t.Context())
	gone := l.asking(ctx, `SELECT 1`)
	stays := l.asking(t.Context(), `SELECT 2`)
	cancel()
	if _, err := gone(); !errors.Is(err, context.Canceled) {
		t.Errorf("who has gone hears %v", err)
	}
	release()
	answers(t, 2, stays)

	// A leader runs the batch even after its own cancellation.
	l.start(Question{})
	ctx, cancel = context.WithCancel(t.Context())
	cancel()
	first := l.start(Question{Take: func(Scanner) (bool, error) { return true, nil }, Text: `SELECT 3`})
	second := l.asking(t.Context(), `SELECT 4`)
	l.release()
	l.runBatch(ctx, <-first.ready)
	answers(t, 4, second)
	if !first.answered || first.err != nil {
		t.Errorf("the question of one that leads others comes to %+v", first)
	}
}

// TestBriefQuestionsOutliveConnections: queries succeed in a pool whose connections are lost.
func TestBriefQuestionsOutliveConnections(t *testing.T) {
	t.Parallel()
	d, l, release := oneSlot(t)
	release()
	if err := d.Apart(t.Context(), func(conn *pgx.Conn) error {
		answers(t, 1, func() (int64, error) { return RowOf(t.Context(), l, ScanNumber, `SELECT 1`) })
		_, err := conn.Exec(t.Context(), `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
			WHERE application_name = 'caldav-mcp-server' AND datname = current_database() AND pid <> pg_backend_pid()
				AND query = 'SELECT 1'`)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	_, _ = RowOf(t.Context(), l, ScanNumber, `SELECT 1`) // it may find out
	answers(t, 2, func() (int64, error) { return RowOf(t.Context(), l, ScanNumber, `SELECT 2`) })
}

// TestNobodyWaitsForAnothersTime: without an answer, each query waits as long as it would alone.
func TestNobodyWaitsForAnothersTime(t *testing.T) {
	t.Parallel()
	const brief, long = 200 * time.Millisecond, 3 * time.Second
	for name, times := range map[string][2]time.Duration{"who leads": {brief, long}, "who is led": {long, brief}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, l, release := oneSlot(t)
			for range d.Options.MaxConns {
				held, err := l.pool.Conn(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				defer held.Close()
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			began := time.Now()
			outcomes := map[time.Duration]func() (int64, error){}
			for _, patience := range times {
				ctx, cancel := context.WithTimeout(ctx, patience)
				defer cancel()
				outcomes[patience] = l.asking(ctx, `SELECT 1`)
			}
			release()
			if _, err := outcomes[brief](); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) > long/2 {
				t.Errorf("after %v: %v", time.Since(began), err)
			}
			cancel()
			if _, err := outcomes[long](); !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		})
	}
}
