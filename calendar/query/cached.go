package query

// Cached tells how calendars are held in memory.
type Cached struct {
	// Bytes is what they take, about, of Most that they may take.
	Bytes, Most int64
	// Asked counts the visits, Shown those that memory answered, Made how often something was read into it.
	Asked, Shown, Made int64
}

// Cached tells how calendars are held in memory.
func (s *Queries) Cached() Cached {
	c := s.cache
	c.mu.Lock()
	defer c.mu.Unlock()
	return Cached{Bytes: c.held, Most: c.bytes, Asked: c.clock, Shown: c.shown.Load(), Made: c.made.Load()}
}
