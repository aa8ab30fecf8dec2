// Package server carries the doors: it listens, names and logs requests, bounds what a client can
// take of the machine, counts, tells whether the program is well, and stops without cutting anybody off.
//
// It knows nothing of calendars. A door is an [http.Handler] with a name and an address.
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

// Timeouts bound how long a client may keep us waiting.
type Timeouts struct {
	// Header is the time to send a request's head.
	Header time.Duration
	// Idle is how long a connection is kept without a request.
	Idle time.Duration
	// Stall is how long a body may stop, on its way in or out, before the connection is closed.
	Stall time.Duration
	// Body is the time to send a whole body, however steadily it trickles.
	Body time.Duration
	// Leave is how long the server goes on as before after it was told to stop, and says that it is not ready:
	// a load balancer needs as long to notice.
	Leave time.Duration
	// Drain is how long a stop then waits for requests in flight.
	Drain time.Duration
}

// DefaultTimeouts returns the timeouts that apply unless told otherwise.
func DefaultTimeouts() Timeouts {
	return Timeouts{
		Header: 10 * time.Second,
		Idle:   2 * time.Minute,
		Stall:  30 * time.Second,
		Body:   5 * time.Minute,
		// Container engines kill what has not stopped after ten seconds.
		Drain: 8 * time.Second,
	}
}

// maxHeaderBytes bounds the head of a request. Tokens, cookies of a proxy and a long list of
// If-Match tags fit many times.
const maxHeaderBytes = 64 << 10

// Door is one listener and its handler.
type Door struct {
	// Name stands in logs and metrics.
	Name string
	// Addr is host:port; port 0 takes a free one.
	Addr string
	// Handler may be nil until [Server.Open]: the door then says that the server is starting.
	Handler http.Handler
	// Routes are the patterns that requests are logged and counted under, such as
	// "/dav/calendars/{user}/{calendar}/". A path that matches none is "other".
	Routes []string
	// Base is the path under which a proxy publishes the door ("/cal"), whether the proxy takes
	// it away or not.
	Base string
	// CheckOrigin makes the server refuse foreign web pages and answer those of Origins, for a door
	// that does not do so itself.
	CheckOrigin bool
	Origins     []string
	// AnyOrigin tells which paths every page may read, and answers them itself; nil for none.
	AnyOrigin func(path string) bool
	// Plain doors speak no TLS where the others do.
	Plain bool
	// Stop, if there is one, ends those answers of the door's that would never end by themselves.
	Stop func()
	// MaxBody is the most that a request's body may have; the door's own, finer limits come after.
	MaxBody int64
}

// Config has the parts and settings of a Server.
type Config struct {
	Doors []Door
	// MetricsAddr is where /metrics is served, on a listener of its own; "" for nowhere.
	MetricsAddr string
	// Tools counts the calls of assistants; nil where there are none.
	Tools *ToolMeter
	// Tracer notes the parts of requests; nil where nobody wants to know.
	Tracer *trace.Tracer
	// Audit has a line for each change; nil for none.
	Audit *Audit
	// Measures are further numbers for /metrics, asked for with each request; nil for nothing.
	Measures func() []Measure
	// Ready tells whether requests can be answered; its error is the answer of /readyz.
	Ready func(context.Context) error
	// TLS is how the doors speak it, with HTTP/2; nil for doors behind a proxy that does.
	TLS *tls.Config
	// Proxies are the peers whose X-Forwarded-* and X-Request-Id are believed.
	Proxies Proxies
	// Hosts are the names that the server is reached by, beside those of the machine itself.
	Hosts    []string
	Timeouts Timeouts
	Version  string
	Logger   *slog.Logger
	Now      func() time.Time
	NewID    func() string
}

// Server is the listeners of one process.
type Server struct {
	config    Config
	metrics   *counters
	readiness readiness
	listeners []*listener
	// leaving is set from when the server was told to stop.
	leaving atomic.Bool
	// stopping ends the streams that would otherwise keep a stop waiting.
	stopping context.Context
	stop     context.CancelFunc

	mu sync.Mutex
	// stops end the doors' answers that would never end by themselves.
	stops []func()
}

type listener struct {
	name string
	net  net.Listener
	http *http.Server
	// answers is the handler: another one after Open.
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

// Listen takes all addresses, or none.
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

// Open lets doors answer that could not when the server began to listen. They are known by their names.
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
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if err != nil {
		for _, open := range s.listeners {
			_ = open.net.Close()
		}
		return fmt.Errorf("the %s door cannot listen: %w", name, err)
	}
	open := &listener{name: name, net: l}
	open.answers.Store(&h)
	open.http = s.httpServer(name, open)
	open.http.TLSConfig = secure.Clone() // nil of nil
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

// Addr returns the address that a door listens at, or "" before Listen. The metrics
// listener's name is "metrics".
func (s *Server) Addr(name string) string {
	i := slices.IndexFunc(s.listeners, func(l *listener) bool { return l.name == name })
	if i < 0 {
		return ""
	}
	return s.listeners[i].net.Addr().String()
}

// Run serves until ctx ends, then finishes what is in flight. It returns an error when a
// listener fails, or when requests had to be cut off.
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

// leave goes on for a while, and says that the server is not ready.
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

// shutdown closes the listeners and waits for the requests in flight; after the time for that
// it closes their connections.
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
	return errors.Join(fmt.Errorf("the %s door had requests in flight that did not end in time: %w", l.name, err), l.http.Close())
}
