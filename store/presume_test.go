package store

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/internal/testdb"
)

// guest is somebody who writes into the meeting's calendar through the door of its first process, with credentials.
type guest struct {
	*meeting
	service       *auth.Service
	authorization string
	// fresh tells that the guest says that nothing is at the name, between is done before a request is worked on once more.
	fresh   bool
	between func()
}

// run is once that a request was worked on.
type run struct {
	presumed bool
	tries    []try
	err      error
}

// answered is a request that is over.
type answered struct {
	runs   []run
	status int
}

const guestsPassword = "correct horse battery staple"

// door lets anybody in whose credentials are good.
var door = auth.Door{
	Schemes: []auth.Scheme{auth.Basic, auth.Bearer}, Refuse: auth.RefuseText,
	ClientAddr: func(*http.Request) netip.Addr { return netip.MustParseAddr("192.0.2.1") },
}

// serviceOf is what knows the credentials in a process.
func serviceOf(s *Store) *auth.Service {
	return auth.New(auth.Config{
		Store: s, Now: s.options.Now, NewID: rand.Text, Logger: slog.New(slog.DiscardHandler),
		Hasher: auth.Argon2id{Cost: auth.Cost{MemoryKiB: 8, Iterations: 1, Parallelism: 1}}, Limits: auth.DefaultLimits(),
	})
}

// guest is alice with her password, or with a token, after a first change.
func (m *meeting) guest(token bool) *guest {
	m.Helper()
	g := &guest{meeting: m, service: serviceOf(m.store), between: func() {}}
	if token {
		g.authorization = "Bearer " + string(g.token())
	} else {
		m.fine(g.service.SetPassword(m.Context(), "alice", guestsPassword))
		r := &http.Request{Header: http.Header{}}
		r.SetBasicAuth("alice", guestsPassword)
		g.authorization = r.Header.Get("Authorization")
	}
	g.ordinary(draft{name: "first.ics", uid: "first"})
	return g
}

func (g *guest) token() auth.Secret {
	g.Helper()
	_, text, err := g.service.CreateToken(g.Context(), auth.TokenSpec{User: "alice", Name: "laptop", Scopes: calendar.ScopeAll})
	g.fine(err)
	return text
}

// request has the door work on a request to write at a name.
func (g *guest) request(name string, fresh bool, work func(context.Context) ([]try, error)) (a answered) {
	h := g.service.Require(door, func(w http.ResponseWriter, r *http.Request, _ calendar.Caller) {
		one := run{presumed: auth.AlongOf(r.Context()).Presumed() != nil}
		if !one.presumed {
			g.between()
		}
		one.tries, one.err = work(r.Context())
		a.runs = append(a.runs, one)
		w.WriteHeader(statusOf(one.err))
	})
	r := httptest.NewRequestWithContext(g.Context(), http.MethodPut, "/", strings.NewReader("what is written"))
	r.Header.Set("Authorization", g.authorization)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r.WithContext(auth.AskAlong(r.Context(), "busy", calendar.ObjectName(name), fresh)))
	a.status = w.Code
	return a
}

// statusOf answers as the doors do.
func statusOf(err error) int {
	switch {
	case err == nil:
		return http.StatusNoContent
	case calendar.ReasonOf(err) == calendar.Unavailable:
		return http.StatusServiceUnavailable
	case calendar.ReasonOf(err) == calendar.NotFound:
		return http.StatusNotFound
	}
	return http.StatusConflict
}

// put writes an object.
func (g *guest) put(d draft) answered {
	return g.request(d.name, g.fresh, func(ctx context.Context) ([]try, error) { return g.meeting.put(ctx, g.store, d) })
}

// begin is put while others do something.
func (g *guest) begin(d draft) (over chan answered) {
	over = make(chan answered, 1)
	g.all.Go(func() { over <- g.put(d) })
	return over
}

// waits begins a change, and waits until the convoy has it.
func (g *guest) waits(d draft) (over chan answered) {
	g.Helper()
	var before calendar.Version
	g.until(func(c *convoy) bool { before = c.head; return true })
	over = g.begin(d)
	g.until(func(c *convoy) bool { return c.head > before })
	return over
}

// ordinary wants a change whose credentials are asked for first.
func (g *guest) ordinary(d draft) answered {
	g.Helper()
	a := g.put(d)
	if len(a.runs) != 1 || a.runs[0].presumed || a.status != http.StatusNoContent {
		g.Errorf("%s: %+v, and nothing was to be presumed", d.name, a)
	}
	return a
}

// presumed wants a change that is kept with its credentials looked at then.
func (g *guest) presumed(d draft) answered {
	g.Helper()
	a := g.put(d)
	g.isKept(a)
	return a
}

func (g *guest) isKept(a answered) {
	g.Helper()
	if len(a.runs) != 1 || !a.runs[0].presumed || a.runs[0].err != nil || len(a.runs[0].tries) != 1 || a.status != http.StatusNoContent {
		g.Errorf("%+v, and it was to be kept as presumed", a)
	}
}

// anew wants a request that was presumed, and decided on, in vain, and was worked on once more.
func (g *guest) anew(a answered, status int) {
	g.Helper()
	if len(a.runs) == 0 || !a.runs[0].presumed || len(a.runs[0].tries) != 1 || !errors.Is(a.runs[0].err, auth.ErrAskFirst) || a.status != status {
		g.Errorf("%+v, and it was to begin anew, with status %d", a, status)
	}
	if status != http.StatusUnauthorized && (len(a.runs) != 2 || a.runs[1].presumed) {
		g.Errorf("%+v, and it was to be worked on once more", a)
	}
}

// state is all that is in the calendar.
func (m *meeting) state() string {
	m.Helper()
	text, err := rowOf(m.Context(), m.other.reads, scanText, `SELECT concat_ws(' ', (SELECT string_agg(c::text, ' ' ORDER BY id) FROM calendars c),
		(SELECT string_agg(o::text, ' ' ORDER BY calendar_id, name) FROM objects o), (SELECT string_agg(j::text, ' ' ORDER BY calendar_id, version) FROM journal j))`)
	m.fine(err)
	return text
}

// TestPresumedIsKept: once it is known who writes, and into what, a change takes one round trip: over what was written lately, and to where
// nothing is.
func TestPresumedIsKept(t *testing.T) {
	t.Parallel()
	for _, token := range []bool{false, true} {
		m := newMeeting(t)
		g := m.guest(token)
		before := m.version()
		same := g.presumed(draft{name: "first.ics", uid: "first", data: "second"})
		m.same(same.runs[0].tries, []try{{true, before + 1, "first.ics", "first.ics"}})
		g.fresh = true
		g.presumed(draft{name: "b.ics", uid: "b"})
		g.presumed(draft{name: "c.ics", uid: "unlike"}) // nothing at a name has no UID to be compared
		g.fresh = false
		g.presumed(draft{name: "b.ics", uid: "b", data: "b again"})
		g.ordinary(draft{name: "d.ics", uid: "d"}) // nobody says that nothing is there
		names, _ := m.kept()
		m.same(names, []string{"first.ics", "first.ics", "b.ics", "c.ics", "b.ics", "d.ics"})
	}
}

// stranger writes an object behind everybody's back: the calendar stays at its version.
func (m *meeting) stranger(name, uid string) {
	m.Helper()
	m.fine(m.other.Update(m.Context(), func(tx calendar.Tx) error {
		return tx.PutObject(m.Context(), objectAt("busy", calendar.ObjectName(name), calendar.UID(uid), "theirs", 1000))
	}))
}

// TestPresumedIsRefused: where anything is not as was presumed nothing is kept, and the credentials are asked for.
func TestPresumedIsRefused(t *testing.T) {
	t.Parallel()
	over, fresh := draft{name: "first.ics", uid: "first", data: "ours"}, draft{name: "b.ics", uid: "b"}
	sql := func(text string) func(*meeting) { return func(m *meeting) { m.run(text) } }
	for what, c := range map[string]struct {
		token  bool
		draft  draft
		happen func(*meeting)
		status int
	}{
		"another generation":   {false, over, sql(`UPDATE users SET credentials = credentials + 1`), http.StatusNoContent},
		"an older generation":  {false, over, sql(`UPDATE users SET credentials = credentials - 1`), http.StatusNoContent},
		"a token's generation": {true, over, sql(`UPDATE users SET credentials = credentials + 1`), http.StatusNoContent},
		"no token":             {true, over, sql(`DELETE FROM tokens`), http.StatusUnauthorized},
		"another name":         {false, over, sql(`UPDATE users SET name = 'alicia' WHERE id = 'alice'`), http.StatusUnauthorized},
		"another password": {false, over, func(m *meeting) {
			m.fine(serviceOf(m.other).SetPassword(m.Context(), "alice", "another "+guestsPassword))
		}, http.StatusUnauthorized},
		"another version":      {false, over, sql(`UPDATE calendars SET version = version + 1`), http.StatusNoContent},
		"an older version":     {false, over, sql(`UPDATE calendars SET version = version - 1`), http.StatusConflict}, // which the journal has
		"another epoch":        {false, over, sql(`UPDATE meta SET epoch = 'another' WHERE id = 1`), http.StatusNoContent},
		"the trash":            {false, over, sql(`UPDATE calendars SET trashed = 1`), http.StatusNotFound},
		"another address":      {false, over, sql(`UPDATE calendars SET segment = 'moved' WHERE id = 'busy'`), http.StatusNoContent},
		"another owner":        {false, over, sql(`UPDATE calendars SET owner_id = 'bob' WHERE id = 'busy'`), http.StatusNoContent},
		"an account elsewhere": {false, over, sql(`UPDATE calendars SET origin = 'elsewhere' WHERE id = 'busy'`), http.StatusNoContent},
		"an object there":      {false, fresh, func(m *meeting) { m.stranger("b.ics", "b") }, http.StatusNoContent},
		"another UID there":    {false, fresh, func(m *meeting) { m.stranger("b.ics", "unlike") }, http.StatusNoContent},
		"a tombstone": {false, fresh, func(m *meeting) {
			m.stranger("b.ics", "b")
			m.run(`UPDATE objects SET deleted = TRUE WHERE name = 'b.ics'`)
		}, http.StatusNoContent},
		"the UID elsewhere":       {false, fresh, func(m *meeting) { m.stranger("c.ics", "b") }, http.StatusConflict},
		"the other UID elsewhere": {true, draft{name: "b.ics", uid: "c"}, func(m *meeting) { m.stranger("c.ics", "c") }, http.StatusConflict},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			m := newMeeting(t)
			m.fine(m.other.InsertUser(t.Context(), calendar.User{ID: "bob", Name: "bob"}, "hash"))
			g := m.guest(c.token)
			// Also this is kept as presumed, so that nothing but what happens is in the way.
			g.presumed(draft{name: "first.ics", uid: "first", data: "old"})
			g.fresh = c.draft.name == fresh.name
			c.happen(m)
			before := m.state()
			g.between = func() { m.same(m.state(), before) }
			g.anew(g.put(c.draft), c.status)
			if c.status == http.StatusUnauthorized {
				m.same(m.state(), before)
			}
		})
	}
}

// TestPresumedHasNoLock: with credentials that nobody has looked at nothing is done under a lock, and nothing at all but what is kept with them.
func TestPresumedHasNoLock(t *testing.T) {
	t.Parallel()
	m := newMeeting(t)
	ctx := t.Context()
	m.fine(m.other.InsertUser(ctx, calendar.User{ID: "bob", Name: "bob"}, "hash"))
	g := m.guest(false)
	advance := func(ctx context.Context, tx *Tx) error { _, err := tx.Advance(ctx, "rest"); return err }
	put := func(then func(context.Context, *Tx) error) func(context.Context) error {
		return func(ctx context.Context) error {
			_, err := g.meeting.put(ctx, m.store, draft{name: "first.ics", uid: "first", data: rand.Text(), then: func(tx *Tx) error { return then(ctx, tx) }})
			return err
		}
	}
	in := func(do func(context.Context, *Tx) error) func(context.Context) error {
		return func(ctx context.Context) error {
			return m.store.transact(ctx, func(tx *Tx) error { return do(ctx, tx) })
		}
	}
	rest := func(ctx context.Context, tx *Tx) error {
		return tx.Count(ctx, []calendar.CalendarID{"rest"}, calendar.Usage{Objects: 7})
	}
	for what, do := range map[string]func(context.Context) error{
		"the lock": in(advance),
		"several locks": in(func(ctx context.Context, tx *Tx) error {
			_, err := tx.AdvanceAll(ctx, []calendar.CalendarID{"busy", "rest"})
			return err
		}),
		"those that are free": in(func(ctx context.Context, tx *Tx) error {
			_, err := tx.AdvanceFree(ctx, []calendar.CalendarID{"rest"}, calendar.Usage{Objects: 1})
			return err
		}),
		"the lock first": in(func(ctx context.Context, tx *Tx) error {
			tx.LockFirst()
			_, _, _, err := tx.AdvanceTo(ctx, "rest", "a", "a")
			return err
		}),
		"another calendar": in(func(ctx context.Context, tx *Tx) error {
			_, _, _, err := tx.AdvanceTo(ctx, "rest", "a", "a")
			return err
		}),
		"another UID": in(func(ctx context.Context, tx *Tx) error {
			_, _, _, err := tx.AdvanceTo(ctx, "busy", "first.ics", "x")
			return err
		}),
		"a statement":        func(ctx context.Context) error { return m.store.run(ctx, `UPDATE users SET admin = TRUE`) },
		"a row":              in(rest),
		"nothing":            in(func(context.Context, *Tx) error { return nil }),
		"a user":             func(ctx context.Context) error { return m.store.SetPassword(ctx, "bob", "x") },
		"a question":         put(func(ctx context.Context, tx *Tx) error { _, _, err := tx.Duplicates(ctx, "busy", "x", "x"); return err }),
		"no heed":            put(func(ctx context.Context, tx *Tx) error { _, _, _ = tx.Duplicates(ctx, "busy", "x", "x"); return nil }),
		"another lock":       put(advance),
		"another's row":      put(rest),
		"a statement beside": put(func(ctx context.Context, tx *Tx) error { return tx.run(ctx, `UPDATE users SET admin = TRUE`) }),
		"a tombstone":        put(func(ctx context.Context, tx *Tx) error { return tx.BuryObject(ctx, "busy", "first.ics", 1) }),
	} {
		before, ran := m.state(), 0
		release := m.hold() // whoever waits for the lock waits for ever
		a := g.request("first.ics", false, func(ctx context.Context) ([]try, error) {
			if ran++; ran > 1 {
				return nil, nil
			}
			return nil, do(ctx)
		})
		release()
		if len(a.runs) != 2 || !a.runs[0].presumed || !errors.Is(a.runs[0].err, auth.ErrAskFirst) || a.runs[1].presumed || m.state() != before {
			t.Errorf("%s: %+v", what, a)
		}
	}
	m.until(func(c *convoy) bool { return c.locked == 0 && !c.under })
}

// TestPresumedIsWary: where another server turns out to be about once it is presumed, the lock is not waited for.
func TestPresumedIsWary(t *testing.T) {
	t.Parallel()
	m := newMeeting(t)
	g := m.guest(false)
	release := m.hold()
	under := m.waits(draft{name: "x"}) // whoever begins with the lock waits for this
	a := g.request("first.ics", false, func(ctx context.Context) ([]try, error) {
		if auth.AlongOf(ctx).Presumed() == nil {
			release()
			return nil, nil
		}
		m.until(func(c *convoy) bool { c.wary = 2; return true })
		return m.put(ctx, m.store, draft{name: "first.ics", uid: "first"})
	})
	if len(a.runs) != 2 || !a.runs[0].presumed || len(a.runs[0].tries) != 0 || !errors.Is(a.runs[0].err, auth.ErrAskFirst) {
		t.Errorf("%+v", a)
	}
	m.told(1, under)
}

// crashed is what PgBouncer says where it has lost the database's connection, before it hangs up.
func crashed() string {
	fields := "SFATAL\x00VFATAL\x00C08P01\x00Mserver conn crashed?\x00\x00"
	return "E" + string(binary.BigEndian.AppendUint32(nil, uint32(4+len(fields)))) + fields
}

// TestPresumedIsNotHeard: where nobody knows whether a change was kept it is not made again, and whoever made it hears that, whatever way the
// answer was lost.
func TestPresumedIsNotHeard(t *testing.T) {
	t.Parallel()
	for what, last := range map[string]string{"hung up": "", "a pooler": crashed(), "no answer": "ß"} {
		for _, mode := range modes {
			t.Run(what+" "+mode, func(t *testing.T) {
				t.Parallel()
				var line *deafLine
				m := newMeetingAt(t, testdb.Postgres(t), by(t, mode, last, &line))
				g := m.guest(false)
				release := m.hold()
				unheard := g.waits(draft{name: "first.ics", uid: "first", data: "unheard"})
				m.untilLocked()
				line.deaf.Store(true)
				release()
				if a := <-unheard; len(a.runs) != 1 || !a.runs[0].presumed || a.status != http.StatusServiceUnavailable {
					t.Errorf("%+v", a)
				}
				names, _ := m.kept()
				m.same(names, []string{"first.ics", "first.ics"})
			})
		}
	}
}

// TestPresumedAndTheDatabase: what the database refuses, for whatever reason, is not kept, and made again once the credentials were asked for.
func TestPresumedAndTheDatabase(t *testing.T) {
	t.Parallel()
	for _, code := range []string{"40001", "40P01", "57014", "53400", "23503", "P0001"} {
		t.Run(code, func(t *testing.T) {
			t.Parallel()
			m := newMeetingAt(t, testdb.Blank(t), func(*url.URL) {})
			g := m.guest(false)
			g.fresh = true
			m.run(`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE ''not now'' USING ERRCODE = ''` + code + `''; END';
				CREATE TRIGGER bad BEFORE INSERT ON objects FOR EACH ROW EXECUTE FUNCTION refuse()`)
			g.between = func() { m.run(`DROP TRIGGER bad ON objects`) }
			g.anew(g.put(draft{name: "b.ics", uid: "b"}), http.StatusNoContent)
			names, _ := m.kept()
			m.same(names, []string{"first.ics", "b.ics"})
			// Of what was before nothing is known any more.
			g.between, g.fresh = func() {}, false
			g.ordinary(draft{name: "first.ics", uid: "first", data: "later"})
		})
	}
}

// TestPresumedForgets: of a calendar that was changed otherwise nothing is remembered, and once it is known again, nothing of what was there
// before.
func TestPresumedForgets(t *testing.T) {
	t.Parallel()
	for what, change := range map[string]func(m *meeting, d draft){
		"under the lock": func(m *meeting, d draft) {
			m.fine(m.store.transact(m.Context(), func(tx *Tx) error {
				tx.LockFirst()
				cal, at, _, err := tx.AdvanceTo(m.Context(), "busy", calendar.ObjectName(d.name), calendar.UID(d.uid))
				if err != nil {
					return err
				}
				return errors.Join(tx.PutObject(m.Context(), objectAt("busy", at.Name, at.UID, d.data, cal.Version)),
					tx.Log(m.Context(), calendar.Change{Calendar: "busy", Version: cal.Version, Object: at.Name, UID: at.UID, Did: calendar.Modified}))
			}))
		},
		"by another": func(m *meeting, d draft) {
			_, err := m.put(m.Context(), m.other, d)
			m.fine(err)
			// Whoever reads the calendar now meets it as it is.
			_, err = m.put(m.along("x.ics"), m.store, draft{name: "x.ics", uid: "x"})
			m.fine(err)
		},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			m := newMeeting(t)
			g := m.guest(false)
			g.presumed(draft{name: "first.ics", uid: "first", data: "1"})
			change(m, draft{name: "first.ics", uid: "first", data: "2"})
			if known := m.gates.recall(home{"alice", "busy"}, "first.ics", m.store.options.Now()); known != nil && len(known.Objects) > 0 {
				t.Errorf("there is %+v in memory", known)
			}
			g.ordinary(draft{name: "b.ics", uid: "b"})
			g.presumed(draft{name: "b.ics", uid: "b", data: "again"}) // the calendar is known again
			a := g.ordinary(draft{name: "first.ics", uid: "first", data: "3"})
			m.same(a.runs[0].tries[0].AtName, "2")
			g.presumed(draft{name: "first.ics", uid: "first", data: "4"})
		})
	}
}

// TestPresumedSeesItsOwn: what is given, and not kept yet, is not what is remembered.
func TestPresumedSeesItsOwn(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		second draft
		fresh  bool
		seen   try
	}{
		"the object":   {draft{name: "first.ics", uid: "first", data: "two"}, false, try{Version: 3, AtName: "one", WithUID: "one"}},
		"a fresh name": {draft{name: "b.ics", uid: "b", data: "two"}, true, try{Version: 3, AtName: "one", WithUID: "one"}},
		"a fresh UID":  {draft{name: "c.ics", uid: "b", data: "two"}, true, try{Version: 3, AtName: "none", WithUID: "one"}},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			m := newMeeting(t)
			g := m.guest(false)
			g.fresh = c.fresh
			first := draft{name: "first.ics", uid: "first", data: "one"}
			if c.fresh {
				first = draft{name: "b.ics", uid: "b", data: "one"}
			}
			release := m.hold()
			one := g.waits(first)
			c.second.when = func(try) error { return context.Canceled }
			begun := make(chan struct{})
			g.between = func() { close(begun) }
			two := g.begin(c.second)
			<-begun
			release()
			g.isKept(<-one)
			if a := <-two; len(a.runs) != 2 || len(a.runs[0].tries) != 0 || !errors.Is(a.runs[0].err, auth.ErrAskFirst) || len(a.runs[1].tries) == 0 || a.runs[1].tries[0] != c.seen && a.runs[1].tries[0] != c.seen.early() {
				t.Errorf("%+v, want %+v", a, c.seen)
			}
			m.kept()
		})
	}
}

// early is the same where it was decided so: the one before it may be kept by then.
func (s try) early() try { s.Early = true; return s }

// TestPresumedByTwo: what several write is kept together, but by loads that look at the credentials of one, and nobody's are taken for another's.
func TestPresumedByTwo(t *testing.T) {
	t.Parallel()
	for _, gone := range []bool{false, true} {
		m := newMeeting(t)
		password := m.guest(false)
		token := &guest{meeting: m, service: password.service, between: func() {}}
		token.authorization = "Bearer " + string(token.token())
		password.ordinary(draft{name: "a.ics", uid: "a"})
		token.ordinary(draft{name: "b.ics", uid: "b"})
		password.fresh, token.fresh = true, true
		at := func(name string) draft { return draft{name: name + ".ics", uid: name} }
		release := m.hold()
		first := m.waits(at("0"))
		one, two := password.waits(at("1")), m.waits(at("2"))
		three, four, five := token.waits(at("3")), token.waits(at("4")), m.waits(at("5"))
		six := password.waits(at("6"))
		if gone {
			m.run(`DELETE FROM tokens`)
		}
		release()
		m.told(1, first, two)
		password.isKept(<-one)
		if !gone {
			token.isKept(<-three)
			token.isKept(<-four)
			m.told(1, five)
			password.isKept(<-six)
			names, commits := m.kept()
			m.same(strings.Join(names, " "), "first.ics a.ics b.ics 0.ics 1.ics 2.ics 3.ics 4.ics 5.ics 6.ics")
			m.same(commits, []int{1, 1, 1, 1, 2, 3, 1})
			continue
		}
		token.anew(<-three, http.StatusUnauthorized)
		token.anew(<-four, http.StatusUnauthorized)
		m.told(2, five)
		password.anew(<-six, http.StatusNoContent)
		names, _ := m.kept()
		m.same(len(names), 8)
	}
}

// TestPresumedForAMinute: what a load has left is good enough to decide on for a minute, and each load begins that anew.
func TestPresumedForAMinute(t *testing.T) {
	t.Parallel()
	g := newMeeting(t).guest(false)
	for range 2 {
		g.passed.Add(int64(recalledFor - time.Second))
		g.presumed(draft{name: "first.ics", uid: "first"})
	}
	g.passed.Add(int64(recalledFor + time.Second))
	g.ordinary(draft{name: "first.ics", uid: "first"})
	g.presumed(draft{name: "first.ics", uid: "first"})
}

// TestPresumedBehindSeveral: of what one load keeps the last is remembered.
func TestPresumedBehindSeveral(t *testing.T) {
	t.Parallel()
	m := newMeeting(t)
	g := m.guest(false)
	release := m.hold()
	all := []*underway{m.waits(draft{name: "1"}), m.waits(draft{name: "2"}), m.waits(draft{name: "3"})}
	release()
	m.told(1, all...)
	g.presumed(draft{name: "first.ics", uid: "first", data: "behind"})
}

// TestRefusedIsNotPresumed: whoever had the database refuse what was presumed is asked for first for a minute, whatever they write: the database
// writes each refusal into its log.
func TestRefusedIsNotPresumed(t *testing.T) {
	t.Parallel()
	g := newMeeting(t).guest(false)
	good, theirs := draft{name: "first.ics", uid: "first"}, draft{name: "b.ics", uid: "first"}
	put := func(d draft, fresh bool) answered { g.fresh = fresh; return g.put(d) }
	g.presumed(good)
	g.anew(put(theirs, true), http.StatusConflict)
	for range 3 {
		for _, one := range []struct {
			draft
			fresh  bool
			status int
		}{{good, false, http.StatusNoContent}, {theirs, true, http.StatusConflict}} {
			if a := put(one.draft, one.fresh); len(a.runs) != 1 || a.runs[0].presumed || a.status != one.status {
				t.Errorf("%s: %+v", one.name, a)
			}
		}
	}
	g.passed.Add(int64(recalledFor))
	g.fresh = false
	g.ordinary(good)
	g.presumed(good)
	g.anew(put(theirs, true), http.StatusConflict)
	if n := len(g.gates.refused); n != 1 {
		t.Errorf("%d are remembered", n)
	}
	g.passed.Add(int64(recalledFor + time.Second))
	g.gates.doubt(&load{presumed: new(auth.Presumed), where: home{owner: "bob"}, changes: []*early{{at: g.store.options.Now().Unix()}}})
	if _, is := g.gates.refused["alice"]; is || len(g.gates.refused) != 1 {
		t.Errorf("%v is remembered", g.gates.refused)
	}
}

// TestPresumedAtOnePlace: one load sees whether the calendar lies at one place, and keeps nothing that was written to another.
func TestPresumedAtOnePlace(t *testing.T) {
	t.Parallel()
	p := &auth.Presumed{Generation: 1}
	to := func(owner calendar.UserID, at calendar.Segment) *early {
		return &early{presumed: p, own: &auth.Stored{Calendar: calendar.Calendar{Owner: owner, Segment: at}}}
	}
	for what, next := range map[string]struct {
		change *early
		with   int
	}{
		"the same place": {to("alice", "one"), 3}, "nothing presumed": {&early{}, 3}, "another place": {to("alice", "two"), 2}, "another owner": {to("bob", "one"), 2},
	} {
		c := &convoy{waiting: []*early{to("alice", "one"), {}, next.change}}
		l := c.load()
		if len(l.changes) != next.with || len(c.waiting) != 3-next.with || l.where != (home{"alice", "one"}) {
			t.Errorf("%s: %d with it, %d behind, at %+v", what, len(l.changes), len(c.waiting), l.where)
		}
	}
}
