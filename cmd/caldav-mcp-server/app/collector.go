package app

import (
	"context"
	"math"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

const (
	// collectPercent lets the heap grow to two and a half times its live size before a collection; Go's default is
	// twice.
	collectPercent = 150
	// leastHeap is the minimum size of the heap before a collection. With a single active user only a few megabytes are
	// live, and collecting them all the time took a tenth of the server's work.
	leastHeap = 32 << 20
	// memoryLimit is the heap size above which garbage is collected more often, so that the memory of requests
	// (calendar.Config.AnswerBytes) is not used twice. GOMEMLIMIT overrides it. A process with little memory starts
	// with that limit.
	memoryLimit = 160 << 20
)

// spaceOutCollections sets how often garbage is collected, unless GOGC is set, and adapts it to the heap until ctx
// ends.
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

// heapPace lets the heap grow to a minimum size, depending on its live size after each collection.
type heapPace struct {
	percent int
	least   int64
}

// afterCollection updates the pace after each collection until ctx ends. It relies on the cleanup of an unreachable
// object.
func afterCollection(ctx context.Context, p *heapPace) {
	held := &struct{ self *heapPace }{p} // with a pointer, so that it shares no block of the tiny allocator
	runtime.AddCleanup(held, func(p *heapPace) {
		if ctx.Err() == nil {
			p.follow(liveMemory())
			afterCollection(ctx, p)
		}
	}, p)
}

// follow sets the GC percentage for the wanted heap size. SetGCPercent stops the world, so a change of less than a
// tenth is ignored.
func (p *heapPace) follow(live int64) {
	if percent := p.of(live); percent*10 > p.percent*11 || percent*11 < p.percent*10 {
		p.percent = percent
		debug.SetGCPercent(percent)
	}
}

// of is the GC percentage for a live size.
func (p *heapPace) of(live int64) int {
	return max(collectPercent, int(100*(p.least-live)/max(live, 1<<20)))
}

// liveMemory is the live size of the heap after the last collection.
func liveMemory() int64 {
	read := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	if metrics.Read(read); read[0].Value.Kind() != metrics.KindUint64 {
		return math.MaxInt64 / 200
	}
	return int64(min(read[0].Value.Uint64(), math.MaxInt64/200))
}
