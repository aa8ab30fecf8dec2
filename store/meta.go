package store

import (
	"context"
	"errors"
	"fmt"

	"caldav-mcp-server/calendar"
)

// Epoch implements [calendar.Store].
func (s *Store) Epoch(ctx context.Context) (calendar.Epoch, error) {
	if h, _ := ctx.Value(readHomeKey{}).(*readHome); h != nil {
		return h.epoch, nil
	}
	epoch, err := rowOf(ctx, s.brief, scanText, `SELECT epoch FROM life`)
	return calendar.Epoch(epoch), err
}

// Check looks whether the database is whole, as a backup that was brought back may not be: what it is
// put beside, such as the log of the file that was there, is applied to it.
func (s *Store) Check(ctx context.Context) error {
	if s.engine.check == "" {
		return nil
	}
	found, err := rowOf(ctx, s.reads, scanText, s.engine.check)
	if err == nil && found != "ok" {
		err = errors.New(found)
	}
	if err != nil {
		return fmt.Errorf("the database is damaged: %w", err)
	}
	return nil
}

// NewEpoch begins a new life of the store, as after a restore from a backup: no sync token that
// was given out before is honoured any more, and no credential is believed unseen.
func (s *Store) NewEpoch(ctx context.Context) error {
	return s.transact(ctx, func(t *Tx) error {
		if err := t.run(ctx, `UPDATE meta SET epoch = $1 WHERE id = 1`, newEpoch()); err != nil {
			return err
		}
		return t.allCredentialsChanged(ctx)
	})
}

// Derivation returns the number of the rules by which the objects' derived columns were last made
// with [Store.Rederive], 0 before the first time.
func (s *Store) Derivation(ctx context.Context) (int64, error) {
	return rowOf(ctx, s.reads, scanNumber, `SELECT derivation FROM meta WHERE id = 1`)
}

// SetDerivation notes the number of those rules, and that none are being applied.
func (s *Store) SetDerivation(ctx context.Context, number int64) error {
	return s.run(ctx, `UPDATE meta SET derivation = $1, deriving = 0, derived = 0, derived_calendar = '', derived_name = ''
		WHERE id = 1`, number)
}

// Deriving is how far derived columns were made by some rules.
type Deriving struct {
	// Walked is how many objects were gone through, Last the last of them, of Total there are about.
	Walked, Total int64
	Last          calendar.ObjectAddress
}

// Deriving returns how far the making by the rules of a number is, by whichever process.
func (s *Store) Deriving(ctx context.Context, number int64) (Deriving, error) {
	return rowOf(ctx, s.reads, scanInto(func(d *Deriving) []any {
		return []any{&d.Walked, &d.Last.Calendar, &d.Last.Name, &d.Total}
	}), `SELECT CASE WHEN deriving = $1 THEN derived ELSE 0 END, CASE WHEN deriving = $1 THEN derived_calendar ELSE '' END,
		CASE WHEN deriving = $1 THEN derived_name ELSE '' END, (SELECT count(*) FROM objects) FROM meta WHERE id = 1`, number)
}

// NoteDeriving keeps how far the making by the rules of a number is. Of several processes the one that is furthest counts.
func (s *Store) NoteDeriving(ctx context.Context, number int64, d Deriving) error {
	return s.run(ctx, `UPDATE meta SET deriving = $1, derived = $2, derived_calendar = $3, derived_name = $4
		WHERE id = 1 AND (deriving <> $1 OR derived < $2)`, number, d.Walked, d.Last.Calendar, d.Last.Name)
}
