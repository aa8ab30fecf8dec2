package trace

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// queueMost limits the queue; further spans are dropped and counted.
	queueMost = 2048
	// batchMost limits a batch.
	batchMost = 512
	// batchEvery is the maximum wait of a span in the queue.
	batchEvery = 5 * time.Second
	// sendTime is the timeout of one request to the collector.
	sendTime = 10 * time.Second
	// lastTime limits the sending during shutdown, including the request in progress.
	lastTime = 2 * time.Second
)

// Config holds the dependencies and settings of a Tracer.
type Config struct {
	Sampler Sampler
	// Send sends spans to a collector, without retry, and returns how many it rejected.
	Send   func(context.Context, []Ended) (refused int, err error)
	Now    func() time.Time
	Logger *slog.Logger
}

// Tracer sends spans to a collector in batches, in the background.
type Tracer struct {
	Config
	mu      sync.Mutex
	waiting []Ended
	// full signals that a batch is complete.
	full chan struct{}
	// silent is set while the collector rejects batches, so that the failure is logged only once.
	silent        bool
	sent, dropped atomic.Int64
}

// New makes a Tracer. It only queues spans until Begin is called.
func New(c Config) *Tracer { return &Tracer{Config: c, full: make(chan struct{}, 1)} }

// Counted returns how many spans the collector accepted, and how many were lost.
func (t *Tracer) Counted() (sent, dropped int64) {
	if t == nil {
		return 0, 0
	}
	return t.sent.Load(), t.dropped.Load()
}

// take queues a span.
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

// Begin starts sending. The returned stop sends the remaining spans and then ends it.
func (t *Tracer) Begin(ctx context.Context) (stop func()) {
	if t == nil {
		return func() {}
	}
	// Not ctx: during shutdown, requests in flight still end their spans, and a batch may be on its way.
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

// flush sends the whole queue.
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
			t.Logger.WarnContext(ctx,
				"the collector of traces took none of them; until it does, this is not said again", "error", err)
		}
		t.silent = true
		return // the rest stays queued, until the queue overflows
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
