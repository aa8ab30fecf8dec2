package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// Snapshot reads the database as it was when its transaction began; later writes are not visible.
type Snapshot struct {
	Engine *Engine
	Tx     *sql.Tx
}

// Of implements [Querier].
func (s *Snapshot) Of() *Engine { return s.Engine }

func (s *Snapshot) query(ctx context.Context, text string, args ...any) (rows, error) {
	return s.Tx.QueryContext(ctx, text, args...) //nolint:rowserrcheck // each does
}

// InSnapshot reads the database as of one moment while others write.
func (d *DB) InSnapshot(ctx context.Context, read func(*Snapshot) error) (err error) {
	pool, ok := d.Reads.on.(*sql.DB)
	if !ok {
		return fmt.Errorf("the store reads from a %T", d.Reads.on)
	}
	tx, err := pool.BeginTx(ctx, &d.Engine.snapshot)
	if err != nil {
		return d.Engine.Translate(ctx, err)
	}
	defer func() { err = errors.Join(err, tx.Rollback()) }()
	if d.Engine.Endless != "" {
		if _, err := tx.ExecContext(ctx, d.Engine.Endless); err != nil {
			return d.Engine.Translate(ctx, err)
		}
	}
	return read(&Snapshot{d.Engine, tx})
}
