package mirror

import (
	"context"
	"log/slog"
	"time"

	"caldav-mcp-server/calendar"
)

// Ledger changes the calendars on this server.
type Ledger interface {
	CreateMirror(
		ctx context.Context, c calendar.Caller, n calendar.NewCalendar, m calendar.Mirror, o calendar.Origin,
	) (calendar.Calendar, error)
	DeleteCalendar(ctx context.Context, c calendar.Caller, id calendar.CalendarID) error
	RestoreCalendar(
		ctx context.Context, c calendar.Caller, id calendar.CalendarID, as calendar.Segment,
	) (calendar.RestoredCalendar, error)
	FillNote(ctx context.Context, c calendar.Caller, m calendar.Mirror, o calendar.Origin) error
	Follow(ctx context.Context, cal calendar.Calendar, m calendar.Mirror, name string, from calendar.Origin) error
	Arrive(ctx context.Context, cal calendar.Calendar, a calendar.Arrival) (calendar.Arrived, error)
	Overtaken(ctx context.Context, c calendar.Caller, cal calendar.Calendar, lost calendar.Outgoing) error
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
	// Notifies is set if the provider notifies the attendees of events that are written to it.
	Notifies bool
	// Feed is set if an account is a single read-only calendar.
	Feed bool
	// Budget limits the work that one user's accounts may cause in a day, in bytes; 0 means no limit. See budgets.
	Budget int64
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
	*leaseHolder
	*secretKeeper
	*refreshes
	budgets
	ledger Ledger
}

// New creates a Mirror. Call [Mirror.Serve] before you use it.
func New(c Config) *Mirror {
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	c.Task = c.Task.OrNone()
	m := &Mirror{Config: c, leaseHolder: newLeaseHolder(c), refreshes: newRefreshes()}
	m.secretKeeper = &secretKeeper{&m.Config}
	return m
}

// Serve sets the ledger. It cannot be in the Config, because the ledger needs the Mirror.
func (m *Mirror) Serve(l Ledger) { m.ledger = l }

// open opens an account.
func (m *Mirror) open(a calendar.Account) (Source, Provider, error) {
	p, ok := m.Providers[a.Provider]
	if !ok || m.Sealer == nil {
		return nil, p, Refusef("this server is not set up for accounts of the kind %q", a.Provider)
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
