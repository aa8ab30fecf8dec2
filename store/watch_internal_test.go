package store

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"

	"caldav-mcp-server/calendar"
)

// TestSomebodyListensWhileSomebodyWatches: a watcher that starts while the last one leaves starts listening
// again, and listening ends with the last watcher.
func TestSomebodyListensWhileSomebodyWatches(t *testing.T) {
	t.Parallel()
	var listening atomic.Int64
	s := &database{hints: hints{listen: func(ctx context.Context, _ func(calendar.Hint)) error {
		listening.Add(1)
		defer listening.Add(-1)
		<-ctx.Done()
		return nil
	}}}
	for range 20_000 {
		first := s.Watch(func(calendar.Hint) {})
		var second func()
		var both sync.WaitGroup
		both.Go(func() { first() })
		both.Go(func() { second = s.Watch(func(calendar.Hint) {}) })
		both.Wait()
		s.hints.mu.Lock()
		deaf := s.hints.end == nil
		s.hints.mu.Unlock()
		if deaf {
			t.Fatal("somebody watches, and nobody listens")
		}
		second()
	}
	if n := listening.Load(); n != 0 {
		t.Errorf("%d listen, and nobody watches", n)
	}
}
