package main

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"caldav-mcp-server/cmd/caldav-mcp-server/app"
	"caldav-mcp-server/server"
	"caldav-mcp-server/store"
	"caldav-mcp-server/trace"
)

// measures exposes the metrics of the app once it is open.
type measures struct {
	app    atomic.Pointer[app.App]
	tracer *trace.Tracer
	now    func() time.Time
	size   size
}

// size is the size of the store, cached because counting takes queries.
type size struct {
	mu           sync.Mutex
	at           time.Time
	users, bytes int64
}

// sizeFor is how long the size is cached, sizeWait the timeout of its queries.
const sizeFor, sizeWait = time.Minute, 2 * time.Second

// read returns the size. If the database does not answer, it is the last known one.
func (s *size) read(h *app.App, now time.Time) (users, bytes float64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.at.IsZero() || now.Sub(s.at) >= sizeFor {
		ctx, cancel := context.WithTimeout(context.Background(), sizeWait)
		defer cancel()
		if users, bytes, err := h.Store.Size(ctx); err == nil {
			s.users, s.bytes = users, bytes
		}
		s.at = now
	}
	return float64(s.users), float64(s.bytes)
}

func gauge(name, help string, value float64) server.Measure {
	return server.Measure{Name: "caldav_mcp_" + name, Kind: "gauge", Help: help, Value: value}
}

func counter(name, help string, value float64) server.Measure {
	return server.Measure{Name: "caldav_mcp_" + name, Kind: "counter", Help: help, Value: value}
}

func (m *measures) read() []server.Measure {
	h := m.app.Load()
	if h == nil {
		return nil
	}
	pool, logins, done, cached := h.Store.Pool(), h.Auth.Load(), h.Store.Done(), h.Calendars.Cached()
	feeds := h.Calendars.Mirrors.Work()
	sent, dropped := m.tracer.Counted()
	users, bytes := m.size.read(h, m.now())
	return append(secondMeasures(h.Store.ReplicaReads()), []server.Measure{
		gauge("db_connections", "Open database connections.", float64(pool.OpenConnections)),
		gauge("db_connections_in_use", "Database connections in use.", float64(pool.InUse)),
		gauge("db_connections_max", "Highest number of database connections.", float64(pool.MaxOpenConnections)),
		counter("db_waits_total", "Waits for a free database connection.", float64(pool.WaitCount)),
		counter("db_wait_seconds_total", "Time spent waiting for a free database connection.",
			pool.WaitDuration.Seconds()),
		counter("db_transactions_total", "Committed write transactions.", float64(done.Committed)),
		counter("db_transactions_failed_total", "Failed transactions.", float64(done.Failed)),
		counter("db_transactions_repeated_total", "Transactions retried after a conflict.", float64(done.Repeated)),
		counter("db_full_total", "Transactions that failed because the disk of the database was full.",
			float64(done.Full)),
		gauge("db_size_bytes", "Size of the database.", bytes),
		gauge("users", "Users, without rooms and groups.", users),
		counter("login_hashes_total", "Password hashes computed.", float64(logins.Hashed)),
		gauge("login_hashes_in_work", "Password hashes being computed.", float64(logins.Hashing)),
		gauge("logins_waiting", "Logins waiting for a password hash.", float64(logins.Waiting)),
		counter("logins_busy_total", "Logins refused because too many were waiting.", float64(logins.Busy)),
		gauge("cache_bytes", "Memory used by cached calendars.", float64(cached.Bytes)),
		gauge("cache_bytes_max", "Memory limit for cached calendars.", float64(cached.Most)),
		counter("cache_asked_total", "Calendar reads that could use the cache.", float64(cached.Asked)),
		counter("cache_shown_total", "Calendar reads served from the cache.", float64(cached.Shown)),
		counter("cache_made_total", "Cache entries loaded or updated.", float64(cached.Made)),
		counter("feed_bytes_total", "Bytes read from feeds that users follow.", float64(feeds.Bytes)),
		counter("feed_entries_total", "Entries of feeds and accounts stored, changed, deleted or refused.",
			float64(feeds.Entries)),
		counter("feed_postponed_total", "Fetches of feeds and accounts postponed to the next day by FEED_BUDGET.",
			float64(feeds.Postponed)),
		gauge("streams", "Open event streams of assistants.", float64(h.Calendars.Waiting())),
		gauge("prune_last_success_timestamp_seconds",
			"Last time the journal was pruned, in Unix time; 0 if not since the start.", float64(h.Pruned.Load())),
		counter("prune_failures_total", "Failures to prune the journal.", float64(h.Unpruned.Load())),
		counter("journal_bodies_forgotten_total", "Old object versions removed from the journal.",
			float64(done.Bodies)),
		counter("spans_sent_total", "Trace spans accepted by the collector.", float64(sent)),
		counter("spans_dropped_total",
			"Trace spans dropped, because the collector did not respond or there were too many.", float64(dropped)),
		counter("tombstones_forgotten_total", "Tombstones of deleted objects removed.", float64(done.Tombstones)),
	}...)
}

// secondMeasures counts the reads that a read replica could have answered, by outcome. Without a replica it returns
// none.
func secondMeasures(counts map[store.ReplicaOutcome]int64) (all []server.Measure) {
	for _, how := range store.ReplicaOutcomes() {
		if n, counted := counts[how]; counted {
			all = append(all, counter("db_second_"+string(how)+"_total", secondHelp[how], float64(n)))
		}
	}
	return all
}

// secondHelp describes each outcome.
var secondHelp = map[store.ReplicaOutcome]string{
	store.ReplicaAnswered: "Reads answered by the read replica.",
	store.ReplicaBehind:   "Reads answered by the primary because the replica was not at the same position.",
	store.ReplicaConflict: "Reads that the replica cancelled because of a replay conflict.",
	store.ReplicaSlow:     "Reads that timed out on the replica.",
	store.ReplicaAway:     "Reads that failed because the replica was unreachable.",
	store.ReplicaPrimary:  "Reads refused because the replica was not a standby.",
	store.ReplicaOther:    "Reads refused because the replica followed another primary.",
	store.ReplicaFailed:   "Reads that failed on the replica.",
	store.ReplicaPaused:   "Reads not sent to the replica because it had failed recently.",
}
