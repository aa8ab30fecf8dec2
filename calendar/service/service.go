// Package service is what doors hold: changes, questions and watches in one.
package service

import (
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

// Service is everything that a door may do with calendars. Its methods check access
// themselves: a door cannot forget to.
type Service struct {
	*lookup.Reader
	*ledger.Ledger
	*query.Queries
	*watch.Hub
	// Mirrors has the linked accounts; with no providers it links none.
	Mirrors *mirror.Mirror
	limits  calendar.Limits
}

// Config is what a Service is made of.
type Config struct {
	Store  calendar.Store
	Limits calendar.Limits
	// Now is the clock.
	Now func() time.Time
	// NewID makes a random identifier (a UUID).
	NewID func() string
	// Policy is the one in force until another one is set.
	calendar.Policy
	// Home is where the server is reached from outside; "" where that is not known.
	Home string
	// Mailed tells that somebody mails what is posted to people elsewhere: see [ledger.Config].
	Mailed bool
	// Providers speak to accounts elsewhere, Sealer keeps their secrets; nil where nothing can be linked.
	Providers map[string]mirror.Provider
	Sealer    mirror.Sealer
	Logger    *slog.Logger
	// Task is told of what is done that nobody waits for, or that takes time elsewhere; nil where nobody wants to know.
	Task calendar.Task
	// ImageBytes is about how much memory the calendars may take that are asked for most; 0 for none.
	ImageBytes int64
	// AnswerBytes is about how much memory the requests in work may hold together; 0 is the default.
	AnswerBytes int64
}

// New makes a Service.
func New(c Config) *Service {
	reader, zones := lookup.NewReader(c.Store, c.Policy, c.Home), zone.NewDB()
	queries := query.New(query.Config{
		Reader: reader, Store: c.Store, Limits: c.Limits, Now: c.Now, NewID: c.NewID, Zones: zones,
		ImageBytes: c.ImageBytes, AnswerBytes: c.AnswerBytes,
	})
	mirrors := mirror.New(mirror.Config{
		Store: c.Store, Sealer: c.Sealer, Providers: c.Providers, Now: c.Now, NewID: c.NewID, Logger: c.Logger, Task: c.Task,
	})
	changes := ledger.New(ledger.Config{
		Reader: reader, Store: c.Store, Limits: c.Limits, Now: c.Now, NewID: c.NewID, Zones: zones,
		Mailed: c.Mailed, Elsewhere: mirrors, Written: queries.Written, Task: c.Task,
	})
	mirrors.Serve(changes)
	return &Service{
		Reader: reader, Ledger: changes, Queries: queries, Hub: watch.NewHub(reader, c.Store, c.Now, c.NewID), Mirrors: mirrors, limits: c.Limits,
	}
}

// Limits returns the limits in force, for doors that print them.
func (s *Service) Limits() calendar.Limits { return s.limits }
