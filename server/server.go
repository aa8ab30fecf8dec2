// Package server carries the doors: it listens, names and logs requests, bounds what a client can
// take of the machine, counts, tells whether the program is well, and stops without cutting anybody off.
//
// It knows nothing of calendars. A door is an [http.Handler] with a name and an address.
package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"
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
	// Drain is how long a stop waits for requests in flight.
	Drain time.Duration
}

// DefaultTimeouts returns what serves unless told otherwise.
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

// Door is one listener and who answers there.
type Door struct {
	// Name stands in logs and metrics.
	Name string
	// Addr is host:port; port 0 takes a free one.
	Addr    string
	Handler http.Handler
	// Routes are the patterns that requests are logged and counted under, such as
	// "/dav/calendars/{user}/{calendar}/". What matches none is "other".
	Routes []string
	// Base is the path under which a proxy publishes the door ("/cal"), whether the proxy takes
	// it away or not.
	Base string
	// CheckOrigin makes the server refuse foreign web pages and answer those of Origins, for a door
	// that does not do so itself.
	CheckOrigin bool
	Origins     []string
	// Stop, if there is one, ends those answers of the door's that would never end by themselves.
	Stop func()
	// MaxBody is the most that a request's body may have; the door's own, finer limits come after.
	MaxBody int64
}

// Config is what a Server is made of.
type Config struct {
	Doors []Door
	// MetricsAddr is where /metrics is served, on a listener of its own; "" for nowhere.
	MetricsAddr string
	// Tools counts what assistants do; nil where there are none.
	Tools *ToolMeter
	// Ready tells whether requests can be answered; its error is shown to whoever asks /readyz.
	Ready func(context.Context) error
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
	// stopping ends the streams that would otherwise keep a stop waiting.
	stopping context.Context
	stop     context.CancelFunc
}

type listener struct {
	name string
	net  net.Listener
	http *http.Server
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
		if err := s.listen(ctx, d.Name, d.Addr, s.handler(d)); err != nil {
			return err
		}
	}
	if s.config.MetricsAddr == "" {
		return nil
	}
	return s.listen(ctx, "metrics", s.config.MetricsAddr, s.metricsHandler())
}

func (s *Server) listen(ctx context.Context, name, addr string, h http.Handler) error {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if err != nil {
		for _, open := range s.listeners {
			_ = open.net.Close()
		}
		return fmt.Errorf("the %s door cannot listen: %w", name, err)
	}
	s.listeners = append(s.listeners, &listener{name: name, net: l, http: s.httpServer(name, h)})
	return nil
}

func (s *Server) httpServer(name string, h http.Handler) *http.Server {
	return &http.Server{
		Handler:           h,
		ReadHeaderTimeout: s.config.Timeouts.Header,
		IdleTimeout:       s.config.Timeouts.Idle,
		MaxHeaderBytes:    maxHeaderBytes,
		// What net/http complains about is mostly strangers' broken requests.
		ErrorLog: slog.NewLogLogger(s.config.Logger.With("door", name).Handler(), slog.LevelDebug),
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
	}
	return errors.Join(err, s.shutdown(ctx))
}

func (l *listener) serve() error {
	if err := l.http.Serve(l.net); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("the %s door stopped listening: %w", l.name, err)
	}
	return nil
}

// shutdown closes the listeners and waits for the requests in flight; after the time for that
// it closes their connections.
func (s *Server) shutdown(ctx context.Context) error {
	s.config.Logger.InfoContext(ctx, "stopping", "requests", s.metrics.inFlightNow())
	s.stop()
	for _, d := range s.config.Doors {
		if d.Stop != nil {
			d.Stop()
		}
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
