package auth

import (
	"context"
	"log/slog"
	"runtime"
	"time"

	"caldav-mcp-server/calendar"
)

// Limits bound what logins can make the program keep or compute.
type Limits struct {
	// RememberRight and RememberWrong are for how long a verdict on a credential is remembered.
	RememberRight, RememberWrong time.Duration
	// Credentials bounds how many verdicts of each kind are.
	Credentials int
	// Places is how many hashes are computed at once for strangers, and as many for who was right before.
	Places int
	// Line and KnownLine bound how many of either wait for a place.
	Line, KnownLine int
	// Wait bounds for how long they do.
	Wait time.Duration
	// PerAccount bounds wrong credentials for one account from one network, PerNetwork those from
	// one network, PerSite those from all networks that one subscriber of IPv6 may have.
	PerAccount, PerNetwork, PerSite Rate
	// Buckets bounds how many accounts and networks are counted.
	Buckets int
}

// DefaultLimits returns the limits that serve unless told otherwise. A single network or site cannot fill
// Line, since PerNetwork.Burst and PerSite.Burst are smaller.
func DefaultLimits() Limits {
	return Limits{
		RememberRight: 5 * time.Minute, RememberWrong: time.Minute, Credentials: 4096,
		// More places than cores make no hash ready sooner, and each takes its memory.
		Places: min(2, runtime.GOMAXPROCS(0)), Line: 64, KnownLine: 256, Wait: 3 * time.Second,
		PerAccount: Rate{Burst: 10, Every: 6 * time.Second},
		PerNetwork: Rate{Burst: 40, Every: time.Second},
		PerSite:    Rate{Burst: 60, Every: time.Second / 4},
		Buckets:    16384,
	}
}

// Config is what a Service is made of.
type Config struct {
	Store Store
	// Now is the clock.
	Now func() time.Time
	// NewID makes a random identifier (a UUID) for a new user.
	NewID  func() string
	Logger *slog.Logger
	Hasher Hasher
	Limits Limits
}

// Service knows who may log in, and who did.
type Service struct {
	store  Store
	now    func() time.Time
	newID  func() string
	log    *slog.Logger
	hasher Hasher
	decoy  Hash

	memory   *memory
	flights  *flights
	throttle *throttle
	// strangers and known are the gates before the hasher.
	strangers, known *gate
	uses             *uses
}

// New makes a Service. It starts nothing; see [Service.Run].
func New(c Config) *Service {
	l := c.Limits
	return &Service{
		store: c.Store, now: c.Now, newID: c.NewID, log: c.Logger, hasher: c.Hasher, decoy: c.Hasher.Decoy(),
		memory: newMemory(l), flights: newFlights(), throttle: newThrottle(c.Now, l),
		strangers: newGate(l.Line, l.Places, l.Wait), known: newGate(l.KnownLine, l.Places, l.Wait), uses: newUses(l.Credentials),
	}
}

// seconds is the time as the store keeps it.
func (s *Service) seconds() time.Time { return s.now().UTC().Truncate(time.Second) }

// hash makes the hash of a new password or secret.
func (s *Service) hash(ctx context.Context, secret string) (h Hash, err error) {
	err = s.known.do(ctx, func() error {
		h, err = s.hasher.Hash(secret)
		return err
	})
	return h, err
}

// check checks a secret when there is a place to.
func (s *Service) check(ctx context.Context, g *gate, secret string, h Hash) (c Check, err error) {
	err = g.do(ctx, func() error {
		c, err = s.hasher.Check(secret, h)
		return err
	})
	return c, err
}

// invalid is a refusal of something that a person entered.
func invalid(format string, args ...any) error {
	return calendar.Errorf(calendar.Invalid, "", format, args...)
}
