package auth

import (
	"context"
	"crypto/cipher"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"caldav-mcp-server/calendar"
)

// Limits bound what logins can make the program keep or compute.
type Limits struct {
	// RememberWrong is for how long a credential is remembered that was wrong. One that was right is for as long
	// as none of its user's changes.
	RememberWrong time.Duration
	// Credentials bounds how many of each kind are: about 700 bytes each.
	Credentials int
	// Places is how many hashes are computed at once for strangers, and as many for proven callers. OnePlace has
	// both wait for one.
	Places   int
	OnePlace bool
	// Line and KnownLine bound how many of either wait for a place.
	Line, KnownLine int
	// Wait bounds for how long they do.
	Wait time.Duration
	// PerAccount bounds wrong credentials for one account from one network, PerNetwork those from
	// one network, PerSite those from all networks that one subscriber of IPv6 may have.
	PerAccount, PerNetwork, PerSite Rate
	// PerSecondStep bounds wrong codes of one user, from wherever they come.
	PerSecondStep Rate
	// PerReturn bounds how often one site comes back from another service, which is asked each time.
	PerReturn Rate
	// Buckets bounds how many accounts and networks are counted.
	Buckets int
}

// Small returns the limits for a process that may have little memory: one hash at a time, 19 MiB, where there would be
// four, and fewer credentials that are remembered.
func (l Limits) Small() Limits {
	l.OnePlace, l.Credentials, l.Buckets = true, 4096, 4096
	return l
}

// DefaultLimits returns the limits that serve unless told otherwise. A single network or site cannot fill
// Line, since PerNetwork.Burst and PerSite.Burst are smaller.
func DefaultLimits() Limits {
	return Limits{
		// Two apps of each of 16,000 people.
		RememberWrong: time.Minute, Credentials: 32768,
		// More places than cores make no hash ready sooner, and each takes its memory.
		Places: min(2, runtime.GOMAXPROCS(0)), Line: 64, KnownLine: 256, Wait: 3 * time.Second,
		PerAccount: Rate{Burst: 10, Every: 6 * time.Second},
		PerNetwork: Rate{Burst: 40, Every: time.Second},
		PerSite:    Rate{Burst: 60, Every: time.Second / 4},
		// 1,440 guesses a day, of each of which three codes in a million would be right.
		PerSecondStep: Rate{Burst: 6, Every: time.Minute},
		PerReturn:     Rate{Burst: 40, Every: 3 * time.Second},
		Buckets:       16384,
	}
}

// Config has the parts and settings of a Service.
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

// Service knows the users, and their sessions and credentials.
type Service struct {
	store  Store
	now    func() time.Time
	newID  func() string
	log    *slog.Logger
	hasher Hasher
	decoy  Hash

	sealer *sealer
	// hashed and busy are for Load.
	hashed, busy atomic.Uint64
	memory       *memory
	flights      *flights
	throttle     *throttle
	// strangers and known are the gates before the hasher.
	strangers, known *gate
	uses             *uses
	// returns counts who comes back from another service.
	returns *Limiter
	// box seals parcels, once its key is known.
	box atomic.Pointer[cipher.AEAD]
}

// New makes a Service. It starts nothing; see [Service.Run].
func New(c Config) *Service {
	l := c.Limits
	strangers, known := newGate(l.Line, l.Places, l.Wait), newGate(l.KnownLine, l.Places, l.Wait)
	if l.OnePlace {
		strangers.places = make(chan struct{}, 1)
		known.places = strangers.places
	}
	return &Service{
		store: c.Store, now: c.Now, newID: c.NewID, log: c.Logger, hasher: c.Hasher, decoy: c.Hasher.Decoy(),
		sealer: &sealer{store: c.Store}, memory: newMemory(l), flights: newFlights(), throttle: newThrottle(c.Now, l),
		strangers: strangers, known: known, uses: newUses(l.Credentials), returns: NewLimiter(c.Now, l.PerReturn, l.Buckets),
	}
}

// seconds is the time as the store keeps it.
func (s *Service) seconds() time.Time { return s.now().UTC().Truncate(time.Second) }

// hash makes the hash of a new password or secret.
func (s *Service) hash(ctx context.Context, secret string) (h Hash, err error) {
	err = s.known.do(ctx, 0, func() error {
		h, err = s.hasher.Hash(secret)
		return err
	})
	return h, err
}

// Load is how much logging in costs just now.
type Load struct {
	// Hashing are the hashes that are being computed, Waiting the logins that wait for a place.
	Hashing, Waiting int
	// Hashed counts all hashes that were checked, Busy the logins that were sent away since too many waited.
	Hashed, Busy uint64
}

// Load returns it.
func (s *Service) Load() Load {
	l := Load{Hashed: s.hashed.Load(), Busy: s.busy.Load()}
	for _, g := range []*gate{s.strangers, s.known} {
		l.Waiting += g.waiting()
		l.Hashing += len(g.places)
	}
	if s.known.places == s.strangers.places {
		l.Hashing = len(s.known.places)
	}
	return l
}

// check checks a secret when there is a place to.
func (s *Service) check(ctx context.Context, g *gate, rank int, secret string, h Hash) (c Check, err error) {
	defer func() {
		if err != nil && calendar.ReasonOf(err) == calendar.Unavailable {
			s.busy.Add(1)
		}
	}()
	err = g.do(ctx, rank, func() error {
		s.hashed.Add(1)
		c, err = s.hasher.Check(secret, h)
		return err
	})
	return c, err
}

// during says what was being done when an error came; without one there is nothing to say.
func during(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", what, err)
}

// reworded says an error of one reason in words for people; any other stays as it is.
func reworded(err error, r calendar.Reason, format string, args ...any) error {
	if err != nil && calendar.ReasonOf(err) == r {
		return calendar.Errorf(r, "", format, args...)
	}
	return err
}

// living are those that are good at a time.
func living[T any](all []T, good func(T, time.Time) bool, at time.Time) []T {
	return slices.DeleteFunc(all, func(one T) bool { return !good(one, at) })
}

// invalid is a refusal of something that a person entered.
func invalid(format string, args ...any) error {
	return calendar.Errorf(calendar.Invalid, "", format, args...)
}
