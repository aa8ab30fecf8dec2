package store

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/internal/testdb"
)

// told wants changes kept that began so often.
func (m *meeting) told(runs int, all ...*underway) {
	m.Helper()
	for _, w := range all {
		if <-w.done; w.err != nil || len(w.tries) != runs {
			m.Errorf("%+v, %v", w.tries, w.err)
		}
	}
}

// TestConvoyShares: what waits while one commit is under way is kept by the next, in the order in which it was decided, and nobody is told before.
func TestConvoyShares(t *testing.T) {
	t.Parallel()
	m := newMeeting(t)
	release := m.hold()
	var all []*underway
	for n := range maxShared + 4 {
		all = append(all, m.waits(draft{name: string(rune('a' + n))}))
	}
	for _, w := range all {
		if w.over() {
			t.Error("a change was told that it is kept before it is")
		}
	}
	release()
	m.told(1, all...)
	names, commits := m.kept()
	m.same(strings.Join(names, ""), "abcdefghijklmnopqrst")
	m.same(commits, []int{1, maxShared, 3})
}

// TestConvoyOfLarge: large objects are spread over several commits.
func TestConvoyOfLarge(t *testing.T) {
	t.Parallel()
	m := newMeeting(t)
	large := strings.Repeat("x", gatheredBytes*2/3)
	release := m.hold()
	var all []*underway
	for _, name := range []string{"a", "b", "c", "d"} {
		all = append(all, m.waits(draft{name: name, data: large}))
	}
	release()
	m.told(1, all...)
	_, commits := m.kept()
	m.same(commits, []int{1, 2, 1})
}

// TestConvoySeesItsOwn: a change of a name or a UID that is given, and not kept yet, is decided on what is kept then.
func TestConvoySeesItsOwn(t *testing.T) {
	t.Parallel()
	for what, d := range map[string]draft{"the name": {name: "a", uid: "other"}, "the UID": {name: "other", uid: "a"}} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			m := newMeeting(t)
			release := m.hold()
			first := m.waits(draft{name: "a"})
			unlike := m.waits(draft{name: "b"})
			second := m.begin(t.Context(), draft{name: d.name, uid: d.uid, when: func(try) error { return context.Canceled }})
			m.until(func(c *convoy) bool { return c.idle != nil })
			release()
			m.told(1, first, unlike)
			<-second.done
			want := try{Early: false, Version: 3, AtName: "none", WithUID: "none"}
			if d.name == "a" {
				want.AtName = "a"
			} else {
				want.WithUID = "a"
			}
			m.same(second.tries, []try{want})
			names, _ := m.kept()
			m.same(names, []string{"a", "b"})
		})
	}
}

// TestConvoyAndLock: changes under the lock come in their turn among those that are early.
func TestConvoyAndLock(t *testing.T) {
	t.Parallel()
	m := newMeeting(t)
	release := m.hold()
	one, two := m.waits(draft{name: "a"}), m.waits(draft{name: "b"})
	m.all.Go(func() {
		if err := m.store.transact(t.Context(), func(tx *Tx) error { return changes(t.Context(), tx, "c") }); err != nil {
			t.Error(err)
		}
	})
	m.until(func(c *convoy) bool { return c.idle != nil })
	behind := m.begin(t.Context(), draft{name: "d"})
	m.inLine(1)
	release()
	m.told(1, one, two, behind)
	names, _ := m.kept()
	m.same(names, []string{"a", "b", "c", "d"})
}

// refuse has the database raise an error where an object with a name is written.
func (m *meeting) refuse(name string) {
	m.Helper()
	m.Cleanup(func() { m.run(`DROP FUNCTION early_refuse CASCADE`) })
	m.run(`CREATE FUNCTION early_refuse() RETURNS trigger LANGUAGE plpgsql AS
		$$ BEGIN IF NEW.name = '` + name + `' THEN RAISE EXCEPTION 'refused on purpose'; END IF; RETURN NEW; END $$;
		CREATE TRIGGER early_refuse BEFORE INSERT ON objects FOR EACH ROW EXECUTE FUNCTION early_refuse()`)
}

// TestConvoyWithoutTheRefused: what the database refuses fails alone, whoever shared the commit with it, or waited behind it.
func TestConvoyWithoutTheRefused(t *testing.T) {
	t.Parallel()
	m := newMeeting(t)
	m.refuse("bad")
	release := m.hold()
	first := m.waits(draft{name: "first"})
	two, bad, three := m.waits(draft{name: "two"}), m.waits(draft{name: "bad"}), m.waits(draft{name: "three"})
	release()
	m.told(1, first)
	m.told(2, two, three)
	if <-bad.done; bad.err == nil || !strings.Contains(bad.err.Error(), "refused on purpose") || len(bad.tries) != 2 {
		t.Errorf("%+v, %v", bad.tries, bad.err)
	}
	m.told(1, m.begin(t.Context(), draft{name: "last"}))
	names, _ := m.kept()
	m.same(len(names), 4)
}

// cut ends the first process' connections that are in a state.
func (m *meeting) cut(state string) (n int64) {
	m.Helper()
	n, err := rowOf(m.Context(), m.other.reads, scanNumber,
		`SELECT COUNT(*) FILTER (WHERE pg_terminate_backend(pid, 10000)) FROM pg_stat_activity WHERE application_name = $1 AND `+state, m.program)
	m.fine(err)
	return n
}

// TestConvoyIsCutBefore: connections that went while nobody used them are nobody's concern.
func TestConvoyIsCutBefore(t *testing.T) {
	t.Parallel()
	m := newMeeting(t)
	m.told(1, m.begin(t.Context(), draft{name: "a"}))
	if m.cut(`state = 'idle' AND query NOT LIKE 'LISTEN%'`) == 0 {
		t.Error("there was no connection")
	}
	w := m.begin(t.Context(), draft{name: "b"})
	if <-w.done; w.err != nil {
		t.Error(w.err)
	}
	names, _ := m.kept()
	m.same(names, []string{"a", "b"})
}

// TestConvoyIsCut: where the connection goes while a commit is under way, those in it hear that nobody knows, and those who wait begin anew.
func TestConvoyIsCut(t *testing.T) {
	t.Parallel()
	m := newMeeting(t)
	release := m.hold()
	lost := m.waits(draft{name: "lost"})
	waiting := m.waits(draft{name: "waiting"})
	m.wait(func() bool { return m.cut(`wait_event_type = 'Lock'`) > 0 })
	if <-lost.done; calendar.ReasonOf(lost.err) != calendar.Unavailable || len(lost.tries) != 1 {
		t.Errorf("%+v, %v", lost.tries, lost.err)
	}
	release()
	m.told(2, waiting)
	m.told(1, m.begin(t.Context(), draft{name: "later"}))
	names, _ := m.kept()
	m.same(names, []string{"waiting", "later"})
}

// modes are how statements are sent: prepared, as poolers of transactions want it, and as simple ones do.
var modes = []string{"cache_statement", "exec", "simple_protocol"}

// by is for a database that is asked in a mode, at the end of a line that may lose an answer, saying something last.
func by(t *testing.T, mode, last string, made **deafLine) func(*url.URL) {
	return func(u *url.URL) {
		line := newDeafLine(t, u.Host)
		line.last = last
		*made = line
		u.Host = line.Addr().String()
		q := u.Query()
		q.Set("default_query_exec_mode", mode)
		u.RawQuery = q.Encode()
	}
}

// TestConvoyIsNotHeard: a commit of which the answer is lost is kept once, and those in it hear that nobody knows.
func TestConvoyIsNotHeard(t *testing.T) {
	t.Parallel()
	for _, mode := range modes {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			var line *deafLine
			m := newMeetingAt(t, testdb.Postgres(t), by(t, mode, "", &line))
			release := m.hold()
			unheard := m.waits(draft{name: "unheard"})
			waiting := m.waits(draft{name: "waiting"})
			m.untilLocked()
			line.deaf.Store(true)
			release()
			if <-unheard.done; calendar.ReasonOf(unheard.err) != calendar.Unavailable || len(unheard.tries) != 1 {
				t.Errorf("%+v, %v", unheard.tries, unheard.err)
			}
			m.told(2, waiting)
			names, _ := m.kept()
			m.same(names, []string{"unheard", "waiting"})
		})
	}
}

// untilLocked waits until the database has a statement of the program wait for a lock.
func (m *meeting) untilLocked() {
	m.wait(func() bool {
		n, err := rowOf(m.Context(), m.other.reads, scanNumber,
			`SELECT COUNT(*) FROM pg_stat_activity WHERE application_name = $1 AND wait_event_type = 'Lock'`, m.program)
		m.fine(err)
		return n > 0
	})
}

// deafLine is a way to a database that loses an answer, and with it a connection.
type deafLine struct {
	net.Listener
	deaf atomic.Bool
	// last is what it says before it goes.
	last string
}

func newDeafLine(t *testing.T, to string) *deafLine {
	t.Helper()
	var listening net.ListenConfig
	l, err := listening.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	d := &deafLine{Listener: l}
	go func() {
		for {
			here, err := l.Accept()
			if err != nil {
				return
			}
			var dial net.Dialer
			there, err := dial.DialContext(context.WithoutCancel(t.Context()), "tcp", to)
			if err != nil {
				_ = here.Close()
				continue
			}
			go d.pass(here, there, false)
			go d.pass(there, here, true)
		}
	}()
	return d
}

func (d *deafLine) pass(from, to net.Conn, answers bool) {
	defer to.Close()
	defer from.Close()
	for some := make([]byte, 4096); ; {
		n, err := from.Read(some)
		if err == nil && answers && d.deaf.CompareAndSwap(true, false) {
			_, _ = io.WriteString(to, d.last)
			return
		}
		if err != nil {
			return
		}
		if _, err := to.Write(some[:n]); err != nil {
			return
		}
	}
}

// TestConvoysAreForgotten: of calendars that nobody changes any more only some are remembered.
func TestConvoysAreForgotten(t *testing.T) {
	t.Parallel()
	m := newMeeting(t)
	for range 2 {
		for n := range gatesKept + 3 {
			id := calendar.CalendarID(fmt.Sprint(n))
			at := m.gates.arrive(id)
			at.convoy.follow(&early{}, 1)
			m.gates.depart(at)
		}
		m.gates.mu.Lock()
		if n := len(m.gates.all); n > gatesKept+1 { // the one that the meeting is at
			t.Errorf("%d are remembered", n)
		}
		m.gates.mu.Unlock()
	}
	if m.gates.arrive("0").convoy.known || !m.gates.arrive("66").convoy.known {
		t.Error("the first was to be forgotten, and the last not")
	}
}

// TestConvoyRemembersSome: of the versions that were given only the latest are remembered, and what was read before them does not count.
func TestConvoyRemembersSome(t *testing.T) {
	t.Parallel()
	c := &convoy{marks: new(atomic.Int64), under: true}
	name := func(n int) calendar.ObjectName { return calendar.ObjectName(fmt.Sprint(n)) }
	for n := range givenMost + 2 {
		e := &early{site: site{name: name(n)}}
		e.uid = calendar.UID(e.name)
		if !c.follow(e, calendar.Version(n)) || c.add(e) != nil {
			t.Fatalf("number %d has no place", n)
		}
	}
	at := func(v calendar.Version) *auth.Stored { return &auth.Stored{Calendar: calendar.Calendar{Version: v}} }
	for v, want := range map[calendar.Version]bool{1: false, 2: true, givenMost + 2: true, givenMost + 3: false} {
		if got := c.knows(at(v)); got != want {
			t.Errorf("what came behind version %d is known: %v", v, got)
		}
	}
	for n, want := range map[int]bool{2: false, givenMost + 1: false, givenMost + 2: true} {
		e := &early{site: site{name: name(n)}}
		e.uid = calendar.UID(e.name)
		if got := c.follow(e, 2); got != want || got && e.version != givenMost+3 {
			t.Errorf("behind version 2 there is a place for %d: %v, at %d", n, got, e.version)
		}
	}
}
