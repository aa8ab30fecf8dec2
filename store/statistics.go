package store

import (
	"context"
	"sync"
	"sync/atomic"
)

const (
	// firstAnalysis is after so many objects written; each further one after analysisGrowth times as
	// many.
	firstAnalysis  = 250
	analysisGrowth = 4
)

// statistics keep Postgres' picture of the objects true while many are written at once, as by an
// import. Autovacuum looks but once a minute; until then the planner takes every calendar to be
// tiny, and walks over all of it to find fifty names. As the picture grows it needs renewal less.
type statistics struct {
	written, next atomic.Int64
	renewals      sync.WaitGroup
}

// due counts objects that were written and tells whether the picture is to be renewed, to one of
// those who ask.
func (s *statistics) due(objects int64) bool {
	written, next := s.written.Add(objects), s.next.Load()
	return written >= max(next, firstAnalysis) && s.next.CompareAndSwap(next, written*analysisGrowth)
}

// wrote counts objects, and has the picture renewed where that is due. Their writer does not wait for it: with a million objects it
// takes a second or two.
func (s *Store) wrote(ctx context.Context, objects int64) {
	if objects > 0 && s.engine.analyze != "" && s.statistics.due(objects) {
		s.statistics.renewals.Go(func() { s.analyze(ctx) })
	}
}

// analyze renews the picture.
func (s *Store) analyze(ctx context.Context) {
	_, err := s.reads.on.ExecContext(context.WithoutCancel(ctx), s.engine.analyze)
	if err != nil {
		s.options.Logger.WarnContext(ctx, "the database's statistics are old", "err", err)
	}
}
