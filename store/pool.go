package store

import "database/sql"

// Pool tells how the connections are used that answer questions; on Postgres they write too.
func (s *Store) Pool() sql.DBStats {
	if pool, ok := s.reads.on.(*sql.DB); ok {
		return pool.Stats()
	}
	return sql.DBStats{}
}
