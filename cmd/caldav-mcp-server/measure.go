package main

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"caldav-mcp-server/server"
	"caldav-mcp-server/store"
	"caldav-mcp-server/trace"
)

// measures exposes the metrics of the house once it is open.
type measures struct {
	house  atomic.Pointer[house]
	tracer *trace.Tracer
}

func gauge(name, help string, value float64) server.Measure {
	return server.Measure{Name: "caldav_mcp_" + name, Kind: "gauge", Help: help, Value: value}
}

func counter(name, help string, value float64) server.Measure {
	return server.Measure{Name: "caldav_mcp_" + name, Kind: "counter", Help: help, Value: value}
}

func (m *measures) read() []server.Measure {
	h := m.house.Load()
	if h == nil {
		return nil
	}
	pool, logins, done, cached := h.store.Pool(), h.auth.Load(), h.store.Done(), h.calendars.Cached()
	sent, dropped := m.tracer.Counted()
	return append(secondMeasures(h.store.Second()), []server.Measure{
		gauge("db_connections", "Connections to the database that are open.", float64(pool.OpenConnections)),
		gauge("db_connections_in_use", "Connections to the database that are at work.", float64(pool.InUse)),
		gauge("db_connections_max", "Connections to the database that there may be.", float64(pool.MaxOpenConnections)),
		counter("db_waits_total", "Times that a connection was waited for.", float64(pool.WaitCount)),
		counter("db_wait_seconds_total", "Time that connections were waited for.", pool.WaitDuration.Seconds()),
		counter("db_transactions_total", "Transactions that wrote.", float64(done.Committed)),
		counter("db_transactions_failed_total", "Transactions that came to nothing, for whatever reason.", float64(done.Failed)),
		counter("db_transactions_repeated_total", "Transactions that began anew since another was in the way.", float64(done.Repeated)),
		counter("login_hashes_total", "Passwords that were checked by their hash.", float64(logins.Hashed)),
		gauge("login_hashes_in_work", "Hashes that are being computed.", float64(logins.Hashing)),
		gauge("logins_waiting", "Logins that wait for their hash to be computed.", float64(logins.Waiting)),
		counter("logins_busy_total", "Logins that were sent away since too many waited.", float64(logins.Busy)),
		gauge("cache_bytes", "Memory that calendars take which are held there.", float64(cached.Bytes)),
		gauge("cache_bytes_max", "Memory that they may take.", float64(cached.Most)),
		counter("cache_asked_total", "Questions about a calendar.", float64(cached.Asked)),
		counter("cache_shown_total", "Those that memory answered.", float64(cached.Shown)),
		counter("cache_made_total", "Times that a calendar was read into memory, or brought up to date there.", float64(cached.Made)),
		gauge("streams", "Assistants that wait to be told of changes.", float64(h.calendars.Waiting())),
		gauge("prune_last_success_timestamp_seconds", "When the journal was last shortened, in Unix time; 0 for not since the start.", float64(h.pruned.Load())),
		counter("prune_failures_total", "Times that the journal could not be shortened.", float64(h.unpruned.Load())),
		counter("journal_bodies_forgotten_total", "Former states of objects that the journal has let go.", float64(done.Bodies)),
		counter("spans_sent_total", "Parts of requests that the collector of traces has taken.", float64(sent)),
		counter("spans_dropped_total", "Parts of requests that it has not: it did not answer, or there were too many.", float64(dropped)),
		counter("tombstones_forgotten_total", "Deleted objects of which nothing is known any more.", float64(done.Tombstones)),
	}...)
}

// secondMeasures counts the reads that a read replica could have answered, by outcome. Without a replica it returns
// none.
func secondMeasures(counts map[store.SecondOutcome]int64) (all []server.Measure) {
	for _, how := range store.SecondOutcomes() {
		if n, counted := counts[how]; counted {
			all = append(all, counter("db_second_"+string(how)+"_total", secondHelp[how], float64(n)))
		}
	}
	return all
}

// secondHelp describes each outcome.
var secondHelp = map[store.SecondOutcome]string{
	store.SecondAnswered: "Questions that the second node answered.",
	store.SecondBehind:   "Questions that the first node answered since the second was not as far, or further.",
	store.SecondConflict: "Those that the second broke off for what it replays.",
	store.SecondSlow:     "Those for which the second took too long.",
	store.SecondAway:     "Those for which the second was not there.",
	store.SecondLeads:    "Those for which the second was no standby.",
	store.SecondOther:    "Those for which the second followed another node.",
	store.SecondFailed:   "Those in which the second had an error.",
	store.SecondResting:  "Those that the second was not asked since it had failed a moment ago.",
}

// forget prunes the journal and deleted objects. Journal lines are never removed before their bodies.
func (h *house) forget(ctx context.Context, now time.Time) error {
	keep := h.service()
	if err := h.store.Prune(ctx, now.AddDate(0, 0, -keep.journalDays)); err != nil {
		return err
	}
	if keep.lineDays > 0 {
		if err := h.store.PruneLines(ctx, now.AddDate(0, 0, -max(keep.lineDays, keep.journalDays))); err != nil {
			return err
		}
	}
	return h.store.Shrink(ctx)
}

// prune runs forget, and records the outcome.
func (h *house) prune(ctx context.Context, now time.Time, log *slog.Logger) {
	ctx, end := trace.Task(ctx, "prune")
	before := h.store.Done()
	err := h.forget(ctx, now)
	after := h.store.Done()
	end(err != nil, slog.Int64("bodies", after.Bodies-before.Bodies), slog.Int64("tombstones", after.Tombstones-before.Tombstones))
	switch {
	case err == nil:
		h.pruned.Store(now.Unix())
	case ctx.Err() == nil:
		h.unpruned.Add(1)
		log.WarnContext(ctx, "the journal was not shortened", "error", err)
	}
}
