package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	difference "github.com/google/go-cmp/cmp"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/internal/testdb"
)

// meeting is a calendar on Postgres that two processes change.
type meeting struct {
	*testing.T
	store, other *Store
	// program is what the database calls the first process, passed is how far its clock went, in nanoseconds.
	program string
	passed  atomic.Int64
	gates   *gates
	at      *gate
	convoy  *convoy
	all     sync.WaitGroup
}

func newMeeting(t *testing.T) *meeting {
	t.Helper()
	return newMeetingAt(t, testdb.Postgres(t), func(*url.URL) {})
}

// newMeetingAt has the first process reach the database by another way.
func newMeetingAt(t *testing.T, where string, by func(*url.URL)) *meeting {
	t.Helper()
	m := &meeting{T: t}
	m.program = fmt.Sprintf("early-%d-%p", os.Getpid(), m)
	named, err := url.Parse(where)
	m.fine(err)
	q := named.Query()
	q.Set("application_name", m.program)
	named.RawQuery = q.Encode()
	by(named)
	m.other = m.open(where, Options{})
	m.fine(m.other.Migrate(t.Context()))
	begun := time.Now()
	m.store = m.open(named.String(), Options{Now: func() time.Time { return begun.Add(time.Duration(m.passed.Load())) }})
	m.fine(m.other.InsertUser(t.Context(), calendar.User{ID: "alice", Name: "alice"}, "hash"))
	m.calendar("busy", "alice")
	m.calendar("rest", "alice")
	m.fine(m.store.transact(t.Context(), func(tx *Tx) error {
		m.gates = pipelineOf(tx).gates
		return nil
	}))
	m.at = m.gates.arrive("busy")
	m.convoy = &m.at.convoy
	return m
}

func (m *meeting) open(where string, o Options) *Store {
	m.Helper()
	s, err := Open(m.Context(), where, o)
	if err != nil {
		m.Fatal(err)
	}
	m.Cleanup(func() { _ = s.Close() })
	return s
}

func (m *meeting) calendar(id calendar.CalendarID, of calendar.UserID) {
	m.Helper()
	m.fine(m.other.Update(m.Context(), func(tx calendar.Tx) error {
		return tx.InsertCalendar(m.Context(), calendar.Calendar{ID: id, Owner: of, Segment: calendar.Segment(id)})
	}))
}

func (m *meeting) fine(err error) {
	m.Helper()
	if err != nil {
		m.Fatal(err)
	}
}

// try is what a change saw when it began, or began anew.
type try struct {
	Early           bool
	Version         calendar.Version
	AtName, WithUID string
}

// draft is an object to be written, where when has nothing against it; then happens once it is known what is there. Along is what is asked for
// before, where that is another one.
type draft struct {
	name, uid, data, along string
	when                   func(try) error
	then                   func(*Tx) error
}

// considered is the draft's part in the decision.
func (d draft) considered(tx *Tx, seen try) error {
	if d.then != nil {
		if err := d.then(tx); err != nil {
			return err
		}
	}
	if d.when == nil {
		return nil
	}
	return d.when(seen)
}

// put writes an object, as the middle does.
func (m *meeting) put(ctx context.Context, s *Store, d draft) (tries []try, err error) {
	d.uid, d.data = cmp.Or(d.uid, d.name), cmp.Or(d.data, d.name)
	name, uid := calendar.ObjectName(d.name), calendar.UID(d.uid)
	err = s.transact(ctx, func(tx *Tx) error {
		cal, atName, withUID, err := tx.AdvanceTo(ctx, "busy", name, uid)
		if err != nil {
			return err
		}
		seen := try{pipelineOf(tx).ahead != nil, cal.Version, dataOf(atName), dataOf(withUID)}
		tries = append(tries, seen)
		if err := d.considered(tx, seen); err != nil {
			return err
		}
		grown := calendar.Usage{Objects: 1, Bytes: int64(len(d.data))}
		if atName != nil && !atName.Deleted {
			grown = grown.Minus(calendar.Usage{Objects: 1, Bytes: atName.Size})
		}
		return errors.Join(tx.PutObject(ctx, objectAt("busy", name, uid, d.data, cal.Version)), tx.Count(ctx, []calendar.CalendarID{"busy"}, grown),
			tx.Log(ctx, calendar.Change{Calendar: "busy", Version: cal.Version, Object: name, UID: uid, Did: calendar.Created}))
	})
	return tries, err
}

func objectAt(in calendar.CalendarID, name calendar.ObjectName, uid calendar.UID, data string, at calendar.Version) calendar.Object {
	o := calendar.Object{Calendar: in, Name: name, Version: at, Data: []byte(data), Size: int64(len(data))}
	o.UID = uid
	return o
}

func dataOf(o *calendar.Object) string {
	if o == nil {
		return "none"
	}
	return string(o.Data)
}

// writing is a change under way.
type underway struct {
	done  chan struct{}
	tries []try
	err   error
}

// begin begins a change in the first process.
func (m *meeting) begin(ctx context.Context, d draft) *underway {
	w := &underway{done: make(chan struct{})}
	m.all.Go(func() {
		defer close(w.done)
		w.tries, w.err = m.put(ctx, m.store, d)
	})
	return w
}

// over tells whether the change was told what came of it.
func (w *underway) over() bool {
	select {
	case <-w.done:
		return true
	default:
		return false
	}
}

// until waits for what others do.
func (m *meeting) until(so func(c *convoy) bool) {
	m.Helper()
	m.wait(func() bool {
		m.convoy.mu.Lock()
		defer m.convoy.mu.Unlock()
		return so(m.convoy)
	})
}

// inLine waits until so many wait for the turn.
func (m *meeting) inLine(n int) {
	m.Helper()
	m.wait(func() bool {
		m.at.turns.mu.Lock()
		defer m.at.turns.mu.Unlock()
		return len(m.at.line) == n
	})
}

// meetingPatience bounds how long others are waited for.
const meetingPatience = 20 * time.Second

func (m *meeting) wait(so func() bool) {
	m.Helper()
	late := time.After(meetingPatience)
	for !so() {
		select {
		case <-late:
			m.Fatal("what is waited for does not come")
		default:
			runtime.Gosched()
		}
	}
}

// waits begins a change, and waits until its convoy has it.
func (m *meeting) waits(d draft) *underway {
	m.Helper()
	var before calendar.Version
	m.until(func(c *convoy) bool { before = c.head; return true })
	w := m.begin(m.Context(), d)
	m.until(func(c *convoy) bool { return c.head > before })
	return w
}

// bold has a calendar's convoy forget that another server is about.
func (m *meeting) bold(id calendar.CalendarID) {
	m.Helper()
	at := m.gates.arrive(id)
	defer m.gates.depart(at)
	at.convoy.mu.Lock()
	defer at.convoy.mu.Unlock()
	at.convoy.wary = 0
}

// hold keeps the calendar's row locked, so that no load is kept.
func (m *meeting) hold() (release func()) {
	m.Helper()
	pool, _ := m.other.reads.on.(*sql.DB)
	tx, err := pool.BeginTx(m.Context(), nil)
	m.fine(err)
	_, err = tx.ExecContext(m.Context(), `SELECT FROM calendars WHERE id = 'busy' FOR UPDATE`)
	m.fine(err)
	return func() {
		m.Helper()
		m.fine(tx.Rollback())
	}
}

// run does something in the database, behind everybody's back.
func (m *meeting) run(text string) {
	m.Helper()
	pool, _ := m.other.reads.on.(*sql.DB)
	_, err := pool.ExecContext(context.WithoutCancel(m.Context()), text)
	m.fine(err)
}

// kept returns the names in the journal, in order, and how many of them each commit kept. There must be no gap, and nothing left behind.
func (m *meeting) kept() (names []string, commits []int) {
	m.Helper()
	m.all.Wait()
	type line struct {
		version    calendar.Version
		name, xmin string
	}
	lines, err := rowsOf(m.Context(), m.other.reads, scanInto(func(l *line) []any { return []any{(*int64)(&l.version), &l.name, &l.xmin} }),
		`SELECT version, object, xmin::text FROM journal WHERE calendar_id = 'busy' ORDER BY version`)
	m.fine(err)
	for i, l := range lines {
		if l.version != calendar.Version(i+1) {
			m.Errorf("%s has version %d, want %d", l.name, l.version, i+1)
		}
		if names = append(names, l.name); i > 0 && l.xmin == lines[i-1].xmin {
			commits[len(commits)-1]++
		} else {
			commits = append(commits, 1)
		}
	}
	m.counted(calendar.Version(len(lines)))
	if c := m.convoy; c.locked != 0 || c.under || c.waiting != nil {
		m.Errorf("%d have the lock, and %d wait, one under way: %v, when all is over", c.locked, len(c.waiting), c.under)
	}
	if used := m.store.Pool().InUse; used != 0 {
		m.Errorf("%d connections were not given back", used)
	}
	return names, commits
}

// counted looks whether the calendar is at a version, and has what it is said to.
func (m *meeting) counted(want calendar.Version) {
	m.Helper()
	type counted struct{ version, objects, bytes, counted, sum int64 }
	c, err := rowOf(m.Context(), m.other.reads, scanInto(func(c *counted) []any { return []any{&c.version, &c.objects, &c.bytes, &c.counted, &c.sum} }),
		`SELECT version, objects, bytes, (SELECT COUNT(*) FROM objects o WHERE o.calendar_id = c.id AND NOT deleted),
			(SELECT COALESCE(SUM(size), 0) FROM objects o WHERE o.calendar_id = c.id AND NOT deleted) FROM calendars c WHERE id = 'busy'`)
	m.fine(err)
	if c.version != int64(want) || c.objects != c.counted || c.bytes != c.sum {
		m.Errorf("the calendar is at version %d, want %d; it has %d objects of %d bytes, and counts %d of %d", c.version, want, c.counted, c.sum, c.objects, c.bytes)
	}
}

// same compares what is there with what should be.
func (m *meeting) same(got, want any) {
	m.Helper()
	if diff := difference.Diff(want, got); diff != "" {
		m.Error(diff)
	}
}
