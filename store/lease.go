package store

import (
	"context"
	"time"

	"caldav-mcp-server/calendar"
)

// Lease implements [calendar.Leases].
func (s serverStore) Lease(ctx context.Context, name, holder string, now, until time.Time) (bool, error) {
	given, err := s.write(ctx, `INSERT INTO leases (name, holder, until) VALUES ($1, $2, $4)
		ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, until = excluded.until
		WHERE leases.holder = excluded.holder OR leases.until <= $3`, name, holder, now.Unix(), until.Unix())
	return given == 1, err
}

// Prolong implements [calendar.Leases].
func (s serverStore) Prolong(ctx context.Context, name, holder string, until time.Time) (bool, error) {
	kept, err := s.write(ctx, `UPDATE leases SET until = $3 WHERE name = $1 AND holder = $2`, name, holder, until.Unix())
	return kept == 1, err
}

// Fence implements [calendar.MirrorKeeper]. The UPDATE locks the lease's row, so another process cannot take
// the lease before this transaction ends.
func (t mirrorTx) Fence(ctx context.Context, f calendar.Fence) (bool, error) {
	kept, err := t.Exec(ctx, `UPDATE leases SET holder = holder WHERE name = $1 AND holder = $2`, f.Lease, f.Holder)
	return kept == 1, err
}

// Release implements [calendar.Leases].
func (s serverStore) Release(ctx context.Context, name, holder string) error {
	return s.run(ctx, `DELETE FROM leases WHERE name = $1 AND holder = $2`, name, holder)
}
