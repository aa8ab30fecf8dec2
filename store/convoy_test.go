package store

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/internal/testdb"
)

// road is a calendar on Postgres on which early changes go.
type road struct {
	*testing.T
	store *Store
	url   string
	// program is what the database calls the process.
	program string
	// early counts the changes that were decided early, late those under the lock.
	early, late atomic.Int32
}

func newRoad(t *testing.T, url, settings string) *road {
	t.Helper()
	program := "road-" + strings.ToLower(rand.Text())
	s, err := Open(t.Context(), url+settings+"&application_name="+program, Options{MaxConns: 2}) // which the first load and one more question use up
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	r := &road{T: t, store: s, url: url, program: program}
	r.fine(s.Migrate(t.Context()))
	r.fine(s.InsertUser(t.Context(), calendar.User{ID: "alice", Name: "alice"}, "hash"))
	r.fine(s.Update(t.Context(), func(tx calendar.Tx) error {
		return tx.InsertCalendar(t.Context(), calendar.Calendar{ID: "busy", Owner: "alice", Segment: "busy"})
	}))
	return r
}

func (r *road) fine(err error) {
	r.Helper()
	if err != nil {
		r.Fatal(err)
	}
}

// put writes an object with a UID.
func (r *road) put(ctx context.Context, name, uid string) error {
	return r.store.transact(ctx, func(tx *Tx) error { return r.write(ctx, tx, name, uid) })
}

func (r *road) write(ctx context.Context, tx *Tx, name, uid string) error {
	cal, at, twin, err := tx.AdvanceTo(ctx, "busy", calendar.ObjectName(name), calendar.UID(uid))
	if err != nil {
		return err
	}
	if pipelineOf(tx).ahead != nil {
		r.early.Add(1)
	} else {
		r.late.Add(1)
	}
	if at != nil || twin != nil {
		return calendar.Errorf(calendar.Exists, "", "there is one")
	}
	data := []byte(name + "'s data")
	o := calendar.Object{
		Calendar: "busy", Name: calendar.ObjectName(name), Version: cal.Version, ETag: calendar.ETagOf(data), Size: int64(len(data)), Data: data,
		Derived: calendar.Derived{UID: calendar.UID(uid), Kind: "VEVENT"},
	}
	if err := tx.PutObject(ctx, o); err != nil {
		return err
	}
	if err := tx.Log(ctx, calendar.Change{Calendar: "busy", Version: cal.Version, Object: o.Name, UID: o.UID, Did: calendar.Created}); err != nil {
		return err
	}
	return tx.Count(ctx, []calendar.CalendarID{"busy"}, calendar.Usage{Objects: 1, Bytes: o.Size})
}

// convoy is the calendar's.
func (r *road) convoy() (c *convoy) {
	_ = r.store.begin(r.Context(), func(s session) error {
		p, _ := s.(*pipeline)
		at := p.gates.arrive("busy")
		c = &at.convoy
		p.gates.depart(at)
		return nil
	})
	return c
}

// until waits until something is so.
func (r *road) until(what string, so func() bool) {
	r.Helper()
	for end := time.Now().Add(20 * time.Second); !so(); runtime.Gosched() {
		if time.Now().After(end) {
			r.Fatal("waited in vain until", what)
		}
	}
}

// kept sees that there are so many objects, each with a line of the journal and a version, and that they are counted.
func (r *road) kept(want int64) {
	r.Helper()
	got, err := rowOf(r.Context(), r.store.reads, scanInto(func(n *[4]int64) []any { return []any{&n[0], &n[1], &n[2], &n[3]} }),
		`SELECT version, objects, (SELECT COUNT(*) FROM objects), (SELECT COUNT(DISTINCT version) FROM journal) FROM calendars`)
	if want := [4]int64{want, want, want, want}; err != nil || got != want {
		r.Errorf("version, count, objects and lines are %d, want %d: %v", got, want, err)
	}
}

// hold takes the calendar's row, so that loads wait for it until it is let go.
func (r *road) hold() (let func()) {
	r.Helper()
	conn, err := pgx.Connect(r.Context(), r.url)
	r.fine(err)
	_, err = conn.Exec(r.Context(), `BEGIN; SELECT 1 FROM calendars FOR UPDATE`)
	r.fine(err)
	var once sync.Once
	let = func() { once.Do(func() { _ = conn.Close(context.Background()) }) }
	r.Cleanup(let)
	return let
}

// waiting is how many early changes no load has yet.
func (r *road) waiting() int {
	c := r.convoy()
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.waiting)
}

// under tells whether a load is under way, wanted whether somebody waits until none is.
func (r *road) under() bool {
	c := r.convoy()
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.under
}

func (r *road) wanted() bool {
	c := r.convoy()
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.idle != nil
}

// TestConvoyCountsLocks: a change that is refused before it is one of the convoy, or begins anew under the lock, leaves no trace there.
func TestConvoyCountsLocks(t *testing.T) {
	t.Parallel()
	r := newRoad(t, testdb.Postgres(t), "")
	r.fine(r.put(t.Context(), "a.ics", "a"))
	let := r.hold()
	var all sync.WaitGroup
	all.Go(func() { _ = r.put(t.Context(), "b.ics", "b") })
	r.until("a load is under way", r.under)
	all.Go(func() {
		if err := r.put(t.Context(), "b.ics", "b"); calendar.ReasonOf(err) != calendar.Exists {
			t.Errorf("the second at one name got %v", err)
		}
	})
	r.until("it waits for the lock", r.wanted)
	let()
	all.Wait()
	r.fine(r.store.run(t.Context(), `UPDATE calendars SET trashed = 1`))
	if err := r.put(t.Context(), "c.ics", "c"); calendar.ReasonOf(err) != calendar.NotFound {
		t.Errorf("in the trash: %v", err)
	}
	if c := r.convoy(); c.locked != 0 || c.under || c.idle != nil || len(c.waiting) > 0 {
		t.Errorf("the convoy has %d changes under the lock, and %d waiting", c.locked, len(c.waiting))
	}
	r.kept(2)
}

// TestConvoyRemembersBehindOneWhoLeft: a change that waits for the convoy, and goes away, leaves known which versions were given.
func TestConvoyRemembersBehindOneWhoLeft(t *testing.T) {
	t.Parallel()
	r := newRoad(t, testdb.Postgres(t), "")
	let := r.hold()
	var all sync.WaitGroup
	put := func(name string) {
		all.Go(func() {
			if err := r.put(t.Context(), name+".ics", name); err != nil {
				t.Error(err)
			}
		})
	}
	put("a")
	r.until("a load is under way", r.under)
	put("b")
	r.until("one waits behind it", func() bool { return r.waiting() == 1 })
	ctx, leave := context.WithCancel(t.Context())
	all.Go(func() {
		err := r.store.transact(ctx, func(tx *Tx) error {
			_, err := tx.Advance(ctx, "busy")
			return err
		})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("the one who left got %v", err)
		}
	})
	r.until("one waits for the lock", r.wanted)
	leave()
	put("c")
	r.until("two wait", func() bool { return r.waiting() == 2 })
	let()
	all.Wait()
	r.kept(3)
	if r.late.Load() > 0 {
		t.Errorf("%d changes were made under the lock", r.late.Load())
	}
}

// TestUnfitIsMadeUnderLock: whatever a change makes of it that it was not told what it asked, it is made again.
func TestUnfitIsMadeUnderLock(t *testing.T) {
	t.Parallel()
	r := newRoad(t, testdb.Postgres(t), "")
	err := r.store.transact(t.Context(), func(tx *Tx) error {
		if err := r.write(t.Context(), tx, "a.ics", "a"); err != nil {
			return err
		}
		if _, err := tx.AddressTaken(t.Context(), "alice", "there"); err != nil {
			return errors.New("the address cannot be looked at") // nobody sees why
		}
		return nil
	})
	r.fine(err)
	r.kept(1)
	if r.early.Load() != 1 || r.late.Load() != 1 {
		t.Errorf("it was made %d times early, %d under the lock", r.early.Load(), r.late.Load())
	}
}

// TestLoadThatPanics: where what a change writes cannot be sent for a fault of the program's, those with it are kept, and nothing waits for ever.
func TestLoadThatPanics(t *testing.T) {
	t.Parallel()
	r := newRoad(t, testdb.Postgres(t), "")
	let := r.hold()
	var all sync.WaitGroup
	put := func(i int, then func(*Tx)) {
		all.Go(func() {
			defer func() { _ = recover() }()
			_ = r.store.transact(t.Context(), func(tx *Tx) error {
				err := r.write(t.Context(), tx, fmt.Sprint(i, ".ics"), fmt.Sprint(i))
				then(tx)
				return err
			})
		})
		r.until("it waits", func() bool { return r.waiting() == i })
	}
	all.Go(func() {
		defer func() { _ = recover() }()
		_ = r.put(t.Context(), "0.ics", "0")
	})
	r.until("a load is under way", r.under)
	put(1, func(*Tx) {})
	put(2, func(tx *Tx) {
		if p := pipelineOf(tx); p.ahead != nil {
			p.rows[0].rows[0][2] = "no number"
		}
	})
	let()
	all.Wait()
	r.fine(r.put(t.Context(), "3.ics", "3"))
	r.kept(4)
}

// TestLoadIsRefused: what the database refuses is made under the lock, and everybody hears of their own; where the connection broke, nobody is
// told that it was not kept, and it is not made again.
func TestLoadIsRefused(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"cache_statement", "cache_describe", "describe_exec", "exec", "simple_protocol"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			r := newRoad(t, testdb.Blank(t), "&default_query_exec_mode="+mode)
			// This is looked at when the transaction ends, behind all statements.
			r.fine(r.store.run(t.Context(), `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''none of these''; END'`))
			r.fine(r.store.run(t.Context(), `CREATE CONSTRAINT TRIGGER bad AFTER INSERT ON objects DEFERRABLE INITIALLY DEFERRED
				FOR EACH ROW WHEN (NEW.name = 'bad.ics') EXECUTE FUNCTION refuse()`))
			r.fine(r.put(t.Context(), "a.ics", "a"))
			if err := r.put(t.Context(), "bad.ics", "bad"); err == nil || !strings.Contains(err.Error(), "none of these") {
				t.Errorf("what is refused at the end got %v", err)
			}
			// The objects come first, the lines of the journal behind them.
			r.fine(r.store.run(t.Context(), `ALTER TABLE journal ADD CONSTRAINT worse CHECK (object <> 'worse.ics')`))
			if err := r.put(t.Context(), "worse.ics", "worse"); err == nil {
				t.Error("what is refused behind another statement was kept")
			}
			r.kept(1)
			let := r.hold()
			done := make(chan error)
			go func() { done <- r.put(t.Context(), "b.ics", "b") }()
			r.until("a load waits for the row", func() bool {
				n, err := rowOf(t.Context(), r.store.reads, scanNumber,
					`SELECT COUNT(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND application_name = $1`, r.program)
				return err == nil && n > 0
			})
			err := <-done
			let()
			if _, open := errors.AsType[uncertainError](err); !open {
				t.Errorf("where the connection broke: %v", err)
			}
			r.kept(1)
			r.fine(r.put(t.Context(), "c.ics", "c"))
			r.kept(2)
		})
	}
}

// TestLoadWithOneRefused: what the database refuses of one change, for want of room as well, is the fault of no other.
func TestLoadWithOneRefused(t *testing.T) {
	t.Parallel()
	r := newRoad(t, testdb.Blank(t), "")
	r.fine(r.store.run(t.Context(), `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE ''no room'' USING ERRCODE = ''53400''; END'`))
	r.fine(r.store.run(t.Context(), `CREATE TRIGGER bad BEFORE INSERT ON objects FOR EACH ROW WHEN (NEW.name = '2.ics') EXECUTE FUNCTION refuse()`))
	let := r.hold()
	got := make([]error, 4)
	var all sync.WaitGroup
	all.Go(func() { got[0] = r.put(t.Context(), "0.ics", "0") })
	r.until("a load is under way", r.under)
	for i := 1; i < len(got); i++ {
		all.Go(func() { got[i] = r.put(t.Context(), fmt.Sprint(i, ".ics"), fmt.Sprint(i)) })
		r.until("it waits", func() bool { return r.waiting() == i })
	}
	let()
	all.Wait()
	for i, err := range got {
		if (err != nil) != (i == 2) {
			t.Errorf("the change %d got %v", i, err)
		}
	}
	r.kept(3)
}

// TestMovedOnShowsNothing: why the database refuses a load stands in its log, and nothing of the calendar beside.
func TestMovedOnShowsNothing(t *testing.T) {
	t.Parallel()
	r := newRoad(t, testdb.Postgres(t), "")
	err := r.store.run(t.Context(), keepVersion, "busy", 7, 8, 0, 0, 0, "{}", "")
	var refused *pgconn.PgError
	if !errors.As(err, &refused) || refused.Detail != "" || !strings.Contains(refused.Message, "version 0") {
		t.Errorf("a calendar that has moved on: %v", err)
	}
	r.kept(0)
}
