package store

import (
	"context"
	"time"
)

// Certificate returns what an authority for certificates gave the server under a name, and when; nil for nothing.
func (s *Store) Certificate(ctx context.Context, name string) (data []byte, changed time.Time, err error) {
	data, err = rowOrNone(ctx, s.reads, beside(scanBytes, seconds{&changed}), `SELECT data, changed FROM certificates WHERE name = $1`, name)
	return data, changed, err
}

// KeepCertificate puts something under a name.
func (s *Store) KeepCertificate(ctx context.Context, name string, data []byte) error {
	return s.run(ctx, `INSERT INTO certificates (name, changed, data) VALUES ($1, $2, $3)
		ON CONFLICT (name) DO UPDATE SET changed = excluded.changed, data = excluded.data`, name, s.now(), data)
}

// DropCertificate forgets what is under a name.
func (s *Store) DropCertificate(ctx context.Context, name string) error {
	return s.run(ctx, `DELETE FROM certificates WHERE name = $1`, name)
}
