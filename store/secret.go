package store

import (
	"context"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"fmt"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/store/db"
)

const (
	// secretBytes is the size of the store's secret and of the keys derived from it.
	secretBytes = 32

	selectSecret = `SELECT secret FROM meta WHERE id = 1`
)

// Secret returns a key for one purpose, the same in all processes of the store. The key of one purpose reveals
// nothing about the others. It survives a restore from a backup.
func (s serverStore) Secret(ctx context.Context, purpose string) ([]byte, error) {
	secret, err := db.RowOf(ctx, s.db.Reads, db.ScanBytes, selectSecret)
	if err != nil {
		return nil, fmt.Errorf("reading the store's secret: %w", err)
	}
	if len(secret) == 0 {
		return nil, calendar.Errorf(calendar.Unsupported, "", "the store has no secret yet: migrate it")
	}
	key, err := hkdf.Key(sha256.New, secret, nil, purpose, secretBytes)
	if err != nil {
		return nil, fmt.Errorf("deriving the key for %s: %w", purpose, err)
	}
	return key, nil
}

// makeSecret creates the store's secret if it has none. It reads first, so that most starts of the program
// write nothing.
func (t *transaction) makeSecret(ctx context.Context) error {
	secret, err := db.RowOf(ctx, t, db.ScanBytes, selectSecret)
	if err != nil || len(secret) > 0 {
		return err
	}
	secret = make([]byte, secretBytes)
	_, _ = rand.Read(secret) // never fails, as documented
	return t.Run(ctx, `UPDATE meta SET secret = $1 WHERE id = 1 AND secret IS NULL`, secret)
}
