package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
)

// TestEarlyMetByAnotherProcess: what was decided while another process changed the calendar is decided anew, on what is there then.
func TestEarlyMetByAnotherProcess(t *testing.T) {
	t.Parallel()
	m := newMeeting(t)
	stale := errors.New("not as expected")
	// Each case is of objects of its own, and begins at a version.
	for i, c := range []struct {
		what   string
		theirs draft
		// anew is what ours sees under the lock, refused tells that it does not want that.
		anew    try
		refused bool
	}{
		{"something else", draft{name: "0-other"}, try{false, 3, "old", "old"}, false},
		{"the object", draft{name: "1", data: "new"}, try{false, 6, "new", "new"}, true},
		{"the UID", draft{name: "2-other", uid: "2-ours", data: "new"}, try{false, 7, "none", "new"}, true},
	} {
		name := string(rune('0' + i))
		ours := draft{name: name, data: "ours"}
		if i == 2 {
			ours.uid = "2-ours"
		} else {
			_, err := m.put(t.Context(), m.store, draft{name: name, data: "old"})
			m.fine(err)
		}
		m.bold("busy")
		var once sync.Once
		ours.then = func(tx *Tx) error {
			once.Do(func() {
				_, err := m.put(t.Context(), m.other, c.theirs)
				m.fine(err)
			})
			return nil
		}
		ours.when = func(last try) error {
			if last.AtName == "new" || last.WithUID == "new" {
				return stale
			}
			return nil
		}
		tries, err := m.put(t.Context(), m.store, ours)
		if len(tries) != 2 || !tries[0].Early || tries[1] != c.anew || errors.Is(err, stale) != c.refused || err != nil && !c.refused {
			t.Errorf("%s: %+v, %v", c.what, tries, err)
		}
	}
	names, _ := m.kept()
	m.same(names, []string{"0", "0-other", "0", "1", "1", "2-other"})
}

// TestConvoyIsWary: where another server was ahead of a load, so many changes begin with the lock before one is early again.
func TestConvoyIsWary(t *testing.T) {
	t.Parallel()
	m := newMeeting(t)
	for round := range 2 {
		var once sync.Once
		var tries []try
		for n := range waryFor + 2 {
			did, err := m.put(t.Context(), m.store, draft{name: fmt.Sprint(round, "-", n), then: func(*Tx) error {
				once.Do(func() {
					_, err := m.put(t.Context(), m.other, draft{name: fmt.Sprint("theirs", round)})
					m.fine(err)
				})
				return nil
			}})
			m.fine(err)
			tries = append(tries, did...)
		}
		for i, one := range tries {
			if want := i == 0 || i == waryFor+2; one.Early != want {
				t.Errorf("round %d, the run %d is early: %v", round, i, one.Early)
			}
		}
	}
	names, _ := m.kept()
	m.same(len(names), 2*(waryFor+3))
}

// TestEarlyBehindAVersion: a calendar is at the version that is expected, or nothing is kept, also where no object and no line of the journal is
// in the way.
func TestEarlyBehindAVersion(t *testing.T) {
	t.Parallel()
	m := newMeeting(t)
	var once sync.Once
	tries, err := m.put(t.Context(), m.store, draft{name: "a", then: func(*Tx) error {
		once.Do(func() { m.run(`UPDATE calendars SET version = version + 3 WHERE id = 'busy'`) })
		return nil
	}})
	m.fine(err)
	m.same(tries, []try{{true, 1, "none", "none"}, {false, 4, "none", "none"}})
	m.counted(4)
}

// TestEarlyInAnotherEpoch: where a standby that has not all takes over, versions of the same number are others.
func TestEarlyInAnotherEpoch(t *testing.T) {
	t.Parallel()
	m := newMeeting(t)
	var once sync.Once
	_, err := m.put(t.Context(), m.store, draft{name: "first"})
	m.fine(err)
	tries, err := m.put(t.Context(), m.store, draft{name: "a", then: func(*Tx) error {
		once.Do(func() { m.run(`UPDATE meta SET epoch = 'another' WHERE id = 1`) })
		return nil
	}})
	m.fine(err)
	m.same(tries, []try{{true, 2, "none", "none"}, {false, 2, "none", "none"}})
	m.bold("busy")
	tries, err = m.put(t.Context(), m.store, draft{name: "b"})
	m.fine(err)
	m.same(tries, []try{{true, 3, "none", "none"}})
	m.counted(3)
}

// TestEarlyBeginsUnderLock: a change that does what is done under the lock alone begins anew there, and is kept once.
func TestEarlyBeginsUnderLock(t *testing.T) {
	t.Parallel()
	m := newMeeting(t)
	ctx := t.Context()
	asks := func(tx *Tx) error {
		_, _, err := tx.Duplicates(ctx, "busy", "x", "x")
		return err
	}
	_, err := m.put(ctx, m.store, draft{name: "old"})
	m.fine(err)
	want := []string{"old"}
	for name, then := range map[string]func(*Tx) error{
		"a question": asks,
		"another lock": func(tx *Tx) error {
			_, err := tx.Advance(ctx, "rest")
			return err
		},
		"another lock and a question": func(tx *Tx) error {
			_, _, _, err := tx.AdvanceTo(ctx, "rest", "x", "x")
			return err
		},
		"a tombstone":      func(tx *Tx) error { return tx.later(ctx, ignore, bury, calendar.CalendarID("busy"), "none", 1) },
		"a unit":           func(tx *Tx) error { tx.Join(calendar.ChangeID{Calendar: "busy", Version: 1}); return nil },
		"another's counts": func(tx *Tx) error { return tx.Count(ctx, []calendar.CalendarID{"rest"}, calendar.Usage{}) },
		"another's object": func(tx *Tx) error { return tx.PutObject(ctx, objectAt("rest", "x", "x", "x", 1)) },
		"a user":           func(tx *Tx) error { return insertUser(ctx, tx, "bob", 1) },
		"an inbox":         func(tx *Tx) error { return tx.DropInboxItem(ctx, "alice", "none", 0) },
		"a row twice": func(tx *Tx) error {
			return tx.PutObject(ctx, objectAt("busy", "a row twice", "a row twice", "x", 1000))
		},
		"no heed": func(tx *Tx) error {
			_ = asks(tx)
			return nil
		},
		"an error of its own": func(tx *Tx) error {
			if asks(tx) != nil {
				return errors.New("its own")
			}
			return nil
		},
	} {
		tries, err := m.put(ctx, m.store, draft{name: name, then: then})
		if err != nil || len(tries) != 2 || !tries[0].Early || tries[1].Early {
			t.Errorf("%s: %+v, %v", name, tries, err)
		}
		want = append(want, name)
	}
	got, _ := m.kept()
	slices.Sort(got)
	slices.Sort(want)
	m.same(got, want)
}

// TestEarlyAsUnderLock: a change sees the same calendar, whether it has the lock, has read it, or has asked for it along.
func TestEarlyAsUnderLock(t *testing.T) {
	t.Parallel()
	m := newMeeting(t)
	var seen []calendar.Calendar
	asked := auth.AskAlong(t.Context(), "busy", "a")
	_, err := m.store.CredentialGeneration(asked, auth.Subject{Name: "alice"})
	m.fine(err)
	for n, ctx := range []context.Context{asked, t.Context(), t.Context()} {
		given := errors.New("given up")
		err := m.store.attempt(ctx, n < 2, func(tx *Tx) error {
			cal, _, _, err := tx.AdvanceTo(ctx, "busy", "a", "a")
			seen = append(seen, cal)
			return errors.Join(err, given)
		})
		if !errors.Is(err, given) || len(seen) == 0 {
			t.Fatal(err)
		}
	}
	for _, early := range seen[:2] {
		early.Modified = seen[2].Modified // a second may have passed
		m.same(early, seen[2])
	}
}

// TestEarlyWithoutCalendar: where another process takes the calendar away in between, nothing is kept, and nobody is told that it was.
func TestEarlyWithoutCalendar(t *testing.T) {
	t.Parallel()
	m := newMeeting(t)
	for _, c := range []struct {
		text string
		does func(*Tx, calendar.Calendar) error
	}{
		{`UPDATE calendars SET trashed = 1 WHERE id = $1`, nil},
		{`DELETE FROM calendars WHERE id = $1`, nil},
		{`DELETE FROM calendars WHERE id = $1`, func(tx *Tx, cal calendar.Calendar) error {
			return tx.Log(t.Context(), calendar.Change{Calendar: cal.ID, Version: cal.Version, Did: calendar.Created})
		}},
	} {
		runs := 0
		m.calendar("gone", "alice")
		m.bold("gone")
		err := m.store.transact(t.Context(), func(tx *Tx) error {
			runs++
			cal, _, _, err := tx.AdvanceTo(t.Context(), "gone", "a", "a")
			if err != nil {
				return err
			}
			m.fine(m.other.run(t.Context(), c.text, "gone"))
			if c.does == nil {
				return nil
			}
			return c.does(tx, cal)
		})
		if calendar.ReasonOf(err) != calendar.NotFound || runs != 2 {
			t.Errorf("%s: %v in %d runs", c.text, err, runs)
		}
		m.fine(m.other.run(t.Context(), `DELETE FROM calendars WHERE id = $1`, "gone"))
	}
}

// TestEarlyPanics: a change that ends in a panic, before it has the turn or with it, keeps nobody waiting.
func TestEarlyPanics(t *testing.T) {
	t.Parallel()
	m := newMeeting(t)
	for _, early := range []bool{true, false} {
		func() {
			defer func() {
				if recover() == nil {
					t.Error("there was no panic")
				}
			}()
			_ = m.store.attempt(t.Context(), early, func(tx *Tx) error {
				_, _, _, err := tx.AdvanceTo(t.Context(), "busy", "a", "a")
				panic(err)
			})
		}()
		tries, err := m.put(t.Context(), m.store, draft{name: "b"})
		if err != nil || len(tries) != 1 {
			t.Errorf("%+v, %v", tries, err)
		}
	}
	names, _ := m.kept()
	m.same(names, []string{"b", "b"})
}

// TestEarlyOfThoseWhoGo: a caller who goes away at any moment keeps nobody waiting, and has nobody begin anew.
func TestEarlyOfThoseWhoGo(t *testing.T) {
	t.Parallel()
	m := newMeeting(t)
	ctx, cancel := context.WithCancel(t.Context())
	gone := func(what string, w *underway, want error) {
		t.Helper()
		cancel()
		if <-w.done; !errors.Is(w.err, want) {
			t.Errorf("%s: %v, want %v", what, w.err, want)
		}
		ctx, cancel = context.WithCancel(t.Context())
	}
	release := m.hold()
	a := m.waits(draft{name: "a"})
	deciding, decided := make(chan struct{}), make(chan struct{})
	b := m.begin(t.Context(), draft{name: "b", then: func(*Tx) error {
		close(deciding)
		<-decided
		return nil
	}})
	<-deciding
	inLine := m.begin(ctx, draft{name: "x"})
	m.inLine(1)
	gone("in line", inLine, context.Canceled)

	stale := m.begin(ctx, draft{name: "x"})
	m.inLine(1)
	m.until(func(c *convoy) bool { c.quiet = c.marks.Add(1); return true })
	close(decided)
	m.until(func(c *convoy) bool { return c.idle != nil })
	gone("to read anew", stale, context.Canceled)

	m.until(func(c *convoy) bool { c.idle = nil; return true })
	locked := &underway{done: make(chan struct{})}
	m.all.Go(func() {
		defer close(locked.done)
		locked.err = m.store.transact(ctx, func(tx *Tx) error {
			_, err := tx.Advance(ctx, "busy")
			return err
		})
	})
	m.until(func(c *convoy) bool { return c.idle != nil })
	gone("to have the lock", locked, context.Canceled)

	c := m.waits(draft{name: "c"})
	deciding, decided = make(chan struct{}), make(chan struct{})
	d := m.begin(ctx, draft{name: "d", then: func(*Tx) error {
		close(deciding)
		<-decided
		return nil
	}})
	<-deciding
	cancel() // from here on it goes on by itself
	close(decided)
	m.until(func(c *convoy) bool { return c.head == 4 })
	release()
	gone("when it is decided", d, nil)
	names, commits := m.kept()
	m.same(names, []string{"a", "b", "c", "d"})
	m.same(commits, []int{1, 3})
	for _, w := range []*underway{a, b, c, d} {
		if w.err != nil || len(w.tries) != 1 {
			t.Errorf("%+v, %v", w.tries, w.err)
		}
	}
}
