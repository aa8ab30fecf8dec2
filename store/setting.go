package store

import (
	"context"
	"maps"
	"slices"
	"time"

	"caldav-mcp-server/store/db"
)

// serverStore holds what the server's processes share: settings, certificates, keys, leases and attempts at a call.
type serverStore struct{ *database }

// Setting is a server setting that all processes share. The store does not interpret it.
type Setting struct {
	Name, Value string
	Changed     time.Time
}

// Settings returns the settings that were changed, by name.
func (s serverStore) Settings(ctx context.Context) ([]Setting, error) {
	return db.RowsOf(ctx, s.db.Reads, db.ScanInto(func(o *Setting) []any {
		return []any{&o.Name, &o.Value, db.Seconds(&o.Changed)}
	}), `SELECT name, value, changed FROM server_settings ORDER BY name`)
}

// ChangeSettings sets some settings and resets others, in one transaction. A setting that keeps its value keeps
// the time of its change.
func (s serverStore) ChangeSettings(ctx context.Context, set map[string]string, forget []string) error {
	return s.transact(ctx, func(t *transaction) error {
		for _, name := range slices.Sorted(maps.Keys(set)) {
			err := t.Run(ctx, `INSERT INTO server_settings (name, value, changed) VALUES ($1, $2, $3)
				ON CONFLICT (name) DO UPDATE SET value = excluded.value, changed = excluded.changed
				WHERE server_settings.value <> excluded.value`, name, set[name], s.now())
			if err != nil {
				return err
			}
		}
		for _, name := range slices.Sorted(slices.Values(forget)) { // always in the same order, to avoid a deadlock
			if err := t.Run(ctx, `DELETE FROM server_settings WHERE name = $1`, name); err != nil {
				return err
			}
		}
		return nil
	})
}
