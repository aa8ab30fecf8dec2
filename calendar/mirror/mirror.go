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

// Ledger makes the changes of the calendars here.
type Ledger interface {
	CreateMirror(ctx context.Context, c calendar.Caller, n calendar.NewCalendar, m calendar.Mirror, o calendar.Origin) (calendar.Calendar, error)
	DeleteCalendar(ctx context.Context, c calendar.Caller, id calendar.CalendarID) error
	FillNote(ctx context.Context, c calendar.Caller, m calendar.Mirror, o calendar.Origin) error
	Follow(ctx context.Context, cal calendar.Calendar, m calendar.Mirror, name string, writable bool) error
	Arrive(ctx context.Context, cal calendar.Calendar, a calendar.Arrival) (calendar.Arrived, error)
	Overtaken(ctx context.Context, c calendar.Caller, cal calendar.Calendar, lost calendar.Outgoing) error
}

// Sealer keeps secrets: each is bound to a user's account.
type Sealer interface {
	Seal(secret []byte, user, account string) (sealed []byte, key string, err error)
	Open(sealed []byte, user, account string) ([]byte, error)
	// Present is the id of the key with which secrets are sealed now.
	Present() (string, error)
}

// Secret is what opens an account. It is sealed as a whole: an address can be a secret as well.
type Secret struct {
	URL      string `json:"url,omitempty"`
	Username string `json:"username,omitempty"`
	Password string `json:"password,omitempty"`
	// Token is what a provider keeps for itself: what it signs in with anew (OAuth).
	Token json.RawMessage `json:"token,omitempty"`
	// Agreed is when the account's owner gave it; zero for one that was given before this was kept.
	Agreed time.Time `json:"agreed,omitzero"`
}

// Opening is what a provider needs to speak to an account.
type Opening struct {
	Secret Secret
	// Keep seals another secret in the place of the present one, before anything is done with it: one that is used
	// up, and whose successor was lost, opens nothing any more. [ErrRenewed] says that somebody else has done so meanwhile.
	Keep func(ctx context.Context, next Secret) error
	// Kept reads the secret as it is by now, which may be another one; nil where the account is not linked yet.
	Kept func(ctx context.Context) (Secret, error)
}

// Provider speaks a protocol.
type Provider struct {
	// Title is what people call it.
	Title string
	// Every is how long there is between two looks unless the user or the source says otherwise; the least is Least.
	Every, Least time.Duration
	// Feed tells that it is one calendar, which is only read.
	Feed bool
	// Mail tells that it has mail to read, and no calendars: see [Mirror.Reach].
	Mail bool
	Open func(Opening) (Source, error)
	// Noted finds what an app noted of a feed that it follows by itself, among what is kept of its calendar; nil for providers of
	// which apps note nothing.
	Noted func([]calendar.DeadProperty) (url string, ok bool)
	// Address makes what people are shown of where the account is: nothing of it may be secret.
	Address func(Secret) string
}

// Config has the parts of a Mirror.
type Config struct {
	Store     calendar.Store
	Sealer    Sealer
	Providers map[string]Provider
	Now       func() time.Time
	NewID     func() string
	Logger    *slog.Logger
	// Task is told of each look at an account; nil where nobody wants to know.
	Task calendar.Task
}

// Mirror keeps the linked calendars of all users.
type Mirror struct {
	Config
	ledger Ledger
	// holder names this process, holds counts what it has held.
	holder func() string
	holds  atomic.Int64
	mu     sync.Mutex
	// held are the names of the leases that this process has of what it is at, see hold.
	held map[string]chan struct{}
	// visiting counts, by user, the accounts that this process speaks to, see enter.
	visiting map[calendar.UserID]int
}

// New makes a Mirror, which is of use once it has a ledger.
func New(c Config) *Mirror {
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	c.Task = c.Task.OrNone()
	return &Mirror{Config: c, holder: sync.OnceValue(c.NewID), held: map[string]chan struct{}{}, visiting: map[calendar.UserID]int{}}
}

// Serve gives it the ledger, which has the Mirror in turn.
func (m *Mirror) Serve(l Ledger) { m.ledger = l }

// open speaks to an account.
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

// kept reads the secret of an account anew.
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
		return s, &Later{Why: "the account's secret cannot be opened: is the server's master key the one that it was sealed with?", Cause: err}
	}
	if err := json.Unmarshal(text, &s); err != nil {
		return s, &Later{Why: "the account's secret cannot be read: link the account again", Cause: errors.New("it is no JSON")}
	}
	return s, nil
}

// keep seals the secret of an account anew.
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

// Rotate seals what is sealed with a former key with the present one, and tells how many those were.
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
		case err != nil && calendar.ReasonOf(err) == calendar.NotFound: // it was unlinked meanwhile
		case err != nil:
			return done, err
		default:
			done++
		}
	}
	return done, nil
}
