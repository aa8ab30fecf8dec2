package store

import (
	"sync"
	"testing"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/internal/testdb"
	"caldav-mcp-server/migrations"
)

// TestFileMemory: many goroutines ask while another process changes credentials. After a change is acknowledged, none gets an earlier
// generation. Between two changes a table is read once for each question.
func TestFileMemory(t *testing.T) {
	t.Parallel()
	url := testdb.SQLite(t)
	s, other := bare(t, url, migrations.Files), bare(t, url, migrations.Files)
	migrate(t, s)
	if err := s.InsertUser(t.Context(), calendar.User{ID: "alice", Name: "alice"}, "hash"); err != nil {
		t.Fatal(err)
	}
	ask := func(in *Store) int64 {
		n, err := in.CredentialGeneration(t.Context(), auth.Subject{Name: "alice"})
		if err != nil {
			t.Error(err)
		}
		return n
	}
	var all sync.WaitGroup
	var known sync.Mutex
	latest := ask(other)
	for range 4 {
		all.Go(func() {
			for range 300 {
				known.Lock()
				least := latest
				known.Unlock()
				if got := ask(s); got < least {
					t.Errorf("generation %d, after %d was acknowledged", got, least)
				}
			}
		})
	}
	for range 20 {
		if err := other.transact(t.Context(), func(tx *Tx) error { return tx.credentialsChanged(t.Context(), "alice") }); err != nil {
			t.Error(err)
		}
		now := ask(other)
		known.Lock()
		latest = now
		known.Unlock()
	}
	all.Wait()
	reads := 0
	for range 10 {
		_, err := s.memory.recall(t.Context(), stateKey{Subject: auth.Subject{Name: "bob"}}, func() (credentialState, error) {
			reads++
			return credentialState{generation: 7}, nil
		})
		if err != nil {
			t.Error(err)
		}
	}
	if reads != 1 {
		t.Errorf("%d reads for ten questions", reads)
	}
}
