package main

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"caldav-mcp-server/internal/pgtest"
	"caldav-mcp-server/internal/slowtest"
)

const (
	// calm is how many changes are acknowledged before anything happens and after it is over, behind how
	// many while the standby hears nothing.
	calm, behind = 150, 60
	servers      = 3
	// pause is how long a writer waits that was not answered well.
	pause = 20 * time.Millisecond
)

// Three servers, writers and synchronizing clients continue while Postgres dies and its standby takes over. A
// synchronous primary loses no acknowledged write; an asynchronous one loses some. In neither case is a client told of
// data that does not exist, even if the servers may not see which history of the database they use.
func TestFailOver(t *testing.T) {
	slowtest.Skip(t, slowtest.Crash, "makes two Postgres servers and ends one under load")
	for _, way := range []struct {
		name                string
		synchronous, hidden bool
	}{{"synchronous", true, false}, {"asynchronous", false, false}, {"hidden", false, true}} {
		t.Run(way.name, func(t *testing.T) {
			p := newPair(t)
			if way.hidden {
				p.hideHistory(t)
			}
			l := newWitness(t, p.url)
			if way.synchronous {
				p.run(t, p.primary, `ALTER SYSTEM SET synchronous_standby_names = 'second'`, `SELECT pg_reload_conf()`)
			}
			work := l.begin(t)
			l.await(t, calm)
			if !way.synchronous {
				p.run(t, p.standby, `ALTER SYSTEM SET primary_conninfo = ''`, `SELECT pg_reload_conf()`)
				until(t, "the standby hears nothing", func() bool {
					return p.count(t, p.primary, `SELECT count(*) FROM pg_stat_replication`) == 0
				})
				l.await(t, behind)
			}
			if err := p.primary.Kill(); err != nil {
				t.Fatal(err)
			}
			p.run(t, p.standby, `SELECT pg_promote()`)
			l.await(t, calm)
			work()
			l.judge(t, way.synchronous)
		})
	}
}

// pair is a Postgres with a standby.
type pair struct {
	primary, standby *pgtest.Server
	url              string
}

func newPair(t *testing.T) *pair {
	t.Helper()
	p := &pair{primary: ownPostgres(t, pgtest.Options{})}
	standby, err := p.primary.Standby(t.Context(), "second")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := standby.Stop(); err != nil {
			t.Error(err)
		}
	})
	p.standby = standby
	if p.url, err = pgtest.Together(p.primary, p.standby); err != nil {
		t.Fatal(err)
	}
	return p
}

// hideHistory lets servers connect as a role that may not call the functions that tell histories apart.
func (p *pair) hideHistory(t *testing.T) {
	t.Helper()
	p.run(t, p.primary, `CREATE ROLE plain LOGIN PASSWORD 'plain'`, `GRANT CREATE ON SCHEMA public TO plain`,
		`REVOKE EXECUTE ON FUNCTION pg_current_wal_lsn(), pg_walfile_name(pg_lsn), pg_control_system() FROM PUBLIC`)
	both, err := url.Parse(p.url)
	if err != nil {
		t.Fatal(err)
	}
	both.User = url.UserPassword("plain", "plain")
	p.url = both.String()
}

func (p *pair) run(t *testing.T, on *pgtest.Server, statements ...string) {
	t.Helper()
	db, err := sql.Open("pgx", on.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, text := range statements {
		if _, err := db.ExecContext(t.Context(), text); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
}

func (p *pair) count(t *testing.T, on *pgtest.Server, query string) (n int) {
	t.Helper()
	db, err := sql.Open("pgx", on.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.QueryRowContext(t.Context(), query).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// witness is what writers were told, and what clients that synchronize have kept.
type witness struct {
	env     []string
	clients []client
	acked   atomic.Int64
	unknown atomic.Int64

	mu sync.Mutex
	// told is the result of the last acknowledged write of each name: a part of the text, or nothing after a delete. If
	// the last write got no response, the name is in doubt.
	told  map[string]string
	doubt map[string]bool
	kept  []keptToken
}

// keptToken is a token with the state of the client that has it.
type keptToken struct {
	token string
	etags map[string]string
}

// newWitness starts servers on a database, with settings that the last one, which tells the truth, has not.
func newWitness(t *testing.T, url string, settings ...string) *witness {
	t.Helper()
	l := &witness{
		env: append(on(url), "MCP_CALLS_PER_MINUTE=1000000"), told: map[string]string{}, doubt: map[string]bool{},
	}
	env := slices.Concat(l.env, settings)
	first := firstClient(t, serve(t, env))
	l.clients = append(l.clients, first)
	for len(l.clients) < servers {
		l.clients = append(l.clients, first.at(serve(t, env)))
	}
	return l
}

// begin starts four writers and two synchronizing clients; the returned function stops them.
func (l *witness) begin(t *testing.T) (end func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	for n := range 4 {
		all.Go(func() { l.write(ctx, n) })
	}
	for n := range 2 {
		all.Go(func() { l.follow(ctx, n) })
	}
	return func() {
		cancel()
		all.Wait()
	}
}

// await waits for so many more acknowledged changes.
func (l *witness) await(t *testing.T, more int64) {
	t.Helper()
	goal := l.acked.Load() + more
	until(t, fmt.Sprint("there are ", goal, " acknowledged changes"), func() bool { return l.acked.Load() >= goal })
}

// write makes objects by one door, changes them by the other, and changes or deletes them again; each request goes to
// another server.
func (l *witness) write(ctx context.Context, writer int) {
	for n := 0; ctx.Err() == nil; n++ {
		name, text, done := l.one(ctx, fmt.Sprintf("w%d-%d", writer, n/3), n)
		l.note(name, text, done)
		if !done {
			select {
			case <-ctx.Done():
			case <-time.After(pause):
			}
		}
	}
}

// one is the nth write of a writer: it returns the object and text, and whether the write was acknowledged.
func (l *witness) one(ctx context.Context, uid string, n int) (name, text string, done bool) {
	name, title, c := uid+".ics", fmt.Sprint("write ", n), l.clients[n%servers]
	switch {
	case n%3 == 1:
		_, err := c.tool(ctx, "patch_event", map[string]any{
			"calendar_id": "Personal", "event_uid": uid, "title": title,
		})
		return name, "SUMMARY:" + title + "\r\n", err == nil
	case n%6 == 2:
		a, err := c.dav(ctx, http.MethodDelete, personal+name, "")
		return name, "", err == nil && (a.status < 300 || a.status == http.StatusNotFound)
	default:
		text = event(uid, title)
		a, err := c.dav(ctx, http.MethodPut, personal+name, text)
		return name, text, err == nil && a.status < 300
	}
}

func (l *witness) note(name, text string, done bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.doubt[name] = !done; !done {
		l.unknown.Add(1)
		return
	}
	l.acked.Add(1)
	l.told[name] = text
}

// follow synchronizes as a client does, and keeps every token it ever had.
func (l *witness) follow(ctx context.Context, n int) {
	c, has := l.clients[n], keptToken{etags: map[string]string{}}
	for ctx.Err() == nil {
		next, ok := c.follow(ctx, personal, has)
		if !ok {
			continue
		}
		if next.token == "" { // it is told to start over
			has = keptToken{etags: map[string]string{}}
			continue
		}
		if next.token != has.token {
			l.mu.Lock()
			l.kept = append(l.kept, keptToken{next.token, maps.Clone(next.etags)})
			l.mu.Unlock()
		}
		has = next
	}
}
