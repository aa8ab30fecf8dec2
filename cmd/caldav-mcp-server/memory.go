package main

import (
	"context"
	"math"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

const (
	// memoryEvery is how often memory is looked at.
	memoryEvery = time.Minute
	// imageBytes is what calendars may take that are asked for most, restEvery how long nobody asks
	// for one until that is given back.
	imageBytes = 16 << 20
	restEvery  = 10 * time.Minute
	// spareMemory is what the process may keep for later; a login's hash takes 19 MiB for the
	// blink of an eye, and Go would hold on to them for minutes.
	spareMemory = 8 << 20
	// collectPercent lets the heap grow to two and a half times what lives before it is collected, in
	// place of twice. What lives is a few megabytes, so that a loaded server collected all the time: a
	// tenth of its work. GOGC overrides it.
	collectPercent = 150
	// memoryLimit is from where on garbage is collected sooner, so that what requests hold together (calendar.Config.AnswerBytes)
	// is not there twice. GOMEMLIMIT overrides it.
	// A process that may have little begins with that.
	memoryLimit = 160 << 20
)

// spaceOutCollections sets how often garbage is collected, unless the operator has.
func spaceOutCollections(limit int64) {
	if debug.SetMemoryLimit(-1) == math.MaxInt64 {
		debug.SetMemoryLimit(limit)
	}
	const unset = 100
	if set := debug.SetGCPercent(collectPercent); set != unset {
		debug.SetGCPercent(set)
	}
}

// returnMemory gives the system back what nobody uses, until ctx ends. rest lets go of what nobody
// has used since it was last called.
func returnMemory(ctx context.Context, rest func()) {
	spaceOutCollections(allow(allowedMemory(os.DirFS("/"))).collect)
	ticker, resting := time.NewTicker(memoryEvery), time.NewTicker(restEvery)
	defer ticker.Stop()
	defer resting.Stop()
	for {
		if unusedMemory() > spareMemory {
			debug.FreeOSMemory()
		}
		select {
		case <-resting.C:
			rest()
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}

// unusedMemory is what the heap holds beyond what lives: free pages, and garbage that waits for
// a collection.
func unusedMemory() uint64 {
	read := []metrics.Sample{
		{Name: "/memory/classes/heap/free:bytes"},
		{Name: "/memory/classes/heap/objects:bytes"},
		{Name: "/gc/heap/live:bytes"},
	}
	metrics.Read(read)
	var values [3]uint64
	for i, sample := range read {
		if sample.Value.Kind() == metrics.KindUint64 {
			values[i] = sample.Value.Uint64()
		}
	}
	free, objects, live := values[0], values[1], values[2]
	return free + objects - min(objects, live)
}
