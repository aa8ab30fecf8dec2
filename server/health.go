package server

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
	"time"
)

// The health checks, without authentication on every door.
const (
	aliveRoute = "/healthz"
	readyRoute = "/readyz"
)

const (
	// readyPatience is the timeout of the store's check.
	readyPatience = 3 * time.Second
	// readyFor is how long a result is cached. Anyone may ask at any rate, and the store must not notice.
	readyFor = time.Second
	// retryAfter is the Retry-After header while not ready, in seconds.
	retryAfter = "5"
)

func (s *Server) health(next http.Handler) http.Handler {
	answers := map[string]http.HandlerFunc{aliveRoute: alive, readyRoute: s.ready}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.leaving.Load() {
			w.Header().Set("Connection", "close") // the next request goes to another server
		}
		answer, ours := answers[r.URL.Path]
		if !ours {
			next.ServeHTTP(w, r)
			return
		}
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "only GET and HEAD", http.StatusMethodNotAllowed)
			return
		}
		w.Header().Set("Cache-Control", "no-store")
		answer(w, r)
	})
}

// alive reports that the process responds. It checks no dependency: a restart would not bring a database back.
func alive(w http.ResponseWriter, _ *http.Request) {
	say(w, http.StatusOK, "alive")
}

// ImpairedError is the error of a server that answers requests, but refuses some of them.
type ImpairedError struct{ Why string }

func (e ImpairedError) Error() string { return e.Why }

// ready reports whether requests can be served now. An impaired server is ready: without it, its users could not even
// read.
func (s *Server) ready(w http.ResponseWriter, r *http.Request) {
	if s.leaving.Load() {
		notReady(w, "stopping")
		return
	}
	err := s.readiness.ask(r.Context(), s.config.Now, s.config.Ready)
	impaired, still := errors.AsType[ImpairedError](err)
	switch {
	case still:
		say(w, http.StatusOK, "ready, but "+impaired.Why)
	case err != nil:
		notReady(w, err.Error())
	default:
		say(w, http.StatusOK, "ready")
	}
}

// starting responds for a door that is not open yet.
func (s *Server) starting(w http.ResponseWriter, r *http.Request) {
	why := "starting"
	if err := s.readiness.ask(r.Context(), s.config.Now, s.config.Ready); err != nil {
		why = err.Error()
	}
	notReady(w, why)
}

func notReady(w http.ResponseWriter, why string) {
	w.Header().Set("Retry-After", retryAfter)
	say(w, http.StatusServiceUnavailable, "not ready: "+why)
}

// readiness caches the state of the store. Concurrent requests share one check.
type readiness struct {
	mu   sync.Mutex
	at   time.Time
	last error
}

func (m *readiness) ask(ctx context.Context, now func() time.Time, ready func(context.Context) error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.at.IsZero() && now().Sub(m.at) < readyFor {
		return m.last
	}
	// Other clients wait for the result, too: it must not fail because this one disconnects.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), readyPatience)
	defer cancel()
	m.last = ready(ctx)
	m.at = now()
	return m.last
}

func say(w http.ResponseWriter, status int, word string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, word+"\n")
}
