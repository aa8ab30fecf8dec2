package app

import (
	"context"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

const (
	// memoryEvery is how often memory is checked.
	memoryEvery = time.Minute
	// imageBytes limits the cache of calendars. restEvery is how often its unused entries are dropped.
	imageBytes = 16 << 20
	restEvery  = 10 * time.Minute
	// spareMemory is the unused memory that the process may keep. A password hash needs 19 MiB for an instant, and Go
	// would keep that for minutes.
	spareMemory = 8 << 20
)

// ReturnMemory returns unused memory to the system until ctx ends. rest drops cache entries that were not used since
// its last call.
func ReturnMemory(ctx context.Context, rest func()) {
	spaceOutCollections(ctx, allow(allowedMemory(os.DirFS("/"))))
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

// unusedMemory is the heap beyond live objects: free pages, and garbage before a collection.
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
