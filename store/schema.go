package store

import (
	"context"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/store/db"
)

// Migrate applies the pending migrations, each in its own transaction. Several processes may migrate at once:
// each waits for its turn and applies the remaining ones.
func (s *Store) Migrate(ctx context.Context) error {
	wanted, err := s.db.Wanted()
	if err != nil {
		return err
	}
	return s.db.Migrate(ctx, wanted, func(ctx context.Context, in *db.Tx) error {
		return (&transaction{Tx: in, store: s.database}).beginLife(ctx)
	})
}

// Schema is the state of a database's tables.
type Schema = db.Schema

// Schema returns the state of the database's tables.
func (s *Store) Schema(ctx context.Context) (db.Schema, error) { return s.db.Schema(ctx) }

// beginLife makes sure that the row of meta exists, with a secret.
func (t *transaction) beginLife(ctx context.Context) error {
	if err := t.insertMeta(ctx); err != nil {
		return err
	}
	return t.makeSecret(ctx)
}

// insertMeta starts the store's first epoch. All its objects will be derived by the current rules.
func (t *transaction) insertMeta(ctx context.Context) error {
	return t.Run(ctx, `INSERT INTO meta (id, epoch, derivation) VALUES (1, $1, $2)
		ON CONFLICT (id) DO NOTHING`, db.NewEpoch(), calendar.Derivation)
}
