package store

import (
	"context"

	"caldav-mcp-server/calendar"
)

// Epoch implements [calendar.Store].
func (s *Store) Epoch(ctx context.Context) (calendar.Epoch, error) {
	epoch, err := rowOf(s.brief(ctx), s.reads, scanText, `SELECT epoch FROM meta WHERE id = 1`)
	return calendar.Epoch(epoch), err
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
