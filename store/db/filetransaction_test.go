package db

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/migrations"
)

// line queues several writers while one holds the turn, and then lets them go.
type line struct {
	*testing.T
	db     *DB
	writer *fileWriter
	all    sync.WaitGroup
	// start is closed when the first may end.
	start chan struct{}
}

func openFileDB(t *testing.T) *DB {
	t.Helper()
	d, err := Open(t.Context(), filepath.Join(t.TempDir(), "calendar.db"), Options{}, migrations.Files, Hooks{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	wanted, err := d.Wanted()
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Migrate(t.Context(), wanted, func(context.Context, *Tx) error { return nil }); err != nil {
		t.Fatal(err)
	}
	return d
}

func namesIn(ctx context.Context, d *DB) ([]string, error) {
	return RowsOf(ctx, d.Reads, ScanText, `SELECT name FROM users ORDER BY name`)
}

func newLine(t *testing.T) *line {
	t.Helper()
	d := openFileDB(t)
	l := &line{T: t, db: d, start: make(chan struct{})}
	holding := make(chan struct{})
	var once sync.Once // the transaction may begin anew
	l.all.Go(func() {
		err := d.Transact(t.Context(), func(tx *Tx) error {
			m, ok := tx.session.(*fileTransaction)
			if !ok {
				return fmt.Errorf("the session is a %T", tx.session)
			}
			once.Do(func() {
				l.writer = m.fileWriter
				close(holding)
			})
			<-l.start
			return insertUser(t.Context(), tx, "first", 1)
		})
		if err != nil {
			t.Error(err)
		}
	})
	<-holding
	return l
}

// add puts a writer at the end of the line.
func (l *line) add(ctx context.Context, work func(*Tx) error, judge func(error)) {
	l.Helper()
	before := l.length()
	l.all.Go(func() { judge(l.db.Transact(ctx, work)) })
	l.await(before + 1)
}

func (l *line) length() int {
	l.writer.writerQueue.mu.Lock()
	defer l.writer.writerQueue.mu.Unlock()
	return len(l.writer.waiting)
}

// await waits until so many writers are queued.
func (l *line) await(n int) {
	for l.length() != n {
		runtime.Gosched()
	}
}

// users ends the queue and returns the users in the store.
func (l *line) users() []string {
	l.Helper()
	close(l.start)
	l.all.Wait()
	names, err := namesIn(l.Context(), l.db)
	if err != nil {
		l.Fatal(err)
	}
	return names
}

func (l *line) fine(err error) {
	l.Helper()
	if err != nil {
		l.Error(err)
	}
}

// insertUser writes a row of about the given size.
func insertUser(ctx context.Context, tx *Tx, name string, size int) error {
	_, err := tx.Exec(ctx, `INSERT INTO users (id, name, display_name, email, timezone, created)
		VALUES ($1, $1, '', $2, '', 0)`,
		name, strings.Repeat("x", size))
	return err
}

func (l *line) inserts(name string) func(*Tx) error {
	return func(tx *Tx) error { return insertUser(l.Context(), tx, name, 1) }
}

// TestBatchIsOneCommit: one commit stores all queued writes, and none is visible before it.
func TestBatchIsOneCommit(t *testing.T) {
	t.Parallel()
	l := newLine(t)
	batches := make(chan *commitGroup, 3)
	for _, name := range []string{"a", "b", "c"} {
		l.add(t.Context(), func(tx *Tx) error {
			batches <- l.writer.group
			if users, err := namesIn(t.Context(), l.db); err != nil || len(users) > 0 {
				t.Errorf("seen before the commit: %v, %v", users, err)
			}
			return insertUser(t.Context(), tx, name, 1)
		}, l.fine)
	}
	if diff := cmp.Diff([]string{"a", "b", "c", "first"}, l.users()); diff != "" {
		t.Error(diff)
	}
	one := <-batches
	if two, three := <-batches, <-batches; one != two || one != three {
		t.Error("three writers in line needed more than one transaction")
	}
	select {
	case <-one.done:
	default:
		t.Error("the writers were told before the commit was over")
	}
}

// TestBatchWithoutOne: a failed write in a batch does not affect the others.
func TestBatchWithoutOne(t *testing.T) {
	t.Parallel()
	l := newLine(t)
	own := errors.New("own")
	l.add(t.Context(), l.inserts("a"), l.fine)
	l.add(t.Context(), func(tx *Tx) error {
		return errors.Join(insertUser(t.Context(), tx, "fails", 1), own)
	}, func(err error) {
		if !errors.Is(err, own) {
			t.Errorf("got error %v, want the writer's own", err)
		}
	})
	l.add(t.Context(), func(tx *Tx) error { return insertUser(t.Context(), tx, "a", 1) }, func(err error) {
		if calendar.ReasonOf(err) != calendar.Exists {
			t.Errorf("got error %v, want one for what exists", err)
		}
	})
	l.add(t.Context(), l.inserts("z"), l.fine)
	if diff := cmp.Diff([]string{"a", "first", "z"}, l.users()); diff != "" {
		t.Error(diff)
	}
}

// TestBatchPanics: a writer that panics is rolled back like one that fails.
func TestBatchPanics(t *testing.T) {
	t.Parallel()
	l := newLine(t)
	before := l.length()
	l.all.Go(func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic was swallowed")
			}
		}()
		_ = l.db.Transact(t.Context(), func(tx *Tx) error {
			l.fine(insertUser(t.Context(), tx, "panics", 1))
			panic("at the disco")
		})
	})
	l.await(before + 1)
	l.add(t.Context(), l.inserts("z"), l.fine)
	if diff := cmp.Diff([]string{"first", "z"}, l.users()); diff != "" {
		t.Error(diff)
	}
}

// TestBatchGivesUp: a writer whose context ends leaves the queue, at any position.
func TestBatchGivesUp(t *testing.T) {
	t.Parallel()
	for _, gone := range []string{"a", "b", "c"} {
		t.Run(gone, func(t *testing.T) {
			t.Parallel()
			l := newLine(t)
			ctx, cancel := context.WithCancel(t.Context())
			var want []string
			for _, name := range []string{"a", "b", "c"} {
				if name == gone {
					l.add(ctx, l.inserts(name), func(err error) {
						if !errors.Is(err, context.Canceled) {
							t.Errorf("got error %v, want the context's", err)
						}
					})
					continue
				}
				want = append(want, name)
				l.add(t.Context(), l.inserts(name), l.fine)
			}
			cancel()
			l.await(2)
			if diff := cmp.Diff(append(want, "first"), l.users()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestBatchIsLost: SQLite rolls back the whole transaction when the disk is full. The writer that caused it
// gets the error; the others in the batch are retried.
func TestBatchIsLost(t *testing.T) {
	t.Parallel()
	l := newLine(t)
	l.add(t.Context(), l.inserts("a"), l.fine)
	l.add(t.Context(), func(tx *Tx) error {
		if _, err := RowOf(t.Context(), tx, ScanNumber, "PRAGMA max_page_count = 60"); err != nil {
			return err
		}
		return insertUser(t.Context(), tx, "large", 1<<20)
	}, func(err error) {
		if calendar.RuleOf(err) != calendar.RuleDiskSpace {
			t.Errorf("got error %v, want that of a full disk", err)
		}
	})
	l.add(t.Context(), l.inserts("z"), l.fine)
	if diff := cmp.Diff([]string{"a", "first", "z"}, l.users()); diff != "" {
		t.Error(diff)
	}
}

// TestFirstIsLost: a transaction that SQLite rolled back is not reported as committed, even if its writer
// ignored the error. The next writer is stored.
func TestFirstIsLost(t *testing.T) {
	t.Parallel()
	d := openFileDB(t)
	tries := 0
	err := d.Transact(t.Context(), func(tx *Tx) error {
		if tries++; tries > 1 {
			return insertUser(t.Context(), tx, "again", 1)
		}
		if err := insertUser(t.Context(), tx, "lost", 1); err != nil {
			return err
		}
		if _, err := RowOf(t.Context(), tx, ScanNumber, "PRAGMA max_page_count = 60"); err != nil {
			return err
		}
		if err := insertUser(t.Context(), tx, "large", 1<<20); calendar.RuleOf(err) != calendar.RuleDiskSpace {
			t.Errorf("got error %v, want that of a full disk", err)
		}
		return nil
	})
	users, all := namesIn(t.Context(), d)
	if err != nil || all != nil || len(users) != 1 || users[0] != "again" {
		t.Errorf("there are %v: %v, %v", users, err, all)
	}
}

// TestBatchIsBounded: the first of many writers does not wait for all of them.
func TestBatchIsBounded(t *testing.T) {
	t.Parallel()
	l := newLine(t)
	sizes := make(chan int, 2*maxGroup)
	for i := range 2 * maxGroup {
		l.add(t.Context(), func(tx *Tx) error {
			sizes <- l.writer.group.size
			return insertUser(t.Context(), tx, fmt.Sprint(i), 1)
		}, l.fine)
	}
	if got := len(l.users()); got != 2*maxGroup+1 {
		t.Errorf("%d users", got)
	}
	close(sizes)
	largest := 0
	for size := range sizes {
		largest = max(largest, size)
	}
	if largest != maxGroup {
		t.Errorf("the largest batch had %d writers, want %d", largest, maxGroup)
	}
}
