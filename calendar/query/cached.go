package query

// Cached holds statistics of the calendar cache.
type Cached struct {
	// Bytes is the approximate memory in use, Most its limit.
	Bytes, Most int64
	// Asked counts the visits, Shown the hits, Made the cached calendars that were built or updated.
	Asked, Shown, Made int64
}

// Cached returns statistics of the calendar cache.
func (s *Queries) Cached() Cached {
	c := s.cache
	c.mu.Lock()
	defer c.mu.Unlock()
	return Cached{Bytes: c.held, Most: c.bytes, Asked: c.clock, Shown: c.shown.Load(), Made: c.made.Load()}
}
