package calendar

import (
	"context"
	"iter"
	"slices"
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

// Calendars returns the calendars that the caller sees, but for subscriptions: who asks what is
// in the calendars, or for one to write to, asks for nothing of those.
func (s *Service) Calendars(ctx context.Context, c Caller) ([]Calendar, error) {
	all, err := s.CalendarsInHome(ctx, c)
	return slices.DeleteFunc(all, func(cal Calendar) bool { return cal.Subscribed() }), err
}

// CalendarsInHome returns all that the caller sees, as a home lists it.
func (s *Service) CalendarsInHome(ctx context.Context, c Caller) ([]Calendar, error) {
	if err := c.hasScope(ReadObjects); err != nil {
		return nil, err
	}
	all, err := s.store.Calendars(ctx, c.User.ID)
	return c.sees(all), err
}

// Calendar returns one calendar by id.
func (s *Service) Calendar(ctx context.Context, c Caller, id CalendarID) (Calendar, error) {
	cal, err := s.store.Calendar(ctx, c.User.ID, id)
	return seen(c, cal, string(id), err)
}

// CalendarAt returns the calendar at an address in the caller's home.
func (s *Service) CalendarAt(ctx context.Context, c Caller, at Segment) (Calendar, error) {
	cal, err := s.store.CalendarAt(ctx, c.User.ID, at)
	return seen(c, cal, string(at), err)
}

// seen makes what the caller cannot see look exactly like what does not exist.
func seen(c Caller, cal Calendar, asked string, err error) (Calendar, error) {
	if ReasonOf(err) == NotFound && err != nil || err == nil && !c.Sees(cal) {
		return Calendar{}, errNoCalendar(asked)
	}
	return cal, err
}

// CreateCalendar makes a calendar of the caller's own.
func (s *Service) CreateCalendar(ctx context.Context, c Caller, n NewCalendar) (Calendar, error) {
	if err := c.MayCreate(); err != nil {
		return Calendar{}, err
	}
	if err := n.Segment.validate(); err != nil {
		return Calendar{}, err
	}
	cal := s.newCalendar(c, n)
	if err := s.settle(&cal.Properties); err != nil {
		return Calendar{}, err
	}
	err := s.change(ctx, c, func(w *work) error {
		if err := w.InsertCalendar(ctx, cal); err != nil {
			return err
		}
		now, err := w.next(ctx, cal.ID)
		if err != nil {
			return err
		}
		cal.Version, cal.Epoch = now.Version, now.Epoch
		if err := w.keep(ctx, Holder{Place: AtCalendar, Calendar: cal}, n.Kept); err != nil {
			return err
		}
		return w.log(ctx, now, Entry{Change: Created})
	})
	return cal, err
}

func (s *Service) newCalendar(c Caller, n NewCalendar) Calendar {
	now := s.now()
	cal := Calendar{
		ID: CalendarID(s.newID()), Owner: c.User.ID, OwnerName: c.User.Name, Segment: n.Segment,
		Properties: n.Properties, Created: now, Modified: now, Access: OwnerAccess,
	}
	if cal.Segment == "" {
		cal.Segment = Segment(cal.ID)
	}
	if cal.Name == "" {
		cal.Name = string(cal.Segment)
	}
	if len(cal.Kinds) == 0 {
		cal.Kinds = AllKinds()
	}
	if n.Subscription {
		cal.Kinds = nil
	}
	return cal
}

// PatchCalendar lets edit change a calendar's properties and return the changes of those that are
// kept. What edit refuses changes nothing. Who has a share changes how they have the calendar for
// themselves.
func (s *Service) PatchCalendar(ctx context.Context, c Caller, id CalendarID, edit func(*Properties) ([]Kept, error)) error {
	cal, err := s.patched(ctx, c, id)
	if err != nil {
		return err
	}
	if cal.Access != OwnerAccess {
		return s.arrange(ctx, c, cal, edit)
	}
	return s.resettle(ctx, c, id, func(w *work, cal Calendar) error {
		kept, err := edit(&cal.Properties)
		if err != nil {
			return err
		}
		if err := s.settle(&cal.Properties); err != nil {
			return err
		}
		if err := w.UpdateCalendar(ctx, id, cal.Properties); err != nil {
			return err
		}
		return w.keep(ctx, Holder{Place: AtCalendar, Calendar: cal}, kept)
	})
}

// MoveCalendar gives a calendar another address in its owner's home. A token that is bound to some calendars
// has no business there: by what is taken it would learn which others there are.
func (s *Service) MoveCalendar(ctx context.Context, c Caller, id CalendarID, to Segment) error {
	if err := c.MayOwn(ChangeCalendar); err != nil {
		return err
	}
	if err := s.allow(ctx, c, ChangeCalendar, id); err != nil {
		return err
	}
	if err := to.validate(); err != nil {
		return err
	}
	return s.resettle(ctx, c, id, func(w *work, _ Calendar) error { return w.Tx.MoveCalendar(ctx, id, to) })
}

// resettle changes the settings of a calendar.
func (s *Service) resettle(ctx context.Context, c Caller, id CalendarID, do func(*work, Calendar) error) error {
	return s.change(ctx, c, func(w *work) error {
		return w.settings(ctx, id, Modified, func(cal Calendar) error { return do(w, cal) })
	})
}

// DeleteCalendar moves a calendar to the trash.
func (s *Service) DeleteCalendar(ctx context.Context, c Caller, id CalendarID) error {
	if err := s.allow(ctx, c, DeleteCalendar, id); err != nil {
		return err
	}
	return s.change(ctx, c, func(w *work) error { return w.trash(ctx, id) })
}

// Object returns one object of a calendar, with its data, of which the meter has been told where they are large.
func (s *Service) Object(ctx context.Context, m *meter.Meter, c Caller, cal Calendar, name ObjectName) (Object, error) {
	if err := c.May(ReadObjects, cal); err != nil {
		return Object{}, err
	}
	o, err := s.object(ctx, m, cal, name)
	if err != nil && ReasonOf(err) == NotFound {
		return Object{}, errNoObject(name)
	}
	return o, err
}

// Objects yields the objects of a calendar that match, by name.
func (s *Service) Objects(ctx context.Context, c Caller, cal Calendar, q ObjectQuery) iter.Seq2[Object, error] {
	if err := c.May(ReadObjects, cal); err != nil {
		return failed(err)
	}
	return plain(s.objects(ctx, cal, q))
}

// Changes yields what changed in a calendar after since and up to the version of cal, by
// version: the newest state of each object once, tombstones as Deleted. The zero token
// yields the live objects alone. One that would leave a gap breaks RuleSyncToken.
func (s *Service) Changes(ctx context.Context, c Caller, cal Calendar, since SyncToken) iter.Seq2[Object, error] {
	if err := c.May(ReadObjects, cal); err != nil {
		return failed(err)
	}
	if since == (SyncToken{}) {
		return live(s.changes(ctx, cal, Stretch{Until: cal.Version}))
	}
	if err := since.check(cal); err != nil {
		return failed(err)
	}
	return s.changes(ctx, cal, Stretch{
		After: since.Version, Until: cal.Version, Unbroken: max(since.Version, since.Begun),
	})
}

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

// allow looks the calendar up as it is now and asks whether the caller may.
func (s *Service) allow(ctx context.Context, c Caller, a Action, id CalendarID) error {
	cal, err := s.Calendar(ctx, c, id)
	if err != nil {
		return err
	}
	return c.May(a, cal)
}

func live(all iter.Seq2[Object, error]) iter.Seq2[Object, error] {
	return func(yield func(Object, error) bool) {
		for o, err := range all {
			if o.Deleted && err == nil {
				continue
			}
			if !yield(o, err) {
				return
			}
		}
	}
}

// plain yields the objects of candidates.
func plain(all iter.Seq2[candidate, error]) iter.Seq2[Object, error] {
	return func(yield func(Object, error) bool) {
		for c, err := range all {
			if !yield(c.Object, err) {
				return
			}
		}
	}
}

func failed(err error) iter.Seq2[Object, error] {
	return func(yield func(Object, error) bool) { yield(Object{}, err) }
}
