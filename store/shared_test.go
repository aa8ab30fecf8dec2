package store

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/internal/testdb"
)

// queue has several changes of one calendar on Postgres wait behind one that has the turn, and then lets them go.
type queue struct {
	*testing.T
	store *Store
	at    *gate
	all   sync.WaitGroup
	start chan struct{}
}

func newQueue(t *testing.T) *queue {
	t.Helper()
	s, err := Open(t.Context(), testdb.Postgres(t), Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	if err := s.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	q := &queue{T: t, store: s, start: make(chan struct{})}
	q.fine(s.InsertUser(t.Context(), calendar.User{ID: "alice", Name: "alice"}, "hash"))
	q.fine(s.Update(t.Context(), func(tx calendar.Tx) error {
		return tx.InsertCalendar(t.Context(), calendar.Calendar{ID: "busy", Owner: "alice", Segment: "busy"})
	}))
	holding := make(chan struct{})
	var once sync.Once // the transaction may begin anew
	q.all.Go(func() {
		q.fine(s.transact(t.Context(), func(tx *Tx) error {
			err := changes(t.Context(), tx, "first")
			once.Do(func() {
				q.at = pipelineOf(tx).at
				close(holding)
			})
			<-q.start
			return err
		}))
	})
	<-holding
	return q
}

func pipelineOf(tx *Tx) *pipeline {
	p, _ := tx.session.(*pipeline)
	return p
}

// changes is a change of the calendar, which its journal has under a name.
func changes(ctx context.Context, tx *Tx, name string) error {
	cal, err := tx.Advance(ctx, "busy")
	if err != nil {
		return err
	}
	return tx.Log(ctx, calendar.Change{Calendar: cal.ID, Version: cal.Version, Object: calendar.ObjectName(name), Did: calendar.Created})
}

func (q *queue) fine(err error) {
	q.Helper()
	if err != nil {
		q.Error(err)
	}
}

// add puts a change at the end of the line.
func (q *queue) add(ctx context.Context, work func(*Tx) error, judge func(error)) {
	q.Helper()
	before := q.length()
	q.all.Go(func() { judge(q.store.transact(ctx, work)) })
	for q.length() != before+1 {
		runtime.Gosched()
	}
}

func (q *queue) length() int {
	q.at.mu.Lock()
	defer q.at.mu.Unlock()
	return len(q.at.line)
}

func (q *queue) changes(name string) func(*Tx) error {
	return func(tx *Tx) error { return changes(q.Context(), tx, name) }
}

// kept lets all go, and returns the lines of the journal in their order, which must have no gap.
func (q *queue) kept() []string {
	q.Helper()
	close(q.start)
	q.all.Wait()
	var names []string
	version := calendar.Version(1)
	type line struct {
		version calendar.Version
		name    string
	}
	lines, err := rowsOf(q.Context(), q.store.reads, func(row scanner) (l line, err error) {
		return l, row.Scan((*int64)(&l.version), &l.name)
	}, `SELECT version, object FROM journal WHERE calendar_id = 'busy' ORDER BY version`)
	q.fine(err)
	for _, l := range lines {
		if l.version != version {
			q.Errorf("%s has version %d, want %d", l.name, l.version, version)
		}
		version++
		names = append(names, l.name)
	}
	cal, err := q.store.Calendar(q.Context(), "alice", "busy")
	if err != nil || cal.Version != version-1 {
		q.Errorf("the calendar is at %d: %v", cal.Version, err)
	}
	return names
}

// TestSharedCommit: those who wait for one calendar are kept by one commit, which nobody sees before.
func TestSharedCommit(t *testing.T) {
	t.Parallel()
	q := newQueue(t)
	batches := make(chan *batch, 3)
	for _, name := range []string{"a", "b", "c"} {
		q.add(t.Context(), func(tx *Tx) error {
			err := changes(t.Context(), tx, name)
			batches <- pipelineOf(tx).at.batch
			if cal, err := q.store.Calendar(t.Context(), "alice", "busy"); err != nil || cal.Version != 0 {
				t.Errorf("version %d seen before the commit: %v", cal.Version, err)
			}
			return err
		}, q.fine)
	}
	if diff := cmp.Diff([]string{"first", "a", "b", "c"}, q.kept()); diff != "" {
		t.Error(diff)
	}
	one := <-batches
	if two, three := <-batches, <-batches; one != two || one != three || one.size != 4 {
		t.Errorf("they needed more than one transaction: %d in the first", one.size)
	}
	select {
	case <-one.done:
	default:
		t.Error("the writers were told before the commit was over")
	}
	if used := q.store.Pool().InUse; used != 0 {
		t.Errorf("%d connections were not given back", used)
	}
}

// TestSharedWithoutOne: anyone who fails takes nobody along, whether by an error of their own, of the database, or by going away.
func TestSharedWithoutOne(t *testing.T) {
	t.Parallel()
	q := newQueue(t)
	own := errors.New("own")
	ctx, cancel := context.WithCancel(t.Context())
	q.add(t.Context(), q.changes("a"), q.fine)
	q.add(t.Context(), func(tx *Tx) error { return errors.Join(changes(t.Context(), tx, "own"), own) }, func(err error) {
		if !errors.Is(err, own) {
			t.Errorf("got error %v, want the writer's own", err)
		}
	})
	q.add(t.Context(), func(tx *Tx) error {
		if err := changes(t.Context(), tx, "twice"); err != nil {
			return err
		}
		return tx.Log(t.Context(), calendar.Change{Calendar: "busy", Version: 1, Did: calendar.Created})
	}, func(err error) {
		if calendar.ReasonOf(err) != calendar.Exists {
			t.Errorf("got error %v, want one for what exists", err)
		}
	})
	q.add(ctx, func(tx *Tx) error {
		err := changes(ctx, tx, "gone")
		cancel()
		_, _, again := tx.Duplicates(ctx, "busy", "x", "")
		return errors.Join(err, again)
	}, func(err error) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("got error %v, want the context's", err)
		}
	})
	q.add(t.Context(), q.changes("z"), q.fine)
	if diff := cmp.Diff([]string{"first", "a", "z"}, q.kept()); diff != "" {
		t.Error(diff)
	}
}

// TestSharedNoFurther: a change with locks that the calendar's does not cover hands its transaction to nobody.
func TestSharedNoFurther(t *testing.T) {
	t.Parallel()
	q := newQueue(t)
	var batches [2]*batch
	q.add(t.Context(), func(tx *Tx) error {
		err := changes(t.Context(), tx, "a")
		batches[0] = pipelineOf(tx).at.batch
		return errors.Join(err, insertUser(t.Context(), tx, "bob", 1))
	}, q.fine)
	q.add(t.Context(), func(tx *Tx) error {
		err := changes(t.Context(), tx, "b")
		batches[1] = pipelineOf(tx).at.batch
		return err
	}, q.fine)
	if diff := cmp.Diff([]string{"first", "a", "b"}, q.kept()); diff != "" {
		t.Error(diff)
	}
	if batches[0] == batches[1] {
		t.Error("the next one waits for further calendars while the first has other locks")
	}
}

// TestSharedIsLost: where the database ends the connection, all who wrote over it begin anew, and each is kept once.
func TestSharedIsLost(t *testing.T) {
	t.Parallel()
	q := newQueue(t)
	var once sync.Once
	q.add(t.Context(), q.changes("a"), q.fine)
	q.add(t.Context(), func(tx *Tx) error {
		err := changes(t.Context(), tx, "b")
		once.Do(func() {
			pid := pipelineOf(tx).conn.PgConn().PID()
			if _, err := q.store.write(t.Context(), fmt.Sprintf("DO $$ BEGIN PERFORM pg_terminate_backend(%d); END $$", pid)); err != nil {
				t.Error(err)
			}
		})
		return err
	}, q.fine)
	q.add(t.Context(), q.changes("c"), q.fine)
	got := map[string]int{}
	for _, name := range q.kept() {
		got[name]++
	}
	if diff := cmp.Diff(map[string]int{"first": 1, "a": 1, "b": 1, "c": 1}, got); diff != "" {
		t.Error(diff)
	}
}

// TestUnheededRefusal: a change that goes on after the database refused a part of it is not said to be kept.
func TestUnheededRefusal(t *testing.T) {
	t.Parallel()
	q := newQueue(t)
	close(q.start)
	q.all.Wait()
	err := q.store.transact(t.Context(), func(tx *Tx) error {
		if err := insertUser(t.Context(), tx, "bob", 1); err != nil {
			return err
		}
		if _, err := tx.exec(t.Context(), `SELECT 1/0`); err == nil {
			t.Error("a division by zero is no error")
		}
		return nil
	})
	if !errors.Is(err, errUnheeded) {
		t.Errorf("got %v", err)
	}
}

// TestSharedRoundTrips: what a change has written goes to the database with the lock of the next, or with the commit.
func TestSharedRoundTrips(t *testing.T) {
	t.Parallel()
	q := newQueue(t)
	for _, name := range []string{"a", "b"} {
		q.add(t.Context(), func(tx *Tx) error {
			p := pipelineOf(tx)
			if err := p.approach(t.Context(), "busy", false); err != nil {
				return err
			}
			b := p.at.batch
			if b == nil || b.left == nil || len(b.left.statements) == 0 {
				t.Errorf("before %s nothing was left to be sent", name)
			}
			err := changes(t.Context(), tx, name)
			if b.left != nil {
				t.Errorf("%s has the lock, and what was written before is not sent", name)
			}
			return err
		}, q.fine)
	}
	if diff := cmp.Diff([]string{"first", "a", "b"}, q.kept()); diff != "" {
		t.Error(diff)
	}
}

// TestSharedFirstRefused: where the database refuses what the first has left, the others begin anew, and it alone hears why.
func TestSharedFirstRefused(t *testing.T) {
	t.Parallel()
	var refused error
	q := newQueue(t)
	q.add(t.Context(), func(tx *Tx) error {
		err := changes(t.Context(), tx, "a")
		return errors.Join(err, insertUser(t.Context(), tx, "bob", 1)) // so that the next begins a transaction
	}, q.fine)
	q.add(t.Context(), func(tx *Tx) error {
		if err := changes(t.Context(), tx, "twice"); err != nil {
			return err
		}
		return tx.Log(t.Context(), calendar.Change{Calendar: "busy", Version: 1, Did: calendar.Created})
	}, func(err error) { refused = err })
	q.add(t.Context(), q.changes("b"), q.fine)
	if diff := cmp.Diff([]string{"first", "a", "b"}, q.kept()); diff != "" {
		t.Error(diff)
	}
	if calendar.ReasonOf(refused) != calendar.Exists {
		t.Errorf("got error %v, want one for what exists", refused)
	}
}

// TestSharedJudged: a change that finds no row where it must change one fails by itself, and nobody begins anew for it.
func TestSharedJudged(t *testing.T) {
	t.Parallel()
	q := newQueue(t)
	var began atomic.Int32
	counted := func(name string) func(*Tx) error {
		return func(tx *Tx) error {
			began.Add(1)
			return changes(t.Context(), tx, name)
		}
	}
	none := func(err error) {
		if calendar.ReasonOf(err) != calendar.NotFound {
			t.Errorf("got error %v, want one for what is not there", err)
		}
	}
	q.add(t.Context(), counted("a"), q.fine)
	for what, gone := range map[string]func(*Tx) error{
		"buried":  func(tx *Tx) error { return tx.BuryObject(t.Context(), "busy", "none", 1) },
		"touched": func(tx *Tx) error { return tx.TouchObject(t.Context(), "busy", "none", 1) },
	} {
		q.add(t.Context(), func(tx *Tx) error { return errors.Join(counted(what)(tx), gone(tx)) }, none)
		q.add(t.Context(), counted("b"), q.fine)
	}
	if diff := cmp.Diff([]string{"first", "a", "b", "b"}, q.kept()); diff != "" {
		t.Error(diff)
	}
	if n := began.Load(); n != 5 {
		t.Errorf("five changes began %d times", n)
	}
}

// TestSharedFailsHere: where what a writer has left is not kept, and the database refused nothing, the writer hears nothing of it: all begin anew, and
// each is kept once.
func TestSharedFailsHere(t *testing.T) {
	t.Parallel()
	q := newQueue(t)
	var once sync.Once
	q.add(t.Context(), q.changes("a"), q.fine)
	q.add(t.Context(), func(tx *Tx) (err error) {
		p := pipelineOf(tx)
		once.Do(func() {
			if err = p.approach(t.Context(), "busy", false); err == nil {
				err = p.at.batch.withdraw(t.Context(), p.at.batch.left.by, errors.New("nothing was sent"))
			}
		})
		if err != nil {
			return err
		}
		return changes(t.Context(), tx, "b")
	}, q.fine)
	got := map[string]int{}
	for _, name := range q.kept() {
		got[name]++
	}
	if diff := cmp.Diff(map[string]int{"first": 1, "a": 1, "b": 1}, got); diff != "" {
		t.Error(diff)
	}
}
