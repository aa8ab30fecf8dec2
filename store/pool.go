package store

import (
	"database/sql"
	"sync/atomic"
)

// Pool returns the statistics of the connections for reads; on Postgres, writes use them too.
func (s *Store) Pool() sql.DBStats {
	if pool, ok := s.reads.on.(*sql.DB); ok {
		return pool.Stats()
	}
	return sql.DBStats{}
}

// counts are the counters of this process.
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

// Done counts the work that a process did in its database since it started.
type Done struct {
	// Committed and Failed count transactions that write, Repeated the ones retried after a conflict.
	Committed, Failed, Repeated int64
	// Tombstones and Bodies count pruned rows: deleted objects, and texts of objects before changes.
	Tombstones, Bodies int64
}

// Done returns the counters of this process.
func (s *Store) Done() Done {
	c := &s.counts
	return Done{c.committed.Load(), c.failed.Load(), c.repeated.Load(), c.tombstones.Load(), c.bodies.Load()}
}
