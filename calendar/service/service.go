// Package service combines reads, writes and notifications for the CalDAV server, the MCP server and the command
// line.
package service

import (
	"context"
	"log/slog"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/ledger"
	"caldav-mcp-server/calendar/lookup"
	"caldav-mcp-server/calendar/mirror"
	"caldav-mcp-server/calendar/query"
	"caldav-mcp-server/calendar/watch"
	"caldav-mcp-server/calendar/zone"
)

// Service is everything that a protocol may do with calendars. Its methods authorize the caller themselves, so a
// protocol cannot forget to.
type Service struct {
	*lookup.Reader
	*ledger.Ledger
	*query.Queries
	*watch.Hub
	// Mirrors handles the linked accounts; without providers users cannot link any.
	Mirrors *mirror.Mirror
	limits  calendar.Limits
}

// Config is the configuration of a Service.
type Config struct {
	Store  calendar.Store
	Limits calendar.Limits
	// Now returns the current time.
	Now func() time.Time
	// NewID returns a random identifier (a UUID).
	NewID func() string
	// Policy is the initial policy.
	calendar.Policy
	// Home is the server's public URL; "" if unknown.
	Home string
	// Mailed is set if a process mails the outbox; see [ledger.Config].
	Mailed bool
	// Providers access linked accounts, Sealer encrypts their secrets; nil if users cannot link accounts.
	Providers map[string]mirror.Provider
	Sealer    mirror.Sealer
	Logger    *slog.Logger
	// Task reports background work, and work on other servers; it may be nil.
	Task calendar.Task
	// Changed is called after a change with its id in the journal; it may be nil.
	Changed func(context.Context, calendar.ChangeID)
	// Sendable returns the reason why the server sends no messages to an address, for the user who supplied it; nil
	// permits every https address.
	Sendable func(ctx context.Context, address string) error
	// ImageBytes is the approximate memory for cached calendars; 0 disables the cache.
	ImageBytes int64
	// AnswerBytes is the approximate memory for all requests in progress; 0 is the default.
	AnswerBytes int64
}

// New creates a Service.
func New(c Config) *Service {
	reader, zones := lookup.NewReader(c.Store, c.Policy, c.Home), zone.NewDB()
	queries := query.New(query.Config{
		Reader: reader, Store: c.Store, Limits: c.Limits, Now: c.Now, NewID: c.NewID, Zones: zones,
		ImageBytes: c.ImageBytes, AnswerBytes: c.AnswerBytes,
	})
	mirrors := mirror.New(mirror.Config{
		Store: c.Store, Sealer: c.Sealer, Providers: c.Providers, Now: c.Now, NewID: c.NewID, Logger: c.Logger,
		Task: c.Task,
	})
	changes := ledger.New(ledger.Config{
		Reader: reader, Store: c.Store, Limits: c.Limits, Now: c.Now, NewID: c.NewID, Zones: zones,
		Mailed: c.Mailed, Sources: mirrors, Written: queries.Written, Changed: c.Changed,
		Task: c.Task,
	})
	mirrors.Serve(changes)
	return &Service{
		Reader: reader, Ledger: changes, Queries: queries,
		Hub:     watch.NewHub(reader, c.Store, c.Now, c.NewID, c.Sendable),
		Mirrors: mirrors, limits: c.Limits,
	}
}

// Limits returns the limits, for protocols that show them.
func (s *Service) Limits() calendar.Limits { return s.limits }
