package store_test

import (
	"os"
	"testing"
	"time"

	"caldav-mcp-server/internal/housetest"
	"caldav-mcp-server/internal/testdb"
	"caldav-mcp-server/store"
	"caldav-mcp-server/store/storetest"
)

func TestMain(m *testing.M) {
	if url := os.Getenv(envCrash); url != "" {
		writeUntilKilled(url)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// TestContract runs the contract's suite on both engines.
func TestContract(t *testing.T) {
	t.Parallel()
	for engine, database := range map[string]func(testing.TB) string{
		"sqlite":   testdb.SQLite,
		"postgres": testdb.Postgres,
	} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			storetest.Run(t, func(t *testing.T) storetest.Open {
				url := database(t)
				return func(t testing.TB, now func() time.Time) storetest.Store {
					t.Helper()
					return open(t, url, store.SharingAtRandom(store.Options{Now: now}))
				}
			})
		})
	}
}

// open opens a store and brings its tables up to date.
func open(t testing.TB, url string, o store.Options) *store.Store {
	t.Helper()
	housetest.Furnish(t, url)
	s, err := store.Open(t.Context(), url, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := s.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s
}
