package trace

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// queueMost is how many spans wait to be sent; further ones are dropped, and counted.
	queueMost = 2048
	// batchMost is how many are sent at once.
	batchMost = 512
	// batchEvery is how long one waits at most.
	batchEvery = 5 * time.Second
	// sendTime bounds one message to the collector.
	sendTime = 10 * time.Second
	// lastTime bounds what is sent while the program stops, together with what is being sent then.
	lastTime = 2 * time.Second
)

// Config has the parts and settings of a Tracer.
type Config struct {
	Sampler Sampler
	// Send hands spans to a collector, once, and says how many of them it did not want.
	Send   func(context.Context, []Ended) (refused int, err error)
	Now    func() time.Time
	Logger *slog.Logger
}

// Tracer sends spans to a collector, in batches and beside the work.
type Tracer struct {
	Config
	mu      sync.Mutex
	waiting []Ended
	// full tells that there is a batch.
	full chan struct{}
	// silent tells that the collector did not take the last batch, so that this is said once.
	silent        bool
	sent, dropped atomic.Int64
}

// New makes a Tracer. Begin has it send what it keeps.
func New(c Config) *Tracer { return &Tracer{Config: c, full: make(chan struct{}, 1)} }

// Counted says how many spans were taken by the collector, and how many are lost.
func (t *Tracer) Counted() (sent, dropped int64) {
	if t == nil {
		return 0, 0
	}
	return t.sent.Load(), t.dropped.Load()
}

// take keeps a span to be sent.
func (t *Tracer) take(s Ended) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.waiting) == queueMost {
		t.dropped.Add(1)
		return
	}
	if t.waiting = append(t.waiting, s); len(t.waiting) >= batchMost {
		select {
		case t.full <- struct{}{}:
		default:
		}
	}
}

// Begin sends spans from now on, until it is told to stop: then it sends those that are left.
func (t *Tracer) Begin(ctx context.Context) (stop func()) {
	if t == nil {
		return func() {}
	}
	// Not ctx: requests in flight still end while the server stops, and so does a batch that is being sent.
	ctx, giveUp := context.WithCancel(context.WithoutCancel(ctx))
	last, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		t.run(ctx, last)
	}()
	return func() {
		close(last)
		late := time.AfterFunc(lastTime, giveUp)
		<-ended
		late.Stop()
		giveUp()
	}
}

func (t *Tracer) run(ctx context.Context, last <-chan struct{}) {
	ticker := time.NewTicker(batchEvery)
	defer ticker.Stop()
	for {
		select {
		case <-t.full:
		case <-ticker.C:
		case <-last:
			t.flush(ctx)
			return
		}
		t.flush(ctx)
	}
}

// flush sends all that waits.
func (t *Tracer) flush(ctx context.Context) {
	for batch := t.next(); len(batch) > 0; batch = t.next() {
		refused, err := t.sendOne(ctx, batch)
		if err == nil {
			t.silent = false
			t.sent.Add(int64(len(batch) - refused))
			t.dropped.Add(int64(refused))
			continue
		}
		t.dropped.Add(int64(len(batch)))
		if !t.silent {
			t.Logger.WarnContext(ctx, "the collector of traces took none of them; until it does, this is not said again", "error", err)
		}
		t.silent = true
		return // the others wait, and go where there is no room for them
	}
}

func (t *Tracer) sendOne(ctx context.Context, batch []Ended) (refused int, err error) {
	ctx, cancel := context.WithTimeout(ctx, sendTime)
	defer cancel()
	return t.Send(ctx, batch)
}

// next takes a batch off the queue.
func (t *Tracer) next() []Ended {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := min(len(t.waiting), batchMost)
	batch := t.waiting[:n:n]
	t.waiting = t.waiting[n:]
	return batch
}
