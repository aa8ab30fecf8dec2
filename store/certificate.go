package store

import (
	"context"
	"time"

	"caldav-mcp-server/calendar"
)

// Certificate returns what an authority for certificates gave the server under a name, and when; nil for nothing.
func (s *Store) Certificate(ctx context.Context, name string) (data []byte, changed time.Time, err error) {
	type kept struct {
		data    []byte
		changed int64
	}
	found, err := rowOf(ctx, s.reads, func(row scanner) (k kept, err error) {
		err = row.Scan(&k.data, &k.changed)
		return k, err
	}, `SELECT data, changed FROM certificates WHERE name = $1`, name)
	if calendar.ReasonOf(err) == calendar.NotFound {
		return nil, time.Time{}, nil
	}
	return found.data, moment(found.changed), err
}

// KeepCertificate puts something under a name.
func (s *Store) KeepCertificate(ctx context.Context, name string, data []byte) error {
	_, err := s.write(ctx, `INSERT INTO certificates (name, changed, data) VALUES ($1, $2, $3)
		ON CONFLICT (name) DO UPDATE SET changed = excluded.changed, data = excluded.data`, name, s.now(), data)
	return err
}

// DropCertificate forgets what is under a name.
func (s *Store) DropCertificate(ctx context.Context, name string) error {
	_, err := s.write(ctx, `DELETE FROM certificates WHERE name = $1`, name)
	return err
}
