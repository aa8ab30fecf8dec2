package mirror

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"caldav-mcp-server/calendar"
)

// Ledger changes the calendars on this server.
type Ledger interface {
	CreateMirror(ctx context.Context, c calendar.Caller, n calendar.NewCalendar, m calendar.Mirror, o calendar.Origin) (calendar.Calendar, error)
	DeleteCalendar(ctx context.Context, c calendar.Caller, id calendar.CalendarID) error
	FillNote(ctx context.Context, c calendar.Caller, m calendar.Mirror, o calendar.Origin) error
	Follow(ctx context.Context, cal calendar.Calendar, m calendar.Mirror, name string, writable bool) error
	Arrive(ctx context.Context, cal calendar.Calendar, a calendar.Arrival) (calendar.Arrived, error)
	Overtaken(ctx context.Context, c calendar.Caller, cal calendar.Calendar, lost calendar.Outgoing) error
}

// Sealer encrypts secrets. Each secret is bound to one user's account.
type Sealer interface {
	Seal(secret []byte, user, account string) (sealed []byte, key string, err error)
	Open(sealed []byte, user, account string) ([]byte, error)
	// Present returns the id of the key that seals new secrets.
	Present() (string, error)
}

// Secret holds the credentials of an account. It is sealed as a whole, because an address can be secret too.
type Secret struct {
	URL      string `json:"url,omitempty"`
	Username string `json:"username,omitempty"`
	Password string `json:"password,omitempty"`
	// Token is the provider's own credential, such as an OAuth refresh token.
	Token json.RawMessage `json:"token,omitempty"`
	// Agreed is when the account's owner gave the secret; zero for secrets older than this field.
	Agreed time.Time `json:"agreed,omitzero"`
}

// Opening is the data that a provider needs to talk to an account.
type Opening struct {
	Secret Secret
	// Keep replaces the stored secret. Call it before the new secret is used: the old one may be spent, and without its
	// successor the account cannot be opened any more. [ErrRenewed] means that another process replaced it first.
	Keep func(ctx context.Context, next Secret) error
	// Kept reads the stored secret again, which may have changed; nil if the account is not linked yet.
	Kept func(ctx context.Context) (Secret, error)
}

// Provider implements a protocol.
type Provider struct {
	// Title is its display name.
	Title string
	// Every is the default interval between two syncs, Least the shortest that a user can choose.
	Every, Least time.Duration
	// Feed is set if an account is a single read-only calendar.
	Feed bool
	// Mail is set if an account has mail and no calendars, see [Mirror.Reach].
	Mail bool
	Open func(Opening) (Source, error)
	// Noted returns the feed URL that an app recorded in a calendar's dead properties when the app follows the feed
	// itself. It is nil for providers without such apps.
	Noted func([]calendar.DeadProperty) (url string, ok bool)
	// Address formats the account's address for users, without secrets.
	Address func(Secret) string
}

// Config holds the dependencies of a Mirror.
type Config struct {
	Store     calendar.Store
	Sealer    Sealer
	Providers map[string]Provider
	Now       func() time.Time
	NewID     func() string
	Logger    *slog.Logger
	// Task traces each sync of an account; nil for no tracing.
	Task calendar.Task
}

// Mirror keeps the linked calendars of all users.
type Mirror struct {
	Config
	ledger Ledger
	// holder names this process, holds counts its leases.
	holder func() string
	holds  atomic.Int64
	mu     sync.Mutex
	// held contains the names of the leases that this process holds, see hold.
	held map[string]chan struct{}
	// visiting counts the accounts that this process is syncing, by user, see enter.
	visiting map[calendar.UserID]int
}

// New creates a Mirror. Call [Mirror.Serve] before you use it.
func New(c Config) *Mirror {
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	c.Task = c.Task.OrNone()
	return &Mirror{Config: c, holder: sync.OnceValue(c.NewID), held: map[string]chan struct{}{}, visiting: map[calendar.UserID]int{}}
}

// Serve sets the ledger. It cannot be in the Config, because the ledger needs the Mirror.
func (m *Mirror) Serve(l Ledger) { m.ledger = l }

// open opens an account.
func (m *Mirror) open(a calendar.Account) (Source, Provider, error) {
	p, ok := m.Providers[a.Provider]
	if !ok || m.Sealer == nil {
		return nil, p, &Refusal{Why: fmt.Sprintf("this server is not set up for accounts of the kind %q", a.Provider)}
	}
	secret, err := m.unseal(a)
	if err != nil {
		return nil, p, err
	}
	source, err := p.Open(Opening{
		Secret: secret, Keep: func(ctx context.Context, next Secret) error { return m.keep(ctx, &a, next) },
		Kept: func(ctx context.Context) (Secret, error) { return m.kept(ctx, &a) },
	})
	return source, p, err
}

// kept reads the secret of an account again.
func (m *Mirror) kept(ctx context.Context, a *calendar.Account) (Secret, error) {
	now, err := m.Store.Account(ctx, a.ID)
	if err != nil {
		return Secret{}, err
	}
	s, err := m.unseal(now)
	if err == nil {
		a.Secret, a.Key = now.Secret, now.Key
	}
	return s, err
}

func (m *Mirror) unseal(a calendar.Account) (Secret, error) {
	var s Secret
	text, err := m.Sealer.Open(a.Secret, string(a.Owner), string(a.ID))
	if err != nil {
		return s, &Later{Why: "the account's secret cannot be decrypted: has the server's master key changed?", Cause: err}
	}
	if err := json.Unmarshal(text, &s); err != nil {
		return s, &Later{Why: "the account's secret cannot be read: link the account again", Cause: errors.New("it is not JSON")}
	}
	return s, nil
}

// keep seals a new secret for an account and stores it.
func (m *Mirror) keep(ctx context.Context, a *calendar.Account, next Secret) error {
	after := *a
	var err error
	if after.Secret, after.Key, err = m.seal(after, next); err != nil {
		return err
	}
	err = m.Store.SealAccount(context.WithoutCancel(ctx), after, a.Secret)
	if err != nil && calendar.ReasonOf(err) == calendar.Stale {
		return ErrRenewed
	}
	if err != nil {
		return err
	}
	*a = after
	return nil
}

func (m *Mirror) seal(a calendar.Account, s Secret) (sealed []byte, key string, err error) {
	text, err := json.Marshal(s) //nolint:gosec // it is sealed in the next line
	if err != nil {
		return nil, "", err
	}
	return m.Sealer.Seal(text, string(a.Owner), string(a.ID))
}

// Rotate seals again all secrets that are sealed with an old key. It returns how many it changed.
func (m *Mirror) Rotate(ctx context.Context) (int, error) {
	now, err := m.Sealer.Present()
	if err != nil {
		return 0, err
	}
	all, err := m.Store.Accounts(ctx, "")
	if err != nil {
		return 0, err
	}
	done := 0
	for _, a := range all {
		if a.Key == now {
			continue
		}
		text, err := m.Sealer.Open(a.Secret, string(a.Owner), string(a.ID))
		if err != nil {
			return done, fmt.Errorf("the account %s: %w", a.ID, err)
		}
		before := a.Secret
		if a.Secret, a.Key, err = m.Sealer.Seal(text, string(a.Owner), string(a.ID)); err != nil {
			return done, err
		}
		switch err := m.Store.SealAccount(ctx, a, before); {
		case err != nil && calendar.ReasonOf(err) == calendar.NotFound: // unlinked in the meantime
		case err != nil:
			return done, err
		default:
			done++
		}
	}
	return done, nil
}
