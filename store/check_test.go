package store_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"caldav-mcp-server/internal/testdb"
	"caldav-mcp-server/store"
)

func TestCheckFindsNothingInWhatIsWhole(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		s := open(t, url, store.Options{})
		prepare(t, s)
		if err := s.Check(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// TestCheckFindsWhatIsDamaged: a backup with pages of another state, as the log of a killed server would write
// them.
func TestCheckFindsWhatIsDamaged(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "calendar.db")
	before, err := store.Open(t.Context(), file, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := before.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	prepare(t, before)
	for n := range 50 {
		if _, err := put(t.Context(), before, fmt.Sprint("event-", n)); err != nil {
			t.Fatal(err)
		}
	}
	if err := before.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	const page = 4096
	// It is a page of objects. The schema stays readable, so the program starts.
	objects := bytes.LastIndex(data, []byte("event-")) / page * page
	copy(data[objects:objects+page], bytes.Repeat([]byte{0xA5}, page))
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	restored, err := store.Open(t.Context(), file, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = restored.Close() }() // of what is damaged
	if err := restored.Check(t.Context()); err == nil || !strings.Contains(err.Error(), "the database is damaged") {
		t.Errorf("found %v", err)
	}
}
