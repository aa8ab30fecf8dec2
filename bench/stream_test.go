package bench_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"runtime"
	"runtime/metrics"
	"strings"
	"testing"
	"time"

	"caldav-mcp-server/caldav"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/service"
	"caldav-mcp-server/internal/testdb"
)

// BenchmarkStreaming lists a calendar of 100,000 objects over HTTP. It reports how long the
// first byte takes, and how far the memory in use rises above what it was before: no more
// than a few pages of rows, however large the calendar.
func BenchmarkStreaming(b *testing.B) {
	testdb.EachBenchmark(b, func(b *testing.B, database string) {
		h := newStoreHouse(b, database, 100_000)
		server := serveStore(b, h)
		for _, c := range []struct{ name, method, body string }{
			{"propfind", "PROPFIND", `<D:propfind xmlns:D="DAV:"><D:prop><D:getetag/><D:getcontenttype/></D:prop></` +
				`D:propfind>`},
			{"propfind-dead", "PROPFIND", `<D:propfind xmlns:D="DAV:"><D:prop><D:getetag/><x:x ` +
				`xmlns:x="urn:x"/></D:prop></D:propfind>`},
			{"sync", "REPORT", `<D:sync-collection xmlns:D="DAV:"><D:sync-token/><D:sync-level>1</` +
				`D:sync-level><D:prop><D:getetag/></D:prop></D:sync-collection>`},
		} {
			b.Run(c.name, func(b *testing.B) {
				var first time.Duration
				var rise uint64
				for b.Loop() {
					runtime.GC()
					idle := heapInUse()
					watched, stop := watchHeap(b.Context())
					wait, size := stream(b, server, c.method, c.body)
					stop()
					first = max(first, wait)
					most := <-watched
					rise = max(rise, most-min(idle, most))
					b.SetBytes(size)
				}
				b.ReportMetric(float64(first.Microseconds())/1000, "ms-to-first-byte")
				b.ReportMetric(float64(rise)/(1<<20), "MB-above-idle")
			})
		}
	})
}

// serveStore puts the DAV door in front of a store, for its one user.
func serveStore(b *testing.B, h *storeHouse) *httptest.Server {
	b.Helper()
	service := service.New(service.Config{
		Store: h.Store, Limits: calendar.DefaultLimits(), Now: time.Now, NewID: func() string { return "id" },
	})
	door, err := caldav.New(caldav.Config{
		Service: service, Limits: caldav.DefaultLimits(), Logger: slog.New(slog.DiscardHandler), Now: time.Now,
	})
	if err != nil {
		b.Fatal(err)
	}
	caller := calendar.Caller{User: calendar.User{ID: "alice", Name: "alice"}, Scopes: calendar.ScopeAll}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		door.ServeDAV(w, r, caller)
	}))
	b.Cleanup(server.Close)
	return server
}

// stream sends a request and reads its answer to the end.
func stream(b *testing.B, server *httptest.Server, method, body string) (first time.Duration, size int64) {
	b.Helper()
	r, err := http.NewRequestWithContext(b.Context(), method, server.URL+"/dav/calendars/alice/work/",
		strings.NewReader(body))
	if err != nil {
		b.Fatal(err)
	}
	r.Header.Set("Depth", "1")
	began := time.Now()
	resp, err := server.Client().Do(r)
	if err != nil {
		b.Fatal(err)
	}
	defer resp.Body.Close()
	if _, err := io.ReadFull(resp.Body, make([]byte, 1)); err != nil || resp.StatusCode != http.StatusMultiStatus {
		b.Fatalf("%s: %d, %v", method, resp.StatusCode, err)
	}
	first = time.Since(began)
	n, err := io.Copy(io.Discard, resp.Body)
	if err != nil {
		b.Fatal(err)
	}
	return first, n + 1
}

func heapInUse() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// watchHeap looks at the heap every few milliseconds until it is stopped, then tells the most
// it saw. What waits for the collector counts as in use.
func watchHeap(ctx context.Context) (<-chan uint64, context.CancelFunc) {
	ctx, stop := context.WithCancel(ctx)
	most := make(chan uint64, 1)
	go func() {
		tick := time.NewTicker(2 * time.Millisecond)
		defer tick.Stop()
		for top := uint64(0); ; top = max(top, heapInUse()) {
			select {
			case <-tick.C:
			case <-ctx.Done():
				most <- top
				return
			}
		}
	}()
	return most, stop
}
