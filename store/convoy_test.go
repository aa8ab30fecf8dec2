package store

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/internal/testdb"
)

// road is a calendar on Postgres on which early changes go.
type road struct {
	*testing.T
	store *Store
	url   string
	// early counts the changes that were decided early, late those under the lock.
	early, late atomic.Int32
}

func newRoad(t *testing.T, url, settings string) *road {
	t.Helper()
	s, err := Open(t.Context(), url+settings, Options{MaxConns: 4})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	r := &road{T: t, store: s, url: url}
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
