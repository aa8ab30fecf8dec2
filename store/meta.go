package store

import (
	"context"
	"errors"
	"fmt"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/store/db"
)

// Epoch implements [calendar.Store].
func (s calendarStore) Epoch(ctx context.Context) (calendar.Epoch, error) {
	if h, _ := ctx.Value(prefetchedHomeKey{}).(*prefetchedHome); h != nil {
		return h.epoch, nil
	}
	epoch, err := db.RowOf(ctx, s.db.Brief, db.ScanText, `SELECT epoch FROM life`)
	return calendar.Epoch(epoch), err
}

// Check checks the integrity of the database. A restored file may be damaged: SQLite applies the write-ahead
// log of the previous file to it, if that was left in place.
func (s *Store) Check(ctx context.Context) error {
	if s.db.Engine.Check == "" {
		return nil
	}
	found, err := db.RowOf(ctx, s.db.Reads, db.ScanText, s.db.Engine.Check)
	if err == nil && found != "ok" {
		err = errors.New(found)
	}
	if err != nil {
		return fmt.Errorf("the database is damaged: %w", err)
	}
	return nil
}

// NewEpoch starts a new epoch, as after a restore from a backup. Sync tokens from before are refused, and
// cached credentials are checked again.
func (s *Store) NewEpoch(ctx context.Context) error {
	return s.transact(ctx, func(t *transaction) error {
		if err := t.Run(ctx, `UPDATE meta SET epoch = $1 WHERE id = 1`, db.NewEpoch()); err != nil {
			return err
		}
		return t.allCredentialsChanged(ctx)
	})
}

// Derivation returns the number of the rules that last computed the derived columns of objects with
// [Store.Rederive], or 0 before the first time.
func (s *Store) Derivation(ctx context.Context) (int64, error) {
	return db.RowOf(ctx, s.db.Reads, db.ScanNumber, `SELECT derivation FROM meta WHERE id = 1`)
}

// SetDerivation stores the number of these rules, and that no computation is in progress.
func (s *Store) SetDerivation(ctx context.Context, number int64) error {
	return s.run(ctx, `UPDATE meta SET derivation = $1, deriving = 0, derived = 0,
		derived_calendar = '', derived_name = ''
		WHERE id = 1`, number)
}

// Deriving is the progress of a computation of derived columns.
type Deriving struct {
	// Walked is the number of objects done, Last the last of them, Total the approximate number of all.
	Walked, Total int64
	Last          calendar.ObjectAddress
}

// Deriving returns the progress under rules number, by any process.
func (s *Store) Deriving(ctx context.Context, number int64) (Deriving, error) {
	return db.RowOf(ctx, s.db.Reads, db.ScanInto(func(d *Deriving) []any {
		return []any{&d.Walked, &d.Last.Calendar, &d.Last.Name, &d.Total}
	}), `SELECT CASE WHEN deriving = $1 THEN derived ELSE 0 END, CASE WHEN deriving = $1
		THEN derived_calendar ELSE '' END,
		CASE WHEN deriving = $1 THEN derived_name ELSE '' END, (SELECT count(*) FROM objects) FROM meta
		WHERE id = 1`, number)
}

// NoteDeriving stores the progress under rules number. Of several processes, the furthest counts.
func (s *Store) NoteDeriving(ctx context.Context, number int64, d Deriving) error {
	return s.run(ctx, `UPDATE meta SET deriving = $1, derived = $2, derived_calendar = $3, derived_name = $4
		WHERE id = 1 AND (deriving <> $1 OR derived < $2)`, number, d.Walked, d.Last.Calendar, d.Last.Name)
}

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
