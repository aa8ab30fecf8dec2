package housetest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"caldav-mcp-server/internal/testdb"
	"caldav-mcp-server/store"
)

// Furnish lays a file with all tables and nothing in them where there is none yet: a copy takes a fiftieth of what making
// them takes. It does nothing on Postgres, where a test is lent such a schema.
func Furnish(t testing.TB, url string) {
	t.Helper()
	path, ok := strings.CutPrefix(url, "sqlite:")
	if !ok {
		return
	}
	data, err := furniture()
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		return
	}
	if err == nil {
		_, err = file.Write(data)
		err = errors.Join(err, file.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
}

// furniture is a database as the first start of the program makes it, before it knows which one it is.
var furniture = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "housetest-")
	if err != nil {
		return nil, fmt.Errorf("making tables: %w", err)
	}
	path := filepath.Join(dir, "tables.db")
	data, err := tables(path)
	return data, errors.Join(err, os.RemoveAll(dir))
})

// tables makes them, and takes the name and the secret that the store gave itself away again: it gives each copy its own.
func tables(path string) ([]byte, error) {
	ctx := context.Background()
	s, err := store.Open(ctx, "sqlite:"+path, store.Options{})
	if err != nil {
		return nil, fmt.Errorf("making tables: %w", err)
	}
	if err := errors.Join(s.Migrate(ctx), s.Close()); err != nil {
		return nil, fmt.Errorf("making tables: %w", err)
	}
	if err := testdb.Anonymous(ctx, path); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
}
