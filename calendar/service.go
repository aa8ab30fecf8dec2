package calendar

import (
	"context"
	"time"

	"caldav-mcp-server/calendar/meter"
	"caldav-mcp-server/calendar/zone"
)

// Limits bound what a caller can ask the service to keep or compute.
type Limits struct {
	// ObjectBytes is the largest object taken (CALDAV:max-resource-size).
	ObjectBytes int64
	// Instances bounds how often an object may recur in its first four months, and in an
	// expansion (CALDAV:max-instances).
	Instances int
	// Attendees bounds the attendees of an instance (CALDAV:max-attendees-per-instance).
	Attendees int
	// Cost bounds what a request may cost.
	Cost meter.Limits
}

// DefaultLimits returns the limits that serve unless told otherwise.
func DefaultLimits() Limits {
	return Limits{ObjectBytes: 4 << 20, Instances: 3000, Attendees: 1000, Cost: costLimits()}
}

// Service is everything that a door may do with calendars. Its methods check access
// themselves: a door cannot forget to.
type Service struct {
	store  Store
	limits Limits
	now    func() time.Time
	newID  func() string
	zones  *zone.DB
	images *gallery
	costs  *meter.Pool
	// openDirectory is Config.OpenDirectory, needAcceptance Config.NeedAcceptance.
	openDirectory, needAcceptance bool
}

// Config is what a Service is made of.
type Config struct {
	Store  Store
	Limits Limits
	// Now is the clock.
	Now func() time.Time
	// NewID makes a random identifier (a UUID).
	NewID func() string
	// OpenDirectory lets every user see and search all others. Without it they see those with
	// whom they share a calendar, and find others by their exact name or address.
	OpenDirectory bool
	// NeedAcceptance lets who is offered a calendar be asked first. Without it they have it at
	// once, and may give it up.
	NeedAcceptance bool
	// ImageBytes is about how much memory the calendars may take that are asked for most; 0 for none.
	ImageBytes int64
	// AnswerBytes is about how much memory the requests in work may hold together; 0 is the default.
	AnswerBytes int64
}

// NewService makes a Service.
func NewService(c Config) *Service {
	return &Service{
		store: c.Store, limits: c.Limits, now: c.Now, newID: c.NewID, zones: zone.NewDB(),
		images:        newGallery(c.Store, c.ImageBytes),
		costs:         newPool(c.AnswerBytes, c.Limits.Cost),
		openDirectory: c.OpenDirectory, needAcceptance: c.NeedAcceptance,
	}
}

// Limits returns the limits in force, for doors that print them.
func (s *Service) Limits() Limits { return s.limits }

// Reindex rebuilds everything that the store derives from the objects' bytes.
func (s *Service) Reindex(ctx context.Context) (int, error) {
	return s.store.Rederive(ctx, func(o Object) Derived {
		d, err := s.derive(o.Data)
		if err != nil {
			// Stored by an older program that took what we would refuse: keep what it knew.
			return o.Derived
		}
		return d
	})
}
