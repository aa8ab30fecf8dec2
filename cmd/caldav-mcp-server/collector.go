package main

import (
	"context"
	"math"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

const (
	// collectPercent lets the heap grow to two and a half times what lives before it is collected, in place of twice.
	collectPercent = 150
	// leastHeap is how far it grows however little lives: that is a few megabytes where one user writes, and collecting them all the
	// time took a tenth of the server's work.
	leastHeap = 32 << 20
	// memoryLimit is from where on garbage is collected sooner, so that what requests hold together (calendar.Config.AnswerBytes)
	// is not there twice. GOMEMLIMIT overrides it.
	// A process that may have little begins with that.
	memoryLimit = 160 << 20
)

// spaceOutCollections sets how often garbage is collected, unless the operator has, by GOGC, and follows the heap until ctx ends.
func spaceOutCollections(ctx context.Context, a allowance) {
	if debug.SetMemoryLimit(-1) == math.MaxInt64 {
		debug.SetMemoryLimit(a.collect)
	}
	const unset = 100
	if set := debug.SetGCPercent(collectPercent); set != unset {
		debug.SetGCPercent(set)
	} else if a.heap > 0 {
		afterCollection(ctx, &heapPace{percent: collectPercent, least: a.heap})
	}
}

// heapPace lets the heap grow to a least size, by how much of it lives after each collection.
type heapPace struct {
	percent int
	least   int64
}

// afterCollection has the pace follow each collection until ctx ends: what nobody holds is cleaned up behind the next one.
func afterCollection(ctx context.Context, p *heapPace) {
	held := &struct{ self *heapPace }{p} // with a pointer in it, lest it share its place with what is held
	runtime.AddCleanup(held, func(p *heapPace) {
		if ctx.Err() == nil {
			p.follow(liveMemory())
			afterCollection(ctx, p)
		}
	}, p)
}

// follow has the next collection come when the heap has the size that it is to grow to. To say so stops everything for a moment, which
// a tenth more or less is not worth.
func (p *heapPace) follow(live int64) {
	if percent := p.of(live); percent*10 > p.percent*11 || percent*11 < p.percent*10 {
		p.percent = percent
		debug.SetGCPercent(percent)
	}
}

// of is how many percent of what lives the heap may grow by.
func (p *heapPace) of(live int64) int {
	return max(collectPercent, int(100*(p.least-live)/max(live, 1<<20)))
}

// liveMemory is what the last collection has left of the heap.
func liveMemory() int64 {
	read := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	if metrics.Read(read); read[0].Value.Kind() != metrics.KindUint64 {
		return math.MaxInt64 / 200
	}
	return int64(min(read[0].Value.Uint64(), math.MaxInt64/200))
}
