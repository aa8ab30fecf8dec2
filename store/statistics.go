package store

import (
	"context"
	"sync"
	"sync/atomic"
)

const (
	// firstAnalysis is the number of written objects before the first ANALYZE; each further one follows after
	// analysisGrowth times as many.
	firstAnalysis  = 250
	analysisGrowth = 4
)

// statistics keeps Postgres' statistics about objects current while many are written at once, as in an import.
// Autovacuum checks only once a minute. Until then the planner assumes that every calendar is tiny, and scans
// all of it to find fifty names. A larger table needs an update less often.
type statistics struct {
	written, next atomic.Int64
	renewals      sync.WaitGroup
}

// due counts written objects and reports whether to update the statistics. Only one of several concurrent
// callers gets true.
func (s *statistics) due(objects int64) bool {
	written, next := s.written.Add(objects), s.next.Load()
	return written >= max(next, firstAnalysis) && s.next.CompareAndSwap(next, written*analysisGrowth)
}

// wrote counts objects, and updates the statistics when due. The writer does not wait for it: with a million
// objects it takes a second or two.
func (s *database) wrote(ctx context.Context, objects int64) {
	if objects > 0 && s.db.Engine.Analyze != "" && s.statistics.due(objects) {
		s.statistics.renewals.Go(func() { s.analyze(ctx) })
	}
}

// analyze updates the statistics.
func (s *database) analyze(ctx context.Context) {
	err := s.db.Maintain(context.WithoutCancel(ctx), s.db.Engine.Analyze+`objects`)
	if err != nil {
		s.db.Options.Logger.WarnContext(ctx, "cannot update the database's statistics", "err", err)
	}
}
