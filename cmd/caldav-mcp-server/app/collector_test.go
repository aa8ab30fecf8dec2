package app

import (
	"context"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"
	"time"
)

// TestHeapPace: the heap grows to a least size however little lives, and by the usual share of it where much does.
func TestHeapPace(t *testing.T) {
	p := heapPace{percent: collectPercent, least: 48 << 20}
	for live, want := range map[int64]int{
		0:        4800, // as if a megabyte lived
		1 << 20:  4700,
		8 << 20:  500,
		16 << 20: 200,
		20 << 20: collectPercent,
		48 << 20: collectPercent,
		1 << 40:  collectPercent,
	} {
		if got := p.of(live); got != want {
			t.Errorf("%d bytes live: %d %%, want %d", live, got, want)
		}
	}
}

// TestHeapPaceFollows: not the first collection alone sets when the next one comes.
func TestHeapPaceFollows(t *testing.T) {
	before := debug.SetGCPercent(collectPercent)
	t.Cleanup(func() { debug.SetGCPercent(before) })
	ctx, end := context.WithCancel(t.Context())
	defer end()
	afterCollection(ctx, &heapPace{percent: collectPercent, least: 1 << 30})
	for _, megabytes := range []int{0, 64, 16} {
		held := make([]byte, megabytes<<20)
		for end := time.Now().Add(time.Minute); ; {
			runtime.GC()
			set, want := collects(), (&heapPace{least: 1 << 30}).of(liveMemory())
			if 10*set < 12*want && 12*set > 10*want {
				break
			}
			if time.Now().After(end) {
				t.Fatalf("%d MB held: %d %%, want about %d", megabytes, set, want)
			}
		}
		runtime.KeepAlive(held)
	}
}

// collects is the current GC percentage.
func collects() int {
	read := []metrics.Sample{{Name: "/gc/gogc:percent"}}
	metrics.Read(read)
	return int(read[0].Value.Uint64())
}
