package store_test

import (
	"context"
	"database/sql"
	"errors"
	"net/url"
	"slices"
	"sync"
	"testing"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/internal/pgtest"
	"caldav-mcp-server/internal/pgtest/refuse"
	"caldav-mcp-server/internal/testdb"
	"caldav-mcp-server/store"
)

// refusing creates a database that refuses features.
func refusing(t *testing.T, server *pgtest.Server) string {
	t.Helper()
	d, err := refuse.On(t.Context(), server.URL())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Drop(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return d.URL
}

// TestRefusingPostgres: on a database without LISTEN, NOTIFY, advisory locks and timelines several servers create the
// tables, write, and notice each other's changes.
func TestRefusingPostgres(t *testing.T) {
	t.Parallel()
	server := startPostgres(t)
	database := refusing(t, server)
	// Aurora has the functions, and refuses them all with this code.
	super, err := sql.Open("pgx", unhidden(t, server, database))
	if err != nil {
		t.Fatal(err)
	}
	defer super.Close()
	if _, err := super.ExecContext(t.Context(), `
		UPDATE pg_proc SET proname = 'hidden' WHERE proname = 'pg_current_wal_lsn';
		CREATE FUNCTION pg_catalog.pg_current_wal_lsn()
		RETURNS pg_lsn LANGUAGE plpgsql AS 'BEGIN RAISE object_not_in_prerequisite_state; END';
		GRANT EXECUTE ON FUNCTION pg_walfile_name(pg_lsn) TO PUBLIC`); err != nil {
		t.Fatal(err)
	}
	var stores [3]*store.Store
	var all sync.WaitGroup
	for i := range stores {
		all.Go(func() {
			s, err := store.Open(t.Context(), database, store.Options{})
			if err == nil {
				stores[i] = s
				err = s.Migrate(t.Context())
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for _, s := range stores {
		if s != nil {
			t.Cleanup(func() {
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			})
		}
	}
	if t.Failed() {
		return
	}
	prepare(t, stores[0])
	hints := make(chan calendar.Hint, 1000)
	t.Cleanup(stores[1].Watch(func(h calendar.Hint) { hints <- h }))
	await(t, hints, "the beginning", everything)
	if _, err := put(t.Context(), stores[0], "a"); err != nil {
		t.Fatal(err)
	}
	await(t, hints, "another server's write", everything)
	if _, err := put(t.Context(), stores[1], "b"); err != nil {
		t.Fatal(err)
	}
	await(t, hints, "its own write", func(h calendar.Hint) bool { return slices.Contains(h.Calendars, theCalendar) })

	able, err := stores[0].Abilities(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var lacks []string
	for _, a := range able {
		if a.Lack != nil {
			lacks = append(lacks, a.Name)
		}
	}
	if want := []string{"LISTEN", "NOTIFY", "timelines", "cluster identifiers"}; !slices.Equal(lacks, want) {
		t.Errorf("the database lacks %q, want %q", lacks, want)
	}
}

// TestAbilities prints the features of the database, for compat/engine.
func TestAbilities(t *testing.T) {
	t.Parallel()
	database := testdb.Postgres(t)
	s := open(t, database, store.Options{})
	able, err := s.Abilities(t.Context())
	if err != nil || len(able) == 0 {
		t.Fatal(able, err)
	}
	conn, err := sql.Open("pgx", database)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	var version string
	if err := conn.QueryRowContext(t.Context(), `SELECT concat_ws(', ', substring(version() FROM '^\S+ \S+'),
		(SELECT string_agg(extname || ' ' || extversion, ', ') FROM pg_extension WHERE extname <> 'plpgsql'))`).
		Scan(&version); err != nil {
		t.Fatal(err)
	}
	t.Logf("feature engine|%s", version)
	for _, a := range able {
		has := "yes"
		if a.Lack != nil {
			has = "no: " + a.Instead
		}
		t.Logf("feature %s|%s", a.Name, has)
	}
}

// TestEpochWithoutTimelines: a server that hides its timeline may be another after each start, so its start begins an
// epoch. A server that stops hiding it, or begins to, does not break the database.
func TestEpochWithoutTimelines(t *testing.T) {
	t.Parallel()
	server := startPostgres(t)
	hidden := refusing(t, server)
	s := open(t, hidden, store.Options{})
	first := epochOf(t, s)
	for _, again := range []*store.Store{s, open(t, hidden, store.Options{})} {
		if got := epochOf(t, again); got != first || first == "" {
			t.Errorf("without a restart, the epoch was %q and is %q", first, got)
		}
	}
	if err := server.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	comesBack(t, s)
	second := epochOf(t, s)
	if second == first || epochOf(t, open(t, hidden, store.Options{})) != second {
		t.Errorf("after a restart, the epoch is still %q, or not the same for all", second)
	}
	shown := open(t, unhidden(t, server, hidden), store.Options{})
	third := epochOf(t, open(t, unhidden(t, server, hidden), store.Options{}))
	if err := server.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	comesBack(t, shown)
	if got := epochOf(t, shown); got != third {
		t.Errorf("with a timeline, a restart changes the epoch from %q to %q", third, got)
	}
	comesBack(t, s)
	if _, err := s.Epoch(t.Context()); err == nil {
		t.Error("the epoch is read although the role may not call its functions")
	}
	if got := epochOf(t, open(t, hidden, store.Options{})); got == third {
		t.Errorf("hidden again, the epoch is still %q", got)
	}
}

// unhidden is the URL of a refusing database for the superuser, past the proxy.
func unhidden(t *testing.T, server *pgtest.Server, hidden string) string {
	t.Helper()
	super, err := url.Parse(server.URL())
	at, err2 := url.Parse(hidden)
	if err := errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	super.Path = at.Path
	return super.String()
}

// TestEpochOfOtherHistories: Neon names a history in a setting, and restores a branch without a new timeline.
// YugabyteDB has a process for each node, so a start does not mean another history.
func TestEpochOfOtherHistories(t *testing.T) {
	t.Parallel()
	database := testdb.Blank(t)
	epochs := map[calendar.Epoch]string{}
	for _, branch := range []string{"before", "before", "after"} {
		got := epochOf(t, open(t, database+"&neon.timeline_id="+branch, store.Options{}))
		if was, known := epochs[got]; known && was != branch {
			t.Errorf("branches %s and %s have the epoch %q", was, branch, got)
		}
		epochs[got] = branch
	}
	if len(epochs) != 2 {
		t.Errorf("two branches have the epochs %v", epochs)
	}
	conn, err := sql.Open("pgx", database)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.ExecContext(t.Context(), `CREATE FUNCTION yb_servers() RETURNS int
		LANGUAGE sql AS 'SELECT 1'`); err != nil {
		t.Fatal(err)
	}
	open(t, database, store.Options{})
	var timeline string
	err = conn.QueryRowContext(t.Context(), `SELECT server_timeline()`).Scan(&timeline)
	if err != nil || timeline != "" {
		t.Errorf("the timeline of YugabyteDB is %q, %v", timeline, err)
	}
}
