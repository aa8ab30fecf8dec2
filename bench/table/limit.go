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
	"strings"
	"sync"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib"
	_ "modernc.org/sqlite"
)

// The limits that are measured in the run that compares with them. Commits are each engine's own.
const (
	syncs8K = "append 8 KB and fsync, 1 connection"
	commits = "commits of 1 KB, 4 connections"
	bare4   = "bare net/http, Basic, 1 KB, 4 connections"
	bare32  = "bare net/http, Basic, 1 KB, 32 connections"
)

// rate runs do on some connections for a time, and returns how often it was done in a second.
func rate(ctx context.Context, conns int, d time.Duration, do func(ctx context.Context, conn, n int) error) (float64, error) {
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

// fsyncs is how often the disk can be waited for.
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

// commitsOf is how often a database keeps a kilobyte, with nothing else to do.
func commitsOf(ctx context.Context, driver, url string, d time.Duration) (float64, error) {
	db, err := sql.Open(driver, url)
	if err != nil {
		return 0, err
	}
	db.SetMaxOpenConns(4)
	db.SetMaxIdleConns(4)
	if _, err = db.ExecContext(ctx, `CREATE TABLE limits (id BIGINT PRIMARY KEY, data TEXT NOT NULL)`); err != nil {
		return 0, errors.Join(err, db.Close())
	}
	text := strings.Repeat("x", 1000)
	n, err := rate(ctx, 4, d, func(ctx context.Context, conn, n int) error {
		_, err := db.ExecContext(ctx, `INSERT INTO limits VALUES ($1, $2)`, conn*1_000_000_000+n, text)
		return err
	})
	return n, errors.Join(err, db.Close())
}

// bare is how many requests net/http answers that does nothing but compare a password and write a kilobyte.
func bare(ctx context.Context, conns int, d time.Duration) (float64, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	text := []byte(strings.Repeat("x", 1000))
	s := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if name, password, _ := r.BasicAuth(); name != "user" || password != "password" {
			http.Error(w, "who is it?", http.StatusUnauthorized)
			return
		}
		_, _ = w.Write(text)
	})}
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

// limitsOf measures what bounds the servers: by name, and of commits by engine and name.
func limitsOf(ctx context.Context, dir, postgres string, d time.Duration) (map[string]float64, error) {
	found := map[string]float64{}
	for _, one := range []struct {
		name    string
		measure func() (float64, error)
	}{
		{syncs8K, func() (float64, error) { return fsyncs(ctx, dir, d) }},
		{"sqlite " + commits, func() (float64, error) {
			return commitsOf(ctx, "sqlite", "file:"+filepath.Join(dir, "limits.db")+"?_pragma=journal_mode(wal)&_pragma=synchronous(full)&_pragma=busy_timeout(10000)&_txlock=immediate", d)
		}},
		{"postgres " + commits, func() (float64, error) {
			if postgres == "" {
				return 0, nil
			}
			return commitsOf(ctx, "pgx", postgres, d)
		}},
		{bare4, func() (float64, error) { return bare(ctx, 4, d) }},
		{bare32, func() (float64, error) { return bare(ctx, 32, d) }},
	} {
		n, err := one.measure()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", one.name, err)
		}
		found[one.name] = n
	}
	return found, nil
}
