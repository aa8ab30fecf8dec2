package store

import (
	"context"
	"maps"
	"slices"
	"time"
)

// Setting is one of the server's settings that all processes follow. The store knows nothing of what it means.
type Setting struct {
	Name, Value string
	Changed     time.Time
}

// Settings returns those that were set, by name.
func (s *Store) Settings(ctx context.Context) ([]Setting, error) {
	return rowsOf(ctx, s.reads, scanInto(func(o *Setting) []any {
		return []any{&o.Name, &o.Value, seconds{&o.Changed}}
	}), `SELECT name, value, changed FROM server_settings ORDER BY name`)
}

// ChangeSettings sets some and forgets others, all at once. One that has its value already keeps the time of its change.
func (s *Store) ChangeSettings(ctx context.Context, set map[string]string, forget []string) error {
	return s.transact(ctx, func(t *Tx) error {
		for _, name := range slices.Sorted(maps.Keys(set)) {
			err := t.run(ctx, `INSERT INTO server_settings (name, value, changed) VALUES ($1, $2, $3)
				ON CONFLICT (name) DO UPDATE SET value = excluded.value, changed = excluded.changed
				WHERE server_settings.value <> excluded.value`, name, set[name], s.now())
			if err != nil {
				return err
			}
		}
		for _, name := range slices.Sorted(slices.Values(forget)) { // the same order everywhere, lest two wait for each other
			if err := t.run(ctx, `DELETE FROM server_settings WHERE name = $1`, name); err != nil {
				return err
			}
		}
		return nil
	})
}
