package wire

import (
	"context"
	"errors"
	"sync"
	"time"
)

// Places limits the number of running calls and of waiting calls. A call may parse objects of several megabytes, and
// with few processors more concurrency makes no call finish sooner.
type Places struct {
	free chan struct{}
	wait time.Duration
	// line limits all waiting calls, share the waiting calls of one token.
	line, share int

	mu      sync.Mutex
	waiting map[Owner]int
	all     int
}

// The limits.
const (
	placesMost  = 4
	placesWait  = 20 * time.Second
	placesLine  = 128
	placesShare = 64
)

// NewPlaces returns the slots of one process.
func NewPlaces() *Places {
	return &Places{
		free: make(chan struct{}, placesMost), wait: placesWait, line: placesLine, share: placesShare,
		waiting: make(map[Owner]int),
	}
}

// Enter waits for a slot, which leave frees. It returns errBusy if too many calls wait, or this one waited too
// long, and ctx's error if ctx ends first.
func (p *Places) Enter(ctx context.Context, who Owner) (leave func(), err error) {
	leave = func() { <-p.free }
	select {
	case p.free <- struct{}{}:
		return leave, nil
	default:
	}
	if !p.queue(who) {
		return nil, ErrBusy
	}
	defer p.unqueue(who)
	timer := time.NewTimer(p.wait)
	defer timer.Stop()
	select {
	case p.free <- struct{}{}:
		return leave, nil
	case <-timer.C:
		return nil, ErrBusy
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (p *Places) queue(who Owner) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.all >= p.line || p.waiting[who] >= p.share {
		return false
	}
	p.all++
	p.waiting[who]++
	return true
}

func (p *Places) unqueue(who Owner) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all--
	if p.waiting[who]--; p.waiting[who] == 0 {
		delete(p.waiting, who)
	}
}

// ErrBusy is the error of a call that found no slot.
var ErrBusy = errors.New("too many calls are running")
