package query

import (
	"context"
	"iter"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/meter"
)

// Object returns one object of a calendar, with its data, of which the meter has been told where they are large.
func (s *Queries) Object(ctx context.Context, m *meter.Meter, c calendar.Caller, cal calendar.Calendar, name calendar.ObjectName) (calendar.Object, error) {
	if err := c.MayLook(cal); err != nil {
		return calendar.Object{}, err
	}
	if c.SeesBusyAlone(cal) {
		g, err := s.glance(ctx, m, c, cal)
		if o, ok := g.find(func(o calendar.Object) bool { return o.Name == name }); ok || err != nil {
			return o, err
		}
		return calendar.Object{}, calendar.ErrNoObject(name)
	}
	o, err := s.object(ctx, m, cal, name)
	if err != nil && calendar.ReasonOf(err) == calendar.NotFound {
		return calendar.Object{}, calendar.ErrNoObject(name)
	}
	if err != nil {
		return o, err
	}
	return s.AsSeen(ctx, m, c, cal, o)
}

// Objects yields the objects of a calendar that match, by name, and with its ErrNoText one whose text is lost and was asked for. The meter knows of large data while their object is looked at.
func (s *Queries) Objects(ctx context.Context, m *meter.Meter, c calendar.Caller, cal calendar.Calendar, q calendar.ObjectQuery) iter.Seq2[calendar.Object, error] {
	if err := c.MayLook(cal); err != nil {
		return failed[calendar.Object](err)
	}
	return plain(s.seen(ctx, m, c, cal, q), q.WithData)
}

// Changes yields what changed in a calendar after since and up to the version of cal, by
// version: the newest state of each object once, tombstones as Deleted. The zero token
// yields only the live objects. One that would leave a gap breaks RuleSyncToken, as does one of other busy times.
func (s *Queries) Changes(ctx context.Context, m *meter.Meter, c calendar.Caller, cal calendar.Calendar, since calendar.SyncToken) iter.Seq2[calendar.Object, error] {
	if err := c.MayLook(cal); err != nil {
		return failed[calendar.Object](err)
	}
	if c.SeesBusyAlone(cal) {
		g, err := s.glance(ctx, m, c, cal)
		if err != nil {
			return failed[calendar.Object](err)
		}
		return g.since(cal, since)
	}
	if since == (calendar.SyncToken{}) {
		return s.ownChanges(ctx, m, c, cal, since, live(s.changes(ctx, cal, calendar.VersionRange{Until: cal.Version})))
	}
	if err := cal.History().Check(since); err != nil {
		return failed[calendar.Object](err)
	}
	return s.ownChanges(ctx, m, c, cal, since, s.changes(ctx, cal, calendar.VersionRange{
		After: since.Version, Until: cal.Version, Unbroken: max(since.Version, since.Begun),
	}))
}

func live(all iter.Seq2[calendar.Object, error]) iter.Seq2[calendar.Object, error] {
	return func(yield func(calendar.Object, error) bool) {
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
func plain(all iter.Seq2[candidate, error], withData bool) iter.Seq2[calendar.Object, error] {
	return func(yield func(calendar.Object, error) bool) {
		for c, err := range all {
			if err == nil && withData {
				err = c.CheckText()
			}
			if !yield(c.Object, err) {
				return
			}
		}
	}
}

func failed[T any](err error) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		yield(none, err)
	}
}
