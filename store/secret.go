package store

import (
	"context"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"fmt"

	"caldav-mcp-server/calendar"
)

const (
	// secretBytes is the size of the store's secret and of the keys derived from it.
	secretBytes = 32

	selectSecret = `SELECT secret FROM meta WHERE id = 1`
)

// Secret returns a key for one purpose. All processes on the store get the same; a thief of one
// purpose's key learns nothing of another's. It outlives a restore from a backup.
func (s *Store) Secret(ctx context.Context, purpose string) ([]byte, error) {
	secret, err := rowOf(ctx, s.reads, scanBytes, selectSecret)
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

// makeSecret gives a store the secret that it lacks. A stored one is looked for first, so that
// most starts of the program write nothing.
func (t *Tx) makeSecret(ctx context.Context) error {
	secret, err := rowOf(ctx, t, scanBytes, selectSecret)
	if err != nil || len(secret) > 0 {
		return err
	}
	secret = make([]byte, secretBytes)
	_, _ = rand.Read(secret) // never fails, as its documentation has it
	return t.run(ctx, `UPDATE meta SET secret = $1 WHERE id = 1 AND secret IS NULL`, secret)
}
