package mirror_test

import (
	"context"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/mirror"
	"caldav-mcp-server/internal/slowtest"
)

// crowd is a host with many feeds, which counts who asks it at once.
type crowd struct {
	*model
	now, most, looks atomic.Int64
	// heap is the most that was held while it was asked.
	heap atomic.Uint64
}

// crowdEvents is how many events each feed has; each look gives them all.
const crowdEvents = 20

func (c *crowd) Changes(context.Context, string, string) (mirror.Changes, error) {
	n := c.now.Add(1)
	defer c.now.Add(-1)
	for most := c.most.Load(); n > most && !c.most.CompareAndSwap(most, n); most = c.most.Load() {
	}
	look := c.looks.Add(1)
	if look%50 == 0 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		for heap := c.heap.Load(); m.HeapAlloc > heap &&
			!c.heap.CompareAndSwap(heap, m.HeapAlloc); heap = c.heap.Load() {
		}
	}
	time.Sleep(time.Millisecond) //nolint:forbidigo // hosts take a while, in which others come
	page := mirror.Changes{Whole: true, Cursor: fmt.Sprint(look)}
	for i := range crowdEvents {
		uid := fmt.Sprintf("uid-%d", i)
		page.Objects = append(page.Objects,
			mirror.Object{Ref: uid, Version: "1", UID: uid, Data: []byte(event(uid, "x"))})
	}
	return page, nil
}

// TestAThousandFeeds of one host are looked at by four at a time, however many are due at once, and what is held does
// not grow with their number.
func TestAThousandFeeds(t *testing.T) {
	slowtest.Skip(t, slowtest.Big, "looks at a thousand feeds")
	each(t, func(h *house) {
		source := &crowd{model: h.model}
		h.provided = func(mirror.Opening) (mirror.Source, error) { return source, nil }
		h.open()
		for user := range 10 {
			who := calendar.User{
				ID: calendar.UserID(fmt.Sprintf("crowd-%d", user)), Name: fmt.Sprintf("crowd-%d", user),
			}
			h.Admit(h.t, who)
			for range 100 {
				_, _, err := h.Mirrors.Link(h.ctx, calendar.Caller{User: who, Scopes: calendar.ScopeAll},
					mirror.NewAccount{Provider: "model"})
				h.must(err)
			}
		}
		source.most.Store(0)
		source.heap.Store(0)
		before := source.looks.Load()
		h.Pass(3 * time.Hour)
		for begun := time.Now(); ; {
			n, err := h.Mirrors.Round(h.ctx)
			h.must(err)
			if n == 0 {
				h.t.Logf("%v, %d at once at most, %d KiB held", time.Since(begun).Round(time.Millisecond),
					source.most.Load(), source.heap.Load()>>10)
				break
			}
		}
		if looks := source.looks.Load() - before; looks != 1000 {
			h.t.Errorf("there were %d looks", looks)
		}
		if most := source.most.Load(); most > 4 {
			h.t.Errorf("it was asked by %d at once", most)
		}
		if held := source.heap.Load(); held > 64<<20 {
			h.t.Errorf("%d bytes were held", held)
		}
	})
}
