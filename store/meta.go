package store

import (
	"context"
	"errors"
	"fmt"

	"caldav-mcp-server/calendar"
)

// Epoch implements [calendar.Store].
func (s *Store) Epoch(ctx context.Context) (calendar.Epoch, error) {
	epoch, err := rowOf(s.brief(ctx), s.reads, scanText, `SELECT epoch FROM meta WHERE id = 1`)
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
		if _, err := t.exec(ctx, `UPDATE meta SET epoch = $1 WHERE id = 1`, newEpoch()); err != nil {
			return err
		}
		return t.credentialsChanged(ctx)
	})
}

// CredentialGeneration implements [auth.Store].
func (s *Store) CredentialGeneration(ctx context.Context) (int64, error) {
	return rowOf(s.brief(ctx), s.reads, scanNumber, `SELECT credentials FROM meta WHERE id = 1`)
}

// credentialsChanged moves the generation on. It follows the clock, in microseconds, so that after
// a backup was restored the next change does not meet a number that was used before; should the
// clock go back, the number still grows.
func (t *Tx) credentialsChanged(ctx context.Context) error {
	_, err := t.exec(ctx, `UPDATE meta
		SET credentials = CASE WHEN credentials < $1 THEN $1 ELSE credentials + 1 END WHERE id = 1`,
		t.store.options.Now().UnixMicro())
	t.hint.Everything = true
	return err
}

// Derivation returns the number of the rules by which the objects' derived columns were last made
// with [Store.Rederive], 0 before the first time.
func (s *Store) Derivation(ctx context.Context) (int64, error) {
	return rowOf(ctx, s.reads, scanNumber, `SELECT derivation FROM meta WHERE id = 1`)
}

// SetDerivation notes the number of those rules.
func (s *Store) SetDerivation(ctx context.Context, number int64) error {
	_, err := s.write(ctx, `UPDATE meta SET derivation = $1 WHERE id = 1`, number)
	return err
}
