package store

import (
	"database/sql"
	"sync/atomic"
)

// Pool tells how the connections are used that answer questions; on Postgres they write too.
func (s *Store) Pool() sql.DBStats {
	if pool, ok := s.reads.on.(*sql.DB); ok {
		return pool.Stats()
	}
	return sql.DBStats{}
}

// counts are what a process has done in its database.
type counts struct{ committed, repeated, failed, tombstones, bodies atomic.Int64 }

func (c *counts) transaction(err error, attempt int) {
	if attempt > 1 {
		c.repeated.Add(1)
	}
	if err == nil {
		c.committed.Add(1)
	} else {
		c.failed.Add(1)
	}
}

// Done is what a process has done in its database since it began.
type Done struct {
	// Committed and Failed count transactions that write, Repeated those that had to begin anew since another was in the way.
	Committed, Failed, Repeated int64
	// Tombstones and Bodies are what was forgotten: deleted objects, and what stood in objects before changes.
	Tombstones, Bodies int64
}

// Done tells what this process has done.
func (s *Store) Done() Done {
	c := &s.counts
	return Done{c.committed.Load(), c.failed.Load(), c.repeated.Load(), c.tombstones.Load(), c.bodies.Load()}
}
