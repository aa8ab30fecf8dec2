package store

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"caldav-mcp-server/calendar"
)

// listenPause is the pause before listening again after a failure.
const listenPause = time.Second

// hints notifies watchers of commits, by any process.
type hints struct {
	// listen listens to other processes until ctx ends, or it fails.
	listen func(ctx context.Context, tell func(calendar.Hint)) error
	log    *slog.Logger

	mu       sync.Mutex
	watchers map[*watcher]bool
	// end stops listening, which lasts as long as there are watchers.
	end func()
}

type watcher struct{ notify func(calendar.Hint) }

// leave stops listening after the last watcher. It checks for others under the lock that guards n.end, so a
// watcher that starts meanwhile starts listening again.
func (n *hints) leave(gone *watcher) {
	n.mu.Lock()
	delete(n.watchers, gone)
	end := func() {}
	if len(n.watchers) == 0 {
		end = n.take()
	}
	n.mu.Unlock()
	end()
}

// close stops listening and waits for its end.
func (n *hints) close() {
	n.mu.Lock()
	end := n.take()
	n.mu.Unlock()
	end()
}

// take returns the function that stops listening, which must be called without mu. The caller of take holds mu.
func (n *hints) take() (end func()) {
	if end, n.end = n.end, nil; end == nil {
		return func() {}
	}
	return end
}

// notify passes a hint to all watchers.
func (n *hints) notify(hint calendar.Hint) {
	if hint.Empty() {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	for w := range n.watchers {
		w.notify(hint)
	}
}

// start starts to listen to other processes, and returns the function that stops it.
func (n *hints) start() func() {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			if err := n.listen(ctx, n.notify); err != nil && ctx.Err() == nil {
				n.log.WarnContext(ctx, "changes by other processes are noticed late", "err", err)
			}
			select {
			case <-ctx.Done():
			case <-time.After(listenPause):
			}
		}
	}()
	return func() {
		cancel()
		<-done
	}
}

// everything is the hint for unknown changes.
func everything() calendar.Hint { return calendar.Hint{Everything: true} }
