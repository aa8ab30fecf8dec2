package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// snapshot reads the database as it was when its transaction began; later writes are not visible.
type snapshot struct {
	engine *engine
	tx     *sql.Tx
}

func (s *snapshot) of() *engine { return s.engine }

func (s *snapshot) query(ctx context.Context, text string, args ...any) (rows, error) {
	return s.tx.QueryContext(ctx, text, args...) //nolint:rowserrcheck // each does
}

// inSnapshot reads the database as of one moment while others write.
func (d *DB) inSnapshot(ctx context.Context, read func(*snapshot) error) (err error) {
	pool, ok := d.reads.on.(*sql.DB)
	if !ok {
		return fmt.Errorf("the store reads from a %T", d.reads.on)
	}
	tx, err := pool.BeginTx(ctx, &d.engine.snapshot)
	if err != nil {
		return d.engine.translate(ctx, err)
	}
	defer func() { err = errors.Join(err, tx.Rollback()) }()
	if d.engine.endless != "" {
		if _, err := tx.ExecContext(ctx, d.engine.endless); err != nil {
			return d.engine.translate(ctx, err)
		}
	}
	return read(&snapshot{d.engine, tx})
}
