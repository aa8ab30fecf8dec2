// Package server runs the listeners of all doors. It assigns request ids, logs and counts requests, limits the
// resources of each client, serves health checks and shuts down gracefully.
//
// It knows nothing about calendars. A door is an [http.Handler] with a name and an address.
package server

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"caldav-mcp-server/trace"
)

// Timeouts limit how long clients may take.
type Timeouts struct {
	// Header is the time to send a request's header.
	Header time.Duration
	// Idle is how long an idle connection stays open.
	Idle time.Duration
	// Stall is how long a body may pause, in either direction, before the connection is closed.
	Stall time.Duration
	// Body is the time to send a whole body, even without pauses.
	Body time.Duration
	// Leave is how long a stopping server keeps serving while /readyz fails, so that load balancers can notice.
	Leave time.Duration
	// Drain is how long the shutdown then waits for requests in flight.
	Drain time.Duration
}

// DefaultTimeouts returns the default timeouts.
func DefaultTimeouts() Timeouts {
	return Timeouts{
		Header: 10 * time.Second,
		Idle:   2 * time.Minute,
		Stall:  30 * time.Second,
		Body:   5 * time.Minute,
		// Container engines kill a process ten seconds after the signal to stop.
		Drain: 8 * time.Second,
	}
}

// maxHeaderBytes limits a request's header. It is several times the size needed for tokens, a proxy's cookies and a
// long list of If-Match tags.
const maxHeaderBytes = 64 << 10

// Door is one listener and its handler.
type Door struct {
	// Name appears in logs and metrics.
	Name string
	// Addr is host:port; port 0 picks a free port.
	Addr string
	// Handler may be nil until [Server.Open]: until then the door responds that the server is starting.
	Handler http.Handler
	// Routes are the patterns for logs and metrics, such as "/dav/calendars/{user}/{calendar}/". A path that matches
	// none is "other".
	Routes []string
	// Base is the path prefix of the public address ("/cal"). The proxy may strip it or not.
	Base string
	// CheckOrigin makes the server handle CORS for a door that does not: it allows pages of Origins and refuses others.
	CheckOrigin bool
	Origins     []string
	// AnyOrigin reports which paths pages of every origin may read. Its handler answers their preflights itself. Nil
	// means none.
	AnyOrigin func(path string) bool
	// Plain doors use no TLS even if the others do.
	Plain bool
	// Stop, if set, ends the door's endless responses.
	Stop func()
	// MaxBody limits a request's body; the door may apply lower limits.
	MaxBody int64
	// OwnLimits reports whether the handler itself limits the body of a request and answers a larger one; nil: never.
	OwnLimits func(r *http.Request) bool
}

// Config holds the dependencies and settings of a Server.
type Config struct {
	Doors []Door
	// MetricsAddr is the address of the listener for /metrics; "" turns it off.
	MetricsAddr string
	// Tools counts tool calls; nil turns that off.
	Tools *ToolMeter
	// Tracer traces requests; nil turns that off.
	Tracer *trace.Tracer
	// Audit records each change; nil turns that off.
	Audit *Audit
	// Measures returns further values for /metrics, read on each request; may be nil.
	Measures func() []Measure
	// Ready reports whether requests can be served; its error is the response of /readyz.
	Ready func(context.Context) error
	// Sockets are listeners that another program opened, by door. They are used instead of the door's address.
	Sockets map[string]net.Listener
	// TLS configures TLS and HTTP/2; nil if a proxy terminates TLS.
	TLS *tls.Config
	// Proxies are the trusted senders of X-Forwarded-* and X-Request-Id.
	Proxies Proxies
	// Hosts are the server's public names, in addition to the machine's own.
	Hosts    []string
	Timeouts Timeouts
	Version  string
	Logger   *slog.Logger
	Now      func() time.Time
	NewID    func() string
}

// Server runs the listeners of one process.
type Server struct {
	config    Config
	metrics   *counters
	readiness readiness
	listeners []*listener
	// leaving is set once the server has been told to stop.
	leaving atomic.Bool
	// stopping is cancelled at shutdown, to end streams.
	stopping context.Context
	stop     context.CancelFunc

	mu sync.Mutex
	// stops end the doors' endless responses.
	stops []func()
}

type listener struct {
	name string
	net  net.Listener
	http *http.Server
	// answers is the current handler; Open replaces it.
	answers atomic.Pointer[http.Handler]
}

// ServeHTTP implements [http.Handler].
func (l *listener) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	(*l.answers.Load()).ServeHTTP(w, r)
}

// New makes a Server that does not listen yet.
func New(c Config) *Server {
	s := &Server{config: c, metrics: newCounters(c.Version, c.Now())}
	s.stopping, s.stop = context.WithCancel(context.Background())
	return s
}

// Listen binds all addresses, or none.
func (s *Server) Listen(ctx context.Context) error {
	for _, d := range s.config.Doors {
		if d.Handler == nil {
			d.Handler = http.HandlerFunc(s.starting)
		}
		secure := s.config.TLS
		if d.Plain {
			secure = nil
		}
		if err := s.listen(ctx, d.Name, d.Addr, s.handler(d), secure); err != nil {
			return err
		}
		s.mindStop(d)
	}
	if s.config.MetricsAddr == "" {
		return nil
	}
	return s.listen(ctx, "metrics", s.config.MetricsAddr, s.metricsHandler(), nil)
}

// Open sets the handlers of doors that had none, by name.
func (s *Server) Open(doors ...Door) {
	for _, d := range doors {
		i := slices.IndexFunc(s.listeners, func(l *listener) bool { return l.name == d.Name })
		h := s.handler(d)
		s.mindStop(d)
		s.listeners[i].answers.Store(&h)
	}
}

func (s *Server) mindStop(d Door) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if d.Stop != nil {
		s.stops = append(s.stops, d.Stop)
	}
}

func (s *Server) listen(ctx context.Context, name, addr string, h http.Handler, secure *tls.Config) error {
	l, given := s.config.Sockets[name]
	var err error
	if !given {
		l, err = new(net.ListenConfig).Listen(ctx, "tcp", addr)
	}
	if err != nil {
		for _, open := range s.listeners {
			_ = open.net.Close()
		}
		return fmt.Errorf("the %s door cannot listen: %w", name, err)
	}
	open := &listener{name: name, net: l}
	open.answers.Store(&h)
	open.http = s.httpServer(name, open)
	open.http.TLSConfig = secure.Clone() // nil stays nil
	s.listeners = append(s.listeners, open)
	return nil
}

func (s *Server) httpServer(name string, h http.Handler) *http.Server {
	return &http.Server{
		Handler:           h,
		ReadHeaderTimeout: s.config.Timeouts.Header,
		IdleTimeout:       s.config.Timeouts.Idle,
		MaxHeaderBytes:    maxHeaderBytes,
		ErrorLog:          log.New(complaints{s.config.Logger.With("door", name)}, "", 0),
	}
}

// Addr returns a door's address, or "" before Listen. The metrics listener's name is "metrics".
func (s *Server) Addr(name string) string {
	i := slices.IndexFunc(s.listeners, func(l *listener) bool { return l.name == name })
	if i < 0 {
		return ""
	}
	return s.listeners[i].net.Addr().String()
}

// Run serves until ctx ends, then waits for requests in flight. It returns an error if a listener fails, or if requests
// had to be cut off.
func (s *Server) Run(ctx context.Context) error {
	failed := make(chan error, len(s.listeners))
	for _, l := range s.listeners {
		go func() { failed <- l.serve() }()
	}
	var err error
	select {
	case err = <-failed:
	case <-ctx.Done():
		err = s.leave(ctx, failed)
	}
	return errors.Join(err, s.shutdown(ctx))
}

// leave keeps serving for a while with /readyz failing.
func (s *Server) leave(ctx context.Context, failed <-chan error) error {
	s.leaving.Store(true)
	if s.config.Timeouts.Leave <= 0 {
		return nil
	}
	s.config.Logger.InfoContext(ctx, "leaving", "for", s.config.Timeouts.Leave)
	timer := time.NewTimer(s.config.Timeouts.Leave)
	defer timer.Stop()
	select {
	case err := <-failed:
		return err
	case <-timer.C:
		return nil
	}
}

func (l *listener) serve() error {
	serve := l.http.Serve
	if l.http.TLSConfig != nil {
		serve = func(at net.Listener) error { return l.http.ServeTLS(at, "", "") }
	}
	if err := serve(l.net); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("the %s door stopped listening: %w", l.name, err)
	}
	return nil
}

// shutdown closes the listeners and waits for requests in flight; after Drain it closes their connections.
func (s *Server) shutdown(ctx context.Context) error {
	s.config.Logger.InfoContext(ctx, "stopping", "requests", s.metrics.inFlightNow())
	s.stop()
	s.mu.Lock()
	stops := s.stops
	s.mu.Unlock()
	for _, end := range stops {
		end()
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.config.Timeouts.Drain)
	defer cancel()
	errs := make([]error, len(s.listeners))
	var all sync.WaitGroup
	for i, l := range s.listeners {
		all.Go(func() { errs[i] = l.drain(ctx) })
	}
	all.Wait()
	return errors.Join(errs...)
}

func (l *listener) drain(ctx context.Context) error {
	err := l.http.Shutdown(ctx)
	if err == nil {
		return nil
	}
	return errors.Join(fmt.Errorf("the %s door had requests in flight that did not end in time: %w", l.name, err),
		l.http.Close())
}
