package bench_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/jackc/pgx/v5"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/internal/pgtest"
	"caldav-mcp-server/store"
)

// BenchmarkSecondNode is what long questions cost the processors of a Postgres and of its standby, without
// DATABASE_READ_URL ("alone") and with it ("both"), each with the lookup of the calendar that stands before it. No
// calendar is held in memory.
func BenchmarkSecondNode(b *testing.B) {
	first := startPostgres(b, func() (*pgtest.Server, error) { return pgtest.Start(b.Context(), pgtest.Options{}) })
	h := newStoreHouse(b, first.URL(), 10_000)
	standby := startPostgres(b, func() (*pgtest.Server, error) { return first.Standby(b.Context(), "second") })
	both, err := store.Open(b.Context(), first.URL(), store.Options{Replica: standby.URL()})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = both.Close() })
	for _, q := range longQuestions(h) {
		for way, s := range map[string]*store.Store{"alone": h.Store, "both": both} {
			b.Run(q.name+"/"+way, func(b *testing.B) {
				ask := func() {
					cal, err := s.CalendarAt(b.Context(), "alice", "work")
					check(b, err)
					q.ask(b, s.At(cal))
				}
				ask() // opens what connections it takes
				here, there, answered := postgresTime(b, first), postgresTime(b, standby),
					s.ReplicaReads()[store.ReplicaAnswered]
				for b.Loop() {
					ask()
				}
				b.ReportMetric(float64(postgresTime(b, first)-here)/float64(b.N)/1e3, "first-µs/op")
				b.ReportMetric(float64(postgresTime(b, standby)-there)/float64(b.N)/1e3, "second-µs/op")
				if n := s.ReplicaReads()[store.ReplicaAnswered] - answered; s == both && n < int64(b.N) {
					b.Errorf("the standby answered %d of %d questions: %v", n, b.N, s.ReplicaReads())
				}
			})
		}
	}
}

type longQuestion struct {
	name string
	ask  func(*testing.B, calendar.ObjectReader)
}

func longQuestions(h *storeHouse) []longQuestion {
	from := int64(h.size/2/perWeek) * week
	until := from + week
	return []longQuestion{
		{"listing-1000", func(b *testing.B, at calendar.ObjectReader) {
			consume(b, 1000, at.Changes(b.Context(), h.cal.ID, calendar.VersionRange{Until: 1000}))
		}},
		{"week", func(b *testing.B, at calendar.ObjectReader) {
			consume(b, perWeek, at.Objects(b.Context(), h.cal.ID, calendar.ObjectQuery{
				From: &from, Until: &until, WithData: true,
			}))
		}},
		{"whole-10000", func(b *testing.B, at calendar.ObjectReader) {
			consume(b, h.size, at.Objects(b.Context(), h.cal.ID, calendar.ObjectQuery{WithData: true}))
		}},
	}
}

func startPostgres(b *testing.B, start func() (*pgtest.Server, error)) *pgtest.Server {
	b.Helper()
	server, err := start()
	if errors.Is(err, pgtest.ErrNoPostgres) {
		b.Skip(err)
	}
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { check(b, server.Stop()) })
	return server
}

// postgresTime is how many nanoseconds the connections of a Postgres have had a processor.
func postgresTime(b *testing.B, of *pgtest.Server) (all int64) {
	b.Helper()
	ctx := context.WithoutCancel(b.Context())
	conn, err := pgx.Connect(ctx, of.URL())
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close(ctx)
	rows, err := conn.Query(ctx, `SELECT pid FROM pg_stat_activity WHERE application_name = 'caldav-mcp-server'`)
	if err != nil {
		b.Fatal(err)
	}
	pids, err := pgx.CollectRows(rows, pgx.RowTo[int32])
	check(b, err)
	for _, pid := range pids {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/schedstat", pid))
		check(b, err)
		var ran int64
		_, err = fmt.Fscan(bytes.NewReader(text), &ran)
		check(b, err)
		all += ran
	}
	return all
}
