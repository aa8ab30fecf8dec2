package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib"
	_ "modernc.org/sqlite"
)

// The limits, measured in the same run as the rates compared with them. Each engine has its own limit for commits.
const (
	syncs8K = "append 8 KB and fsync, 1 connection"
	commits = "commits of 1 KB, 4 connections"
	bare4   = "bare net/http, Basic, 1 KB, 4 connections"
	bare32  = "bare net/http, Basic, 1 KB, 32 connections"
)

// rate runs do on some connections for a while and returns the calls per second.
func rate(ctx context.Context, conns int, d time.Duration,
	do func(ctx context.Context, conn, n int) error,
) (float64, error) {
	counts, errs := make([]int, conns), make([]error, conns)
	var all sync.WaitGroup
	began := time.Now()
	for conn := range conns {
		all.Go(func() {
			for time.Since(began) < d && errs[conn] == nil {
				if errs[conn] = do(ctx, conn, counts[conn]); errs[conn] == nil {
					counts[conn]++
				}
			}
		})
	}
	all.Wait()
	sum := 0
	for _, n := range counts {
		sum += n
	}
	return float64(sum) / time.Since(began).Seconds(), errors.Join(errs...)
}

// fsyncs measures the fsyncs per second.
func fsyncs(ctx context.Context, dir string, d time.Duration) (float64, error) {
	f, err := os.Create(filepath.Join(dir, "fsync"))
	if err != nil {
		return 0, err
	}
	block := make([]byte, 8<<10)
	n, err := rate(ctx, 1, d, func(context.Context, int, int) error {
		_, err := f.Write(block)
		return errors.Join(err, f.Sync())
	})
	return n, errors.Join(err, f.Close())
}

// commitsOf measures how often an otherwise idle database commits a kilobyte per second.
func commitsOf(ctx context.Context, driver, url string, d time.Duration) (float64, error) {
	db, err := sql.Open(driver, url)
	if err != nil {
		return 0, err
	}
	db.SetMaxOpenConns(4)
	db.SetMaxIdleConns(4)
	for _, text := range []string{
		`DROP TABLE IF EXISTS limits`, `CREATE TABLE limits (id BIGINT PRIMARY KEY, data TEXT NOT NULL)`,
	} {
		if _, err := db.ExecContext(ctx, text); err != nil {
			return 0, errors.Join(err, db.Close())
		}
	}
	text := strings.Repeat("x", 1000)
	n, err := rate(ctx, 4, d, func(ctx context.Context, conn, n int) error {
		_, err := db.ExecContext(ctx, `INSERT INTO limits VALUES ($1, $2)`, conn*1_000_000_000+n, text)
		return err
	})
	return n, errors.Join(err, db.Close())
}

// bare measures the requests per second of a net/http server that only compares a password and writes a kilobyte.
func bare(ctx context.Context, conns int, d time.Duration) (float64, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	text := []byte(strings.Repeat("x", 1000))
	s := &http.Server{
		ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if name, password, _ := r.BasicAuth(); name != "user" || password != "password" {
				http.Error(w, "who is it?", http.StatusUnauthorized)
				return
			}
			_, _ = w.Write(text)
		}),
	}
	done := make(chan error, 1)
	go func() { done <- s.Serve(listener) }()
	t := &target{url: "http://" + listener.Addr().String(), user: "user", password: "password"}
	clients := make([]*http.Client, conns)
	for i := range clients {
		clients[i] = connection()
	}
	n, err := rate(ctx, conns, d, func(ctx context.Context, conn, _ int) error {
		_, err := t.do(ctx, clients[conn], request{method: http.MethodGet, path: "/", want: http.StatusOK})
		return err
	})
	err = errors.Join(err, s.Close())
	if ended := <-done; !errors.Is(ended, http.ErrServerClosed) {
		err = errors.Join(err, ended)
	}
	return n, err
}

// limit is an upper bound for the servers, with its measured rates.
type limit struct {
	name    string
	measure func(context.Context, time.Duration) (float64, error)
	rates   []float64
}

// take measures the limit once more.
func (l *limit) take(ctx context.Context, d time.Duration) error {
	n, err := l.measure(ctx, d)
	if err != nil {
		return fmt.Errorf("%s: %w", l.name, err)
	}
	l.rates = append(l.rates, n)
	return nil
}

// limitsOf returns the limits of this machine. The names of commit limits begin with the engine. Without a database URL
// it leaves out Postgres.
func limitsOf(dir, postgres string) []limit {
	file := "file:" + filepath.Join(dir, "limits.db") +
		"?_pragma=journal_mode(wal)&_pragma=synchronous(full)&_pragma=busy_timeout(10000)&_txlock=immediate"
	all := []limit{
		{name: syncs8K, measure: func(ctx context.Context, d time.Duration) (float64, error) {
			return fsyncs(ctx, dir, d)
		}},
		{name: "sqlite " + commits, measure: func(ctx context.Context, d time.Duration) (float64, error) {
			return commitsOf(ctx, "sqlite", file, d)
		}},
		{name: "postgres " + commits, measure: func(ctx context.Context, d time.Duration) (float64, error) {
			return commitsOf(ctx, "pgx", postgres, d)
		}},
		{name: bare4, measure: func(ctx context.Context, d time.Duration) (float64, error) { return bare(ctx, 4, d) }},
		{name: bare32, measure: func(ctx context.Context, d time.Duration) (float64, error) {
			return bare(ctx, 32, d)
		}},
	}
	return slices.DeleteFunc(all, func(l limit) bool { return postgres == "" && strings.HasPrefix(l.name, "postgres") })
}
