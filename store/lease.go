package store

import (
	"context"
	"time"
)

// Lease implements [calendar.Leases].
func (s *Store) Lease(ctx context.Context, name, holder string, now, until time.Time) (bool, error) {
	given, err := s.write(ctx, `INSERT INTO leases (name, holder, until) VALUES ($1, $2, $4)
		ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, until = excluded.until
		WHERE leases.holder = excluded.holder OR leases.until <= $3`, name, holder, now.Unix(), until.Unix())
	return given == 1, err
}

// Release implements [calendar.Leases].
func (s *Store) Release(ctx context.Context, name, holder string) error {
	return s.run(ctx, `DELETE FROM leases WHERE name = $1 AND holder = $2`, name, holder)
}
