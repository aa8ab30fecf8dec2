package store

import (
	"bytes"
	"testing"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/internal/testdb"
	"caldav-mcp-server/migrations"
)

func (s *Store) secretFor(t *testing.T, purpose string) []byte {
	t.Helper()
	key, err := s.Secret(t.Context(), purpose)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// TestSecret: all processes of a store get the same key for each purpose, and other stores get different ones.
func TestSecret(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		one, other := bare(t, url, migrations.Files), bare(t, url, migrations.Files)
		if _, err := one.Secret(t.Context(), "a"); err == nil {
			t.Error("a store without tables has a secret")
		}
		migrate(t, one)
		key := one.secretFor(t, "a")
		migrate(t, other)
		if err := one.NewEpoch(t.Context()); err != nil {
			t.Fatal(err)
		}
		if again := other.secretFor(t, "a"); !bytes.Equal(key, again) || len(key) != 32 {
			t.Errorf("one process has the key %x, the other %x", key, again)
		}
		if bytes.Equal(key, one.secretFor(t, "b")) {
			t.Error("two purposes have the same key")
		}
		stranger := bare(t, testdb.SQLite(t), migrations.Files)
		migrate(t, stranger)
		if bytes.Equal(key, stranger.secretFor(t, "a")) {
			t.Error("two stores have the same key")
		}
	})
}

// TestSecretOfAnOlderStore: a store older than secrets has none until it is migrated.
func TestSecretOfAnOlderStore(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		s := bare(t, url, migrations.Files)
		migrate(t, s)
		if _, err := s.write(t.Context(), `UPDATE meta SET secret = NULL`); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Secret(t.Context(), "a"); calendar.ReasonOf(err) != calendar.Unsupported {
			t.Errorf("got error %v", err)
		}
		migrate(t, s)
		s.secretFor(t, "a")
	})
}
