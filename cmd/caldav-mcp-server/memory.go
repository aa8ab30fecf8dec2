package main

import (
	"context"
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
)

// returnMemory gives the system back what nobody uses, until ctx ends. rest lets go of what nobody
// has used since it was last called.
func returnMemory(ctx context.Context, rest func()) {
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
