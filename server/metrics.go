package server

import (
	"net/http"
	"slices"
	"sync"
	"time"
)

// series is the key for counting requests. All parts have few possible values, so that clients cannot make the metrics
// grow without limit.
type series struct{ door, route, method string }

type outcome struct {
	series
	status int
}

// counters holds the values for Prometheus.
type counters struct {
	version string
	started time.Time

	mu           sync.Mutex
	requests     map[outcome]uint64
	durations    map[series]*histogram
	reports      map[string]*histogram
	inFlight     map[string]int
	authFailures map[string]uint64
	panics       uint64
}

// buckets returns the upper bounds of the durations, in seconds.
func buckets() []float64 {
	return []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30}
}

// histogram counts durations; counts[i] has those up to buckets()[i] and above the previous bound.
type histogram struct {
	counts []uint64
	total  uint64
	sum    float64
}

func (h *histogram) add(seconds float64) {
	if i, _ := slices.BinarySearch(buckets(), seconds); i < len(h.counts) {
		h.counts[i]++
	}
	h.total++
	h.sum += seconds
}

// observe adds a duration to one of several histograms.
func observe[K comparable](all map[K]*histogram, key K, took time.Duration) {
	h := all[key]
	if h == nil {
		h = &histogram{counts: make([]uint64, len(buckets()))}
		all[key] = h
	}
	h.add(took.Seconds())
}

func newCounters(version string, started time.Time) *counters {
	return &counters{
		version:      version,
		started:      started,
		requests:     make(map[outcome]uint64),
		durations:    make(map[series]*histogram),
		reports:      make(map[string]*histogram),
		inFlight:     make(map[string]int),
		authFailures: make(map[string]uint64),
	}
}

func (m *counters) begin(door string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.inFlight[door]++
}

func (m *counters) end(r *Record, status int, took time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.inFlight[r.door]--
	key := series{r.door, r.route, r.method}
	m.requests[outcome{key, status}]++
	observe(m.durations, key, took)
	if r.report != "" {
		observe(m.reports, r.report, took)
	}
	// Every client begins with a request without credentials, which gets a 401; only one with credentials is a failure.
	if r.refused(status) {
		m.authFailures[r.door]++
	}
}

func (m *counters) panicked() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.panics++
}

func (m *counters) inFlightNow() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	sum := 0
	for _, n := range m.inFlight {
		sum += n
	}
	return sum
}

// refused reports whether credentials were wrong or throttled.
func (r *Record) refused(status int) bool {
	return r.badForm || r.scheme != "" && (status == http.StatusUnauthorized || status == http.StatusTooManyRequests)
}
