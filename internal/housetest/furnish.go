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

// Furnish creates an SQLite file with all tables, all empty, unless it exists. It copies a template, which takes a
// fiftieth of the time of the migrations. On Postgres it does nothing: there a test borrows such a schema.
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

// furniture is the template: a database after the first start of the program, without an identity.
var furniture = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "housetest-")
	if err != nil {
		return nil, fmt.Errorf("making tables: %w", err)
	}
	path := filepath.Join(dir, "tables.db")
	data, err := tables(path)
	return data, errors.Join(err, os.RemoveAll(dir))
})

// tables creates the tables and removes the identity and the secret of the store, so that each copy gets its own.
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
