package store_test

import (
	"database/sql"
	"strings"
	"testing"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/internal/slowtest"
	"caldav-mcp-server/internal/testdb"
	"caldav-mcp-server/store"
)

// A reopened store has the same epoch: clients need not sync from scratch after a restart.
func TestEpochOutlivesARestart(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		first := epochOf(t, open(t, url, store.Options{}))
		for range 2 {
			if again := epochOf(t, open(t, url, store.Options{})); again != first || first == "" {
				t.Errorf("the epoch was %q and is %q", first, again)
			}
		}
	})
}

// A database with another server's identity starts a new epoch. Readers see it before a process stores it, and
// then all see the same.
func TestEpochEndsWithItsServer(t *testing.T) {
	t.Parallel()
	for _, column := range []string{"timeline", "cluster"} {
		t.Run(column, func(t *testing.T) {
			t.Parallel()
			url := testdb.Postgres(t)
			s := open(t, url, store.Options{})
			first := epochOf(t, s)
			db, err := sql.Open("pgx", url)
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			if _, err := db.ExecContext(t.Context(), `UPDATE meta SET `+column+` = 'another'`); err != nil {
				t.Fatal(err)
			}
			if seen := epochOf(t, s); column == "timeline" && seen == first {
				t.Errorf("the epoch is still %q for those who are connected", seen)
			}
			begun := epochOf(t, open(t, url, store.Options{}))
			if strings.HasPrefix(string(begun), string(first)) {
				t.Errorf("after the epoch %q comes %q", first, begun)
			}
			for _, again := range []*store.Store{s, open(t, url, store.Options{})} {
				if got := epochOf(t, again); got != begun {
					t.Errorf("the epoch is %q, want %q", got, begun)
				}
			}
		})
	}
}

// A promoted standby starts a new epoch; before that, the database counts as away.
func TestPromotionBeginsAnEpoch(t *testing.T) {
	slowtest.Skip(t, slowtest.Crash, "makes two Postgres servers and ends one")
	t.Parallel()
	primary := startPostgres(t)
	s := open(t, primary.URL(), store.Options{})
	first := epochOf(t, s)
	standby, err := primary.Standby(t.Context(), "second")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := standby.Stop(); err != nil {
			t.Error(err)
		}
	})
	second, err := store.Open(t.Context(), standby.URL(), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	if _, err := second.Epoch(t.Context()); calendar.ReasonOf(err) != calendar.Unavailable {
		t.Errorf("a standby tells an epoch: %v", err)
	}
	if err := primary.Kill(); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("pgx", standby.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), `SELECT pg_promote()`); err != nil {
		t.Fatal(err)
	}
	if got := epochOf(t, second); got == first {
		t.Errorf("after the promotion the epoch is still %q", got)
	}
	if kept := epochOf(t, open(t, standby.URL(), store.Options{})); strings.HasPrefix(string(kept), string(first)) {
		t.Errorf("the epoch is %q after %q", kept, first)
	}
}

func epochOf(t *testing.T, s *store.Store) calendar.Epoch {
	t.Helper()
	epoch, err := s.Epoch(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return epoch
}
