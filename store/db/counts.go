package db

import "sync/atomic"

// counts are the counters of this process's transactions.
type counts struct{ committed, repeated, failed atomic.Int64 }

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

// Done returns how many transactions were committed, failed, and were repeated after a conflict.
func (d *DB) Done() (committed, failed, repeated int64) {
	return d.counts.committed.Load(), d.counts.failed.Load(), d.counts.repeated.Load()
}
