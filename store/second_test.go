package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/internal/pgtest"
	"caldav-mcp-server/internal/slowtest"
	"caldav-mcp-server/internal/testdb"
	"caldav-mcp-server/store/db"
)

// following has a Postgres with a standby, and a store that uses both.
type following struct {
	*testing.T
	first, standby *pgtest.Server
	store          *Store
	log            strings.Builder
	mu             sync.Mutex
	now            time.Time
}

func (f *following) Now() time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.now
}

// rest advances the clock by the pause after a failure.
func (f *following) rest() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.now = f.now.Add(db.ReplicaPause)
}

func newFollowing(t *testing.T) *following {
	t.Helper()
	f := &following{T: t, now: time.Unix(1_800_000_000, 0)}
	f.first = testdb.Server(t, func() (*pgtest.Server, error) { return pgtest.Start(t.Context(), pgtest.Options{}) })
	f.store = openMigrated(t, f.first.URL())
	f.fine(f.store.InsertUser(t.Context(), calendar.User{ID: "alice", Name: "alice"}, "hash"))
	f.fine(f.store.Update(t.Context(), func(tx calendar.Tx) error {
		return errors.Join(tx.InsertCalendar(t.Context(), calendar.Calendar{ID: "one", Owner: "alice", Segment: "one"}),
			tx.InsertCalendar(t.Context(), calendar.Calendar{ID: "other", Owner: "alice", Segment: "other"}))
	}))
	f.standby = testdb.Server(t, func() (*pgtest.Server, error) { return f.first.Standby(t.Context(), "second") })
	f.store = f.open(f.standby.URL())
	return f
}

func (f *following) open(second string) *Store {
	f.Helper()
	s, err := Open(f.Context(), f.first.URL(),
		db.Options{Replica: second, Now: f.Now, Logger: slog.New(slog.NewTextHandler(&f.log, nil))})
	f.fine(err)
	f.Cleanup(func() { _ = s.Close() })
	return s
}

func (f *following) fine(err error) {
	f.Helper()
	if err != nil {
		f.Fatal(err)
	}
}

// run runs a statement on a server.
func (f *following) run(on *pgtest.Server, text string) {
	f.Helper()
	db, err := sql.Open("pgx", on.URL())
	f.fine(err)
	defer db.Close()
	_, err = db.ExecContext(f.Context(), text)
	f.fine(err)
}

// caughtUp waits until the standby has replayed everything.
func (f *following) caughtUp() {
	f.Helper()
	at, err := db.RowOf(f.Context(), f.store.db.Reads, db.ScanText, `SELECT pg_current_wal_lsn()::text`)
	f.fine(err)
	f.replayed(`SELECT pg_last_wal_replay_lsn() >= '` + at + `'`)
}

func (f *following) replayed(question string) {
	f.Helper()
	db, err := sql.Open("pgx", f.standby.URL())
	f.fine(err)
	defer db.Close()
	for is := false; !is; {
		f.fine(db.QueryRowContext(f.Context(), question).Scan(&is))
	}
}

// write creates or changes an object, by its place in a calendar.
func (f *following) write(ctx context.Context, id calendar.CalendarID, n int) error {
	return f.store.Update(ctx, func(tx calendar.Tx) error {
		cal, err := tx.Advance(ctx, id)
		if err != nil {
			return err
		}
		name := calendar.ObjectName(fmt.Sprint(n, ".ics"))
		if n%7 == 3 {
			if at, _, err := tx.Duplicates(ctx, id, name, ""); err != nil || at != nil && !at.Deleted {
				return errors.Join(err, tx.BuryObject(ctx, id, name, cal.Version))
			}
		}
		return tx.PutObject(ctx, calendar.Object{
			Calendar: id, Name: name, Version: cal.Version, Data: []byte(fmt.Sprint("text of ", cal.Version)),
			ETag:    calendar.ETag(fmt.Sprint(cal.Version)),
			Derived: calendar.Derived{UID: calendar.UID(name), Kind: calendar.Event, Search: "word"},
		})
	})
}

func (f *following) calendar(id calendar.CalendarID) calendar.Calendar {
	f.Helper()
	cal, err := f.store.Calendar(f.Context(), "alice", id)
	f.fine(err)
	return cal
}

// compare requires equal results from the primary and from a reader that may use the replica, and the given
// outcome of that reader's first read.
func (f *following) compare(want db.ReplicaOutcome) {
	f.Helper()
	before := f.store.ReplicaReads()
	one, other := f.calendar("one"), f.calendar("other")
	search := calendar.SearchQuery{
		Calendars: []calendar.CalendarID{"one", "other"}, Kind: calendar.Event,
		Words: []string{"word"}, Now: f.Now(), Past: true, Limit: 100,
	}
	ask := func(single, both calendar.ObjectReader) string {
		var all []string
		for o, err := range single.Objects(f.Context(), "one", calendar.ObjectQuery{WithData: true}) {
			all = append(all, fmt.Sprint(o.Name, o.Version, string(o.Data), err))
		}
		for o, err := range single.Changes(f.Context(), "one", calendar.VersionRange{Until: one.Version}) {
			all = append(all, fmt.Sprint(o.Name, o.Version, o.Deleted, err))
		}
		found, err := both.Search(f.Context(), search)
		for _, o := range found {
			all = append(all, fmt.Sprint(o.Calendar, o.Name, o.Version, err))
		}
		return strings.Join(all, "\n")
	}
	if got, want := ask(f.store.At(one), f.store.At(one, other)), ask(f.store, f.store); got != want {
		f.Errorf("asked as usual:\n%s\nthe first node alone says:\n%s", got, want)
	}
	after := f.store.ReplicaReads()
	if after[want] == before[want] {
		f.Errorf("no question was %s: %v, and before %v\n%s", want, after, before, f.log.String())
	}
	if n := after[db.ReplicaAnswered] - before[db.ReplicaAnswered]; want != db.ReplicaAnswered && n > 0 {
		f.Errorf("%d questions were answered by the second node, which is %s", n, want)
	}
}

// TestSecondNode: a standby answers while it has the primary's versions; otherwise the primary does.
func TestSecondNode(t *testing.T) {
	t.Parallel()
	f := newFollowing(t)
	for n := range 40 {
		f.fine(f.write(f.Context(), []calendar.CalendarID{"one", "other"}[n%2], n))
	}
	f.caughtUp()
	f.compare(db.ReplicaAnswered)

	f.run(f.standby, `SELECT pg_wal_replay_pause()`)
	f.replayed(`SELECT pg_get_wal_replay_pause_state() = 'paused'`)
	f.fine(f.write(f.Context(), "one", 3))
	f.compare(db.ReplicaBehind)
	f.run(f.standby, `SELECT pg_wal_replay_resume()`)
	f.caughtUp()
	f.compare(db.ReplicaAnswered)

	earlier := f.calendar("one")
	f.fine(f.write(f.Context(), "one", 90))
	f.caughtUp()
	for o, err := range f.store.At(earlier).Objects(t.Context(), "one", calendar.ObjectQuery{}) {
		if err != nil || o.Version <= earlier.Version {
			continue
		}
		earlier.Version = 0 // the primary answers if the calendar is newer than the one looked up
	}
	if earlier.Version != 0 {
		t.Error("what came meanwhile is not seen")
	}

	// A new epoch that the standby does not know yet.
	f.run(f.standby, `SELECT pg_wal_replay_pause()`)
	f.replayed(`SELECT pg_get_wal_replay_pause_state() = 'paused'`)
	f.fine(f.store.NewEpoch(t.Context()))
	f.compare(db.ReplicaOther)
	f.run(f.standby, `SELECT pg_wal_replay_resume()`)
	f.caughtUp()
	f.rest()
	f.compare(db.ReplicaAnswered)

	f.fine(f.standby.Kill())
	f.compare(db.ReplicaAway)
	f.compare(db.ReplicaPaused)
	f.fine(f.standby.Restart(t.Context()))
	f.compare(db.ReplicaPaused)
	f.rest()
	f.caughtUp()
	f.compare(db.ReplicaAnswered)
	if n := strings.Count(f.log.String(), "does not answer"); n != 2 {
		t.Errorf("it was said %d times that the second node does not answer, want twice:\n%s", n, f.log.String())
	}

	f.underWrites()
	f.inTheWay()
	f.inTime()
	f.ofSeveral()
	f.ofAnotherCluster()
	f.ofFirstsURL()
	if n, err := f.store.ReplicaLag(t.Context()); err != nil || n < 0 {
		t.Errorf("the second node is %d bytes behind: %v", n, err)
	}

	f.run(f.standby, `SELECT pg_promote()`)
	f.replayed(`SELECT NOT pg_is_in_recovery()`)
	f.compare(db.ReplicaPrimary)
	if _, err := f.store.ReplicaLag(t.Context()); err == nil || !strings.Contains(err.Error(), "not a standby") {
		t.Errorf("a node that took over is said to follow: %v", err)
	}
	var epochs int
	f.fine(f.store.db.Replica.Pool.QueryRowContext(t.Context(), `SELECT count(*) FROM meta
		WHERE timeline = server_timeline()`).Scan(&epochs))
	if epochs != 0 {
		t.Error("a second node that took over was written to")
	}
}

// inTheWay: a read that replay canceled, or that takes too long, is answered by the primary.
func (f *following) inTheWay() {
	f.run(f.standby, `ALTER SYSTEM SET max_standby_streaming_delay = 0`)
	f.run(f.standby, `SELECT pg_reload_conf()`)
	f.fine(f.write(f.Context(), "one", 1))
	f.caughtUp()
	one := []calendar.Calendar{f.calendar("one")}
	begun, locked := make(chan struct{}), make(chan error, 1)
	go func() {
		<-begun
		_, err := f.store.write(f.Context(), `LOCK TABLE objects IN ACCESS EXCLUSIVE MODE`)
		locked <- err
	}()
	var first sync.Once
	how, err := f.store.db.Replica.Answer(f.Context(), hasState(one), func(at db.Querier) error {
		for {
			_, err := db.RowOf(f.Context(), at, db.ScanNumber, `SELECT count(*) FROM objects`)
			if err != nil {
				return err
			}
			first.Do(func() { close(begun) })
		}
	})
	if how != db.ReplicaConflict {
		f.Errorf("it came to %s, want a conflict: %v", how, err)
	}
	f.fine(<-locked)
	patience := f.store.db.Replica.Engine.Patience
	f.store.db.Replica.Engine.Patience = time.Millisecond
	how, err = f.store.db.Replica.Answer(f.Context(), hasState(one), func(at db.Querier) error {
		_, err := db.RowOf(f.Context(), at, db.ScanNumber, `SELECT 1 FROM pg_sleep(60)`)
		return err
	})
	if how != db.ReplicaSlow {
		f.Errorf("it came to %s, want that it is slow: %v", how, err)
	}
	f.store.db.Replica.Engine.Patience = patience
}

// ofAnotherCluster: a standby of another cluster is refused at once; one that is away at the start may return.
func (f *following) ofAnotherCluster() {
	stranger := testdb.Server(f.T, func() (*pgtest.Server, error) {
		return pgtest.Start(f.Context(), pgtest.Options{})
	})
	_, err := Open(f.Context(), f.first.URL(), db.Options{Replica: stranger.URL()})
	if !errors.Is(err, db.ErrOtherCluster) {
		f.Errorf("a stranger was taken for a standby: %v", err)
	}
	f.fine(stranger.Kill())
	if f.open(stranger.URL()); !strings.Contains(f.log.String(), "why=away") {
		f.Errorf("nothing is said of a second node that is away:\n%s", f.log.String())
	}
}

// ofFirstsURL: a replica URL with listen=, copied from the primary's URL, is refused.
func (f *following) ofFirstsURL() {
	u, err := url.Parse(f.standby.URL())
	f.fine(err)
	for _, listen := range []string{u.Host, "nowhere"} {
		q := u.Query()
		q.Set("listen", listen)
		u.RawQuery = q.Encode()
		if _, err := Open(f.Context(), f.first.URL(), db.Options{Replica: u.String()}); !errors.Is(err,
			db.ErrReplicaListens) {
			f.Errorf("a second node with listen=%s was opened with %v", listen, err)
		}
	}
}

// underWrites: under concurrent writes, with a standby that falls behind again and again, a reader sees nothing
// older than the calendar was at its lookup.
func (f *following) underWrites() {
	rounds := slowtest.Rounds(f, slowtest.Random, 150, 20_000)
	ctx, cancel := context.WithCancel(f.Context())
	var all sync.WaitGroup
	defer all.Wait()
	defer cancel()
	for writer := range 2 {
		all.Go(func() {
			random := rand.New(rand.NewPCG(83, uint64(writer)))
			for ctx.Err() == nil {
				f.fineUntil(ctx, f.write(ctx, "one", random.IntN(60)))
				_, err := f.store.write(ctx, `SELECT pg_sleep($1)`, random.Float64()/100)
				f.fineUntil(ctx, err)
			}
		})
	}
	all.Go(func() {
		for n := 0; ctx.Err() == nil; n++ {
			f.fineUntil(ctx, runOn(ctx, f.store.db.Replica.Pool, []string{
				`SELECT pg_wal_replay_pause()`,
				`SELECT pg_wal_replay_resume()`,
			}[n%2]))
			f.fineUntil(ctx, runOn(ctx, f.store.db.Replica.Pool, `SELECT pg_sleep(0.02)`))
		}
	})
	before := f.store.ReplicaReads()
	became := func(how db.ReplicaOutcome) bool {
		now := f.store.ReplicaReads()
		return now[how] > before[how]
	}
	for round := 0; round < rounds || !became(db.ReplicaAnswered) || !became(db.ReplicaBehind); round++ {
		f.honest()
	}
	cancel()
	all.Wait()
	f.run(f.standby, `SELECT pg_wal_replay_resume()`)
	f.caughtUp()
}

func runOn(ctx context.Context, db *sql.DB, text string) error {
	_, err := db.ExecContext(ctx, text)
	return err
}

func (f *following) fineUntil(ctx context.Context, err error) {
	if err != nil && ctx.Err() == nil {
		f.Error(err)
	}
}

// honest lists a calendar, and then checks the result against the primary.
func (f *following) honest() {
	f.Helper()
	then := f.calendar("one")
	seen := map[calendar.ObjectName]calendar.Version{}
	for o, err := range f.store.At(then).Objects(f.Context(), "one", calendar.ObjectQuery{}) {
		f.fine(err)
		seen[o.Name] = o.Version
	}
	for o, err := range f.store.Changes(f.Context(), "one", calendar.VersionRange{Until: then.Version}) {
		f.fine(err)
		if v, listed := seen[o.Name]; o.Deleted == listed || listed && v != o.Version {
			f.Errorf("%s has been at version %d (deleted: %v) since before %d, and was listed: %v, at %d", o.Name,
				o.Version, o.Deleted, then.Version, listed, v)
		}
	}
}

// relay is a proxy between a store and its standby that can be paused.
type relay struct {
	held sync.RWMutex
	to   string
}

// through starts a relay and returns the standby's URL through it.
func (f *following) through() (string, *relay) {
	f.Helper()
	u, err := url.Parse(f.standby.URL())
	f.fine(err)
	r := &relay{to: u.Host}
	var listening net.ListenConfig
	l, err := listening.Listen(f.Context(), "tcp", "127.0.0.1:0")
	f.fine(err)
	f.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			here, err := l.Accept()
			if err != nil {
				return
			}
			var dial net.Dialer
			there, err := dial.DialContext(context.WithoutCancel(f.Context()), "tcp", r.to)
			if err != nil {
				_ = here.Close()
				continue
			}
			go r.pass(here, there)
			go r.pass(there, here)
		}
	}()
	u.Host = l.Addr().String()
	return u.String(), r
}

// pass forwards data unless the relay is paused.
func (r *relay) pass(from, to net.Conn) {
	defer to.Close()
	for some := make([]byte, 4096); ; {
		n, err := from.Read(some)
		if err != nil {
			return
		}
		r.held.RLock()
		_, err = to.Write(some[:n])
		r.held.RUnlock()
		if err != nil {
			return
		}
	}
}

// ofSeveral: of two standbys, the first accepts connections and is silent, and the second answers.
func (f *following) ofSeveral() {
	where, r := f.through()
	r.held.Lock()
	defer r.held.Unlock()
	u, err := url.Parse(where)
	f.fine(err)
	live, err := url.Parse(f.standby.URL())
	f.fine(err)
	u.Host += "," + live.Host
	f.caughtUp()
	s := f.open(u.String() + "&target_session_attrs=standby")
	how, err := s.db.Replica.Answer(f.Context(), hasState([]calendar.Calendar{f.calendar("one")}),
		func(db.Querier) error { return nil })
	if how != db.ReplicaAnswered {
		f.Errorf("beside one that is silent a standby is %s: %v", how, err)
	}
}

// inTime: a standby that dies after its answer delays no read. One that reports its state at the moment of the
// timeout counts as not answering.
func (f *following) inTime() {
	f.caughtUp()
	where, r := f.through()
	s := f.open(where)
	one := []calendar.Calendar{f.calendar("one")}
	how, err := s.db.Replica.Answer(f.Context(), hasState(one), func(db.Querier) error {
		r.held.Lock()
		return nil
	})
	r.held.Unlock()
	if how != db.ReplicaAnswered || err != nil {
		f.Errorf("a node that went after it had answered: %s, %v", how, err)
	}
	given, end := make(chan struct{}), make(chan struct{})
	f.store.db.Replica.After = func(_ time.Duration, giveUp func()) *time.Timer {
		timer := time.AfterFunc(0, func() {
			close(given)
			<-end
			giveUp()
		})
		<-given
		return timer
	}
	asked := false
	how, _ = f.store.db.Replica.Answer(f.Context(), hasState(one), func(db.Querier) error {
		asked = true
		return nil
	})
	close(end)
	if how == db.ReplicaAnswered && !asked {
		f.Error("it is said to have answered what it was not asked")
	}
	f.store.db.Replica.After = time.AfterFunc
}
