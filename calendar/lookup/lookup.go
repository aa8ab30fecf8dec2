// Package lookup determines which calendars, users, notifications and changes a caller can see. Reads and writes
// both start with it.
package lookup

import (
	"context"
	"slices"
	"sync/atomic"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/meter"
	"caldav-mcp-server/calendar/schedule"
)

// Reader looks up data on behalf of callers.
type Reader struct {
	store  calendar.Reader
	home   string
	policy atomic.Pointer[calendar.Policy]
}

// NewReader creates a Reader. home is the server's public URL; "" if unknown.
func NewReader(store calendar.Reader, policy calendar.Policy, home string) *Reader {
	r := &Reader{store: store, home: home}
	r.SetPolicy(policy)
	return r
}

// Principal returns the login name of the user whose principal URL an address is, or "".
func (s *Reader) Principal(a schedule.Address) string { return a.Principal(s.home) }

// Policy returns the current policy.
func (s *Reader) Policy() calendar.Policy { return *s.policy.Load() }

// SetPolicy sets the policy for all later requests.
func (s *Reader) SetPolicy(p calendar.Policy) { s.policy.Store(&p) }

// Calendars returns the calendars that the caller sees, without subscriptions that are not followed: those have no
// objects to read or write. Followed ones are returned as Filled.
func (s *Reader) Calendars(ctx context.Context, c calendar.Caller) ([]calendar.Calendar, error) {
	all, err := s.CalendarsInHome(ctx, c)
	all = slices.DeleteFunc(all, func(cal calendar.Calendar) bool { return cal.Subscribed() && !cal.Followed() })
	for i, cal := range all {
		if cal.Followed() {
			all[i] = cal.Filled()
		}
	}
	return all, err
}

// CalendarsInHome returns everything in the caller's home, including subscriptions.
func (s *Reader) CalendarsInHome(ctx context.Context, c calendar.Caller) ([]calendar.Calendar, error) {
	if err := c.HasScope(calendar.ReadObjects); err != nil {
		return nil, err
	}
	all, err := s.store.Calendars(ctx, c.User.ID)
	return c.AllSeen(all), err
}

// Calendar returns one calendar by ID.
func (s *Reader) Calendar(ctx context.Context, c calendar.Caller, id calendar.CalendarID) (calendar.Calendar, error) {
	cal, err := s.store.Calendar(ctx, c.User.ID, id)
	return seen(c, cal, string(id), err)
}

// CalendarAt returns the calendar at an address in the caller's home.
func (s *Reader) CalendarAt(ctx context.Context, c calendar.Caller, at calendar.Segment) (calendar.Calendar, error) {
	cal, err := s.store.CalendarAt(ctx, c.User.ID, at)
	return seen(c, cal, string(at), err)
}

// seen returns the same error for a calendar that the caller cannot see as for one that does not exist.
func seen(c calendar.Caller, cal calendar.Calendar, asked string, err error) (calendar.Calendar, error) {
	if calendar.ReasonOf(err) == calendar.NotFound && err != nil || err == nil && !c.Sees(cal) {
		return calendar.Calendar{}, calendar.ErrNoCalendar(asked)
	}
	return cal, err
}

// Allow reads the calendar's current state and authorizes an action on it.
func (s *Reader) Allow(ctx context.Context, c calendar.Caller, a calendar.Action, id calendar.CalendarID) error {
	cal, err := s.Calendar(ctx, c, id)
	if err != nil {
		return err
	}
	return c.May(a, cal)
}

// SharedCalendars returns other users' calendars that the caller sees.
func (s *Reader) SharedCalendars(ctx context.Context, c calendar.Caller) ([]calendar.Calendar, error) {
	all, err := s.Calendars(ctx, c)
	return slices.DeleteFunc(all, func(cal calendar.Calendar) bool { return cal.Access == calendar.OwnerAccess }), err
}

// Offers returns the calendars that other users have offered to the caller.
func (s *Reader) Offers(ctx context.Context, c calendar.Caller) ([]calendar.Offer, error) {
	if err := c.HasScope(calendar.ReadObjects); err != nil {
		return nil, err
	}
	all, err := s.store.Offers(ctx, c.User.ID)
	return slices.DeleteFunc(all, func(o calendar.Offer) bool {
		return c.Calendars != nil && !slices.Contains(c.Calendars, o.Calendar)
	}), err
}

// Blocked returns the users whom the caller has blocked.
func (s *Reader) Blocked(ctx context.Context, c calendar.Caller) ([]calendar.User, error) {
	if err := c.MayOwn(calendar.ReadObjects); err != nil {
		return nil, err
	}
	return s.store.Blocked(ctx, c.User.ID)
}

// Shares returns the shares of the caller's calendar.
func (s *Reader) Shares(ctx context.Context, c calendar.Caller, id calendar.CalendarID) ([]calendar.Share, error) {
	if err := s.Allow(ctx, c, calendar.ListShares, id); err != nil {
		return nil, err
	}
	return s.store.Shares(ctx, id)
}

// GroupShares returns the access that sharees of the caller's calendar also have through groups.
func (s *Reader) GroupShares(
	ctx context.Context, c calendar.Caller, id calendar.CalendarID,
) ([]calendar.GroupShare, error) {
	if err := s.Allow(ctx, c, calendar.ListShares, id); err != nil {
		return nil, err
	}
	return s.store.GroupShares(ctx, id)
}

// SeenByUID returns an object by its UID with data, as the caller sees it. The meter is charged for large data.
func (s *Reader) SeenByUID(
	ctx context.Context, m *meter.Meter, c calendar.Caller, cal calendar.Calendar, uid calendar.UID,
) (calendar.Object, error) {
	if err := c.May(calendar.ReadObjects, cal); err != nil {
		return calendar.Object{}, err
	}
	o, err := s.store.ObjectByUID(ctx, cal.ID, uid)
	if err == nil {
		o, err = s.Load(ctx, m, o)
	}
	if err == nil {
		o, err = s.AsSeen(ctx, m, c, cal, o)
	}
	if err != nil && calendar.ReasonOf(err) == calendar.NotFound {
		return calendar.Object{}, calendar.ErrNoUID(uid)
	}
	return o, err
}

// TrashedCalendars returns the caller's own calendars in the trash, latest first.
func (s *Reader) TrashedCalendars(ctx context.Context, c calendar.Caller) ([]calendar.TrashedCalendar, error) {
	if err := c.HasScope(calendar.ReadObjects); err != nil {
		return nil, err
	}
	all, err := s.store.TrashedCalendars(ctx, c.User.ID)
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(t calendar.TrashedCalendar) bool { return !c.Sees(t.Calendar) })
	for i, t := range all {
		meetings, err := s.DeletedWith(ctx, t.Calendar)
		if err != nil {
			return nil, err
		}
		all[i].Objects += int64(len(meetings))
	}
	return all, nil
}

// DeletedWith returns the changes that deleted meetings together with a trashed calendar: the rest of the unit of
// the calendar's latest change.
func (s *Reader) DeletedWith(ctx context.Context, trashed calendar.Calendar) ([]calendar.Version, error) {
	unit, err := s.store.Unit(ctx, calendar.ChangeID{Calendar: trashed.ID, Version: trashed.Version})
	if err != nil && calendar.ReasonOf(err) == calendar.NotFound {
		return nil, nil // the journal has forgotten it
	}
	var all []calendar.Version
	for _, id := range unit {
		if id.Calendar == trashed.ID && id.Version != trashed.Version {
			all = append(all, id.Version)
		}
	}
	return all, err
}
