package oauth

import (
	"context"
	"fmt"
	"log/slog"
	"net/netip"
	"time"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
)

// Lifetimes.
const (
	// codeAge is short: codes end up in the browser's history and the client's log.
	codeAge = time.Minute
	// codeKept is how long a used code is remembered.
	codeKept   = time.Hour
	accessAge  = time.Hour
	refreshAge = 30 * 24 * time.Hour
	// grace is how long a used refresh token is accepted again: a response can be lost, and a client may renew from two
	// places at once. After it, a reused token counts as stolen.
	grace = 30 * time.Second
)

// Limits bound the work and storage that unauthenticated clients can cause.
type Limits struct {
	// Registrations, Tokens and Descriptions limit the requests of one site: client registrations, token requests and
	// fetched descriptions.
	Registrations, Tokens, Descriptions auth.Rate
	// Sites limits how many sites are tracked.
	Sites int
	// Fetches limits how many descriptions are fetched at once.
	Fetches int
	// Unused limits the life of a client that never got a grant, Idle the life of one without a valid grant. Most
	// limits the number of such clients of each kind, and Soon is the minimum time that each is kept.
	Unused, Idle, Soon time.Duration
	Most               int
}

// DefaultLimits returns the default limits. Hosts that serve many people send requests from few addresses.
func DefaultLimits() Limits {
	return Limits{
		Registrations: auth.Rate{Burst: 20, Every: 30 * time.Second},
		Tokens:        auth.Rate{Burst: 120, Every: time.Second / 2},
		Descriptions:  auth.Rate{Burst: 20, Every: 15 * time.Second},
		Sites:         8192, Fetches: 4,
		Unused: 24 * time.Hour, Idle: refreshAge, Soon: 15 * time.Minute, Most: 2000,
	}
}

// Config holds the dependencies and settings of a Service.
type Config struct {
	Store Store
	Now   func() time.Time
	// Fetch gets a client's description and its Cache-Control header. With nil, the server supports no described
	// clients.
	Fetch  func(ctx context.Context, address string) (body []byte, cacheControl string, err error)
	Limits Limits
	Logger *slog.Logger
}

// Service is an authorization server.
type Service struct {
	store  Store
	now    func() time.Time
	fetch  func(ctx context.Context, address string) (body []byte, cacheControl string, err error)
	limits Limits
	log    *slog.Logger

	registrations, tokens, descriptions *auth.Limiter
	// places limits concurrent fetches of descriptions.
	places chan struct{}
}

// New makes a Service.
func New(c Config) *Service {
	l := c.Limits
	return &Service{
		store: c.Store, now: c.Now, fetch: c.Fetch, limits: l, log: c.Logger,
		registrations: auth.NewLimiter(c.Now, l.Registrations, l.Sites),
		tokens:        auth.NewLimiter(c.Now, l.Tokens, l.Sites),
		descriptions:  auth.NewLimiter(c.Now, l.Descriptions, l.Sites), places: make(chan struct{}, l.Fetches),
	}
}

// Site holds the server's addresses as the caller reaches them.
type Site struct {
	// Issuer is the authorization server's issuer identifier (RFC 8414); Resource is the address of the MCP endpoint.
	Issuer   string
	Resource auth.Resource
}

// seconds returns the current time at the store's resolution.
func (s *Service) seconds() time.Time { return s.now().UTC().Truncate(time.Second) }

// pay counts one unauthenticated request against its limit.
func pay(l *auth.Limiter, from netip.Addr) error {
	if wait := l.Take(from); wait > 0 {
		return &Error{Code: Later, What: "too many requests from where you are", RetryAfter: wait}
	}
	return nil
}

// missing reports whether the store returned NotFound. Other errors are internal.
func missing(err error) bool { return err != nil && calendar.ReasonOf(err) == calendar.NotFound }

// known returns a client from the store. A description need not be fresh to use existing grants.
func (s *Service) known(ctx context.Context, id auth.ClientID) (Client, error) {
	if id == "" {
		return Client{}, fault(InvalidClient, "client_id is missing")
	}
	if len(id) > maxAddress {
		return Client{}, errNoClient(id)
	}
	c, err := s.store.Client(ctx, id)
	switch {
	case missing(err):
		return Client{}, errNoClient(id)
	case err != nil:
		return Client{}, fmt.Errorf("looking up the client: %w", err)
	}
	return c, nil
}

func errNoClient(id auth.ClientID) error {
	return fault(InvalidClient, "there is no client %q here: register again", brief(string(id)))
}

// Clients returns all clients.
func (s *Service) Clients(ctx context.Context) ([]Client, error) {
	all, err := s.store.Clients(ctx)
	if err != nil {
		return nil, fmt.Errorf("listing clients: %w", err)
	}
	return all, nil
}

// RemoveClient deletes a client and ends its grants at once, in every process.
func (s *Service) RemoveClient(ctx context.Context, id auth.ClientID) error {
	if err := s.store.DropClient(ctx, id, s.seconds()); err != nil {
		return fmt.Errorf("removing the client: %w", err)
	}
	return nil
}

// Describes reports whether described clients are supported.
func (s *Service) Describes() bool { return s.fetch != nil }
