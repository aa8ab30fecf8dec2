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

// How long things are good for.
const (
	// codeAge is short: a code goes through the browser's history and the client's log.
	codeAge = time.Minute
	// codeKept is how long it is known what became of one.
	codeKept   = time.Hour
	accessAge  = time.Hour
	refreshAge = 30 * 24 * time.Hour
	// grace is how long a refresh token may be shown again: an answer can be lost, and a client may
	// renew in two places at once. Later than that it is taken for stolen.
	grace = 30 * time.Second
)

// Limits bound what strangers can make the service do or keep.
type Limits struct {
	// Registrations, Tokens and Descriptions are how often one site may register a client, ask at the
	// token endpoint, and have a description fetched.
	Registrations, Tokens, Descriptions auth.Rate
	// Sites is how many sites are counted.
	Sites int
	// Fetches is how many descriptions are fetched at once.
	Fetches int
	// Unused and Idle are how long a client is kept that never got anything, or nothing any more;
	// Most is how many such there are of a kind, and Soon how long one is kept at least.
	Unused, Idle, Soon time.Duration
	Most               int
}

// DefaultLimits returns the limits that serve unless told otherwise. Hosts that serve many people ask from few
// addresses.
func DefaultLimits() Limits {
	return Limits{
		Registrations: auth.Rate{Burst: 20, Every: 30 * time.Second},
		Tokens:        auth.Rate{Burst: 120, Every: time.Second / 2},
		Descriptions:  auth.Rate{Burst: 20, Every: 15 * time.Second},
		Sites:         8192, Fetches: 4,
		Unused: 24 * time.Hour, Idle: refreshAge, Soon: 15 * time.Minute, Most: 2000,
	}
}

// Config has the parts and settings of a Service.
type Config struct {
	Store Store
	Now   func() time.Time
	// Fetch gets a client's description, and what the answer says of how long it holds (Cache-Control). Nil is for a
	// server that asks nobody.
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
	// places bound the descriptions that are fetched at once.
	places chan struct{}
}

// New makes a Service.
func New(c Config) *Service {
	l := c.Limits
	return &Service{
		store: c.Store, now: c.Now, fetch: c.Fetch, limits: l, log: c.Logger,
		registrations: auth.NewLimiter(c.Now, l.Registrations, l.Sites), tokens: auth.NewLimiter(c.Now, l.Tokens, l.Sites),
		descriptions: auth.NewLimiter(c.Now, l.Descriptions, l.Sites), places: make(chan struct{}, l.Fetches),
	}
}

// Site holds the addresses by which a caller reaches the server.
type Site struct {
	// Issuer is the authorization server's address (RFC 8414), Resource that of the MCP endpoint.
	Issuer   string
	Resource auth.Resource
}

// seconds is the time as the store keeps it.
func (s *Service) seconds() time.Time { return s.now().UTC().Truncate(time.Second) }

// pay counts one request of a stranger.
func pay(l *auth.Limiter, from netip.Addr) error {
	if wait := l.Take(from); wait > 0 {
		return &Error{Code: Later, What: "too many requests from where you are", RetryAfter: wait}
	}
	return nil
}

// missing tells whether the store has no such thing; any other error is one that nobody is told.
func missing(err error) bool { return err != nil && calendar.ReasonOf(err) == calendar.NotFound }

// known returns a client as the store knows it: a description need not be looked at again for what its
// client got before.
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

// RemoveClient forgets a client and ends its grants at once, in every process.
func (s *Service) RemoveClient(ctx context.Context, id auth.ClientID) error {
	if err := s.store.DropClient(ctx, id, s.seconds()); err != nil {
		return fmt.Errorf("removing the client: %w", err)
	}
	return nil
}

// Describes tells whether clients may describe themselves.
func (s *Service) Describes() bool { return s.fetch != nil }
