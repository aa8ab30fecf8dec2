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

// Limits bound the memory and computing time that logins can use.
type Limits struct {
	// RememberWrong is how long a wrong credential stays cached. A right one stays until the user's credentials change.
	RememberWrong time.Duration
	// Credentials limits the cached credentials of each kind: about 700 bytes each.
	Credentials int
	// Places is how many hashes are computed at once for strangers, and as many again for known callers. With OnePlace,
	// both share a single place.
	Places   int
	OnePlace bool
	// Line and KnownLine limit how many strangers and known callers wait for a place.
	Line, KnownLine int
	// Wait limits how long they wait.
	Wait time.Duration
	// PerAccount limits wrong credentials for one account from one network, and PerNetwork for all accounts from one
	// network. PerSite covers all networks that one IPv6 subscriber may have.
	PerAccount, PerNetwork, PerSite Rate
	// PerSecondStep limits a user's wrong codes, from any address.
	PerSecondStep Rate
	// PerReturn limits how often one site returns from an identity provider, since each return causes a request to it.
	PerReturn Rate
	// PerReset limits the requests for a new password: of one site, and for one name.
	PerReset Rate
	// PerAppLogin limits how often the apps of one site ask for a password of their own.
	PerAppLogin Rate
	// Buckets limits how many accounts and networks are tracked.
	Buckets int
}

// Small returns limits for a process with little memory. It computes one hash (19 MiB) at a time instead of up to four,
// and it caches fewer credentials.
func (l Limits) Small() Limits {
	l.OnePlace, l.Credentials, l.Buckets = true, 4096, 4096
	return l
}

// DefaultLimits returns the default limits. A single network or site cannot fill Line, since PerNetwork.Burst and
// PerSite.Burst are smaller.
func DefaultLimits() Limits {
	return Limits{
		// Two apps each for 16,000 people.
		RememberWrong: time.Minute, Credentials: 32768,
		// More places than cores make no hash faster, and each place takes its memory.
		Places: min(2, runtime.GOMAXPROCS(0)), Line: 64, KnownLine: 256, Wait: 3 * time.Second,
		PerAccount: Rate{Burst: 10, Every: 6 * time.Second},
		PerNetwork: Rate{Burst: 40, Every: time.Second},
		PerSite:    Rate{Burst: 60, Every: time.Second / 4},
		// 1,440 guesses a day; three codes in a million are right at any time.
		PerSecondStep: Rate{Burst: 6, Every: time.Minute},
		PerReturn:     Rate{Burst: 40, Every: 3 * time.Second},
		PerReset:      Rate{Burst: 5, Every: 10 * time.Minute},
		PerAppLogin:   Rate{Burst: 40, Every: 10 * time.Second},
		Buckets:       16384,
	}
}

// Config holds the dependencies and settings of a Service.
type Config struct {
	Store Store
	// Now returns the current time.
	Now func() time.Time
	// NewID generates an id (a UUID) for a new user.
	NewID  func() string
	Logger *slog.Logger
	Hasher Hasher
	Limits Limits
	// NoBasicPasswords refuses the passwords of users to programs; app passwords still work.
	NoBasicPasswords bool
}

// Service authenticates users and manages their sessions and credentials. Each part has its own file or files.
type Service struct {
	*Verifier
	*Directory
	*TokenIssuer
	*SessionManager
	*SignInFlow
}

// records is the part that all have: the store, and the clock.
type records struct {
	store Store
	now   func() time.Time
}

// Verifier authenticates the requests of programs: it checks passwords, tokens and access tokens, and throttles
// guesses.
type Verifier struct {
	records
	log    *slog.Logger
	hasher Hasher
	decoy  Hash

	sealer *sealer
	// hashed and busy are for Load.
	hashed, busy atomic.Uint64
	memory       *memory
	flights      *flights
	throttle     *throttle
	// strangers and known are the gates in front of the hasher.
	strangers, known *gate
	uses             *uses
	// noPasswords is Config.NoBasicPasswords.
	noPasswords bool
}

// Directory manages users, their addresses and groups, and the links by which users choose a password.
type Directory struct {
	records
	newID    func() string
	verifier *Verifier
	sessions *SessionManager
}

// TokenIssuer issues, lists and revokes tokens and the links to calendars.
type TokenIssuer struct {
	records
	verifier  *Verifier
	directory *Directory
}

// SessionManager opens and ends the sessions of browsers.
type SessionManager struct {
	records
	uses *uses
}

// SignInFlow signs people in, step by step, and manages what they sign in with: codes, passkeys and accounts at
// identity providers.
type SignInFlow struct {
	records
	log       *slog.Logger
	verifier  *Verifier
	directory *Directory
	sessions  *SessionManager
	// returns limits returns from an identity provider, by address.
	returns *Limiter
	// resets limits requests for a new password, by address.
	resets *Limiter
	// appLogins limits the requests of apps for a password, by address.
	appLogins *Limiter
	// box seals sealed states; nil until the key has been read.
	box atomic.Pointer[cipher.AEAD]
}

// New makes a Service. It starts no goroutine; see [Verifier.Run].
func New(c Config) *Service {
	l, r := c.Limits, records{c.Store, c.Now}
	strangers, known := newGate(l.Line, l.Places, l.Wait), newGate(l.KnownLine, l.Places, l.Wait)
	if l.OnePlace {
		strangers.places = make(chan struct{}, 1)
		known.places = strangers.places
	}
	v := &Verifier{
		records: r, log: c.Logger, hasher: c.Hasher, decoy: c.Hasher.Decoy(),
		sealer: &sealer{store: c.Store}, memory: newMemory(l), flights: newFlights(), throttle: newThrottle(c.Now, l),
		strangers: strangers, known: known, uses: newUses(l.Credentials), noPasswords: c.NoBasicPasswords,
	}
	sessions := &SessionManager{records: r, uses: v.uses}
	d := &Directory{records: r, newID: c.NewID, verifier: v, sessions: sessions}
	return &Service{
		Verifier: v, Directory: d, SessionManager: sessions,
		TokenIssuer: &TokenIssuer{records: r, verifier: v, directory: d},
		SignInFlow: &SignInFlow{
			records: r, log: c.Logger, verifier: v, directory: d, sessions: sessions,
			returns:   NewLimiter(c.Now, l.PerReturn, l.Buckets),
			resets:    NewLimiter(c.Now, l.PerReset, l.Buckets),
			appLogins: NewLimiter(c.Now, l.PerAppLogin, l.Buckets),
		},
	}
}

// seconds returns the current time at the store's resolution.
func (r records) seconds() time.Time { return r.now().UTC().Truncate(time.Second) }

// hash computes the hash of a new password or secret.
func (s *Verifier) hash(ctx context.Context, secret string) (h Hash, err error) {
	err = s.known.do(ctx, 0, func() error {
		h, err = s.hasher.Hash(secret)
		return err
	})
	return h, err
}

// Load is the present cost of logins.
type Load struct {
	// Hashing counts the hashes in progress, Waiting the logins that wait for a place.
	Hashing, Waiting int
	// Hashed counts all hashes checked so far, Busy the logins refused because too many waited.
	Hashed, Busy uint64
}

// Load returns the present load.
func (s *Verifier) Load() Load {
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

// check compares a secret with a hash, once the gate has a place.
func (s *Verifier) check(ctx context.Context, g *gate, rank int, secret string, h Hash) (c Check, err error) {
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

// during wraps an error with the action that failed; nil stays nil.
func during(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", what, err)
}

// reworded replaces the text of an error of the given reason with one for people. Other errors stay unchanged.
func reworded(err error, r calendar.Reason, format string, args ...any) error {
	if err != nil && calendar.ReasonOf(err) == r {
		return calendar.Errorf(r, "", format, args...)
	}
	return err
}

// living keeps the elements that are good at the given time.
func living[T any](all []T, good func(T, time.Time) bool, at time.Time) []T {
	return slices.DeleteFunc(all, func(one T) bool { return !good(one, at) })
}

// invalid refuses a person's input.
func invalid(format string, args ...any) error {
	return calendar.Errorf(calendar.Invalid, "", format, args...)
}
