package query

import (
	"context"
	"iter"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/meter"
)

// Object returns one object of a calendar, with its data, of which the meter has been told where they are large.
func (s *Queries) Object(ctx context.Context, m *meter.Meter, c calendar.Caller, cal calendar.Calendar, name calendar.ObjectName) (calendar.Object, error) {
	if err := c.May(calendar.ReadObjects, cal); err != nil {
		return calendar.Object{}, err
	}
	o, err := s.object(ctx, m, cal, name)
	if err != nil && calendar.ReasonOf(err) == calendar.NotFound {
		return calendar.Object{}, calendar.ErrNoObject(name)
	}
	return o, err
}

// Objects yields the objects of a calendar that match, by name. The meter knows of large data while their object is looked at.
func (s *Queries) Objects(ctx context.Context, m *meter.Meter, c calendar.Caller, cal calendar.Calendar, q calendar.ObjectQuery) iter.Seq2[calendar.Object, error] {
	if err := c.May(calendar.ReadObjects, cal); err != nil {
		return failed(err)
	}
	return plain(s.objects(ctx, m, cal, q))
}

// Changes yields what changed in a calendar after since and up to the version of cal, by
// version: the newest state of each object once, tombstones as Deleted. The zero token
// yields the live objects alone. One that would leave a gap breaks RuleSyncToken.
func (s *Queries) Changes(ctx context.Context, c calendar.Caller, cal calendar.Calendar, since calendar.SyncToken) iter.Seq2[calendar.Object, error] {
	if err := c.May(calendar.ReadObjects, cal); err != nil {
		return failed(err)
	}
	if since == (calendar.SyncToken{}) {
		return live(s.changes(ctx, cal, calendar.Stretch{Until: cal.Version}))
	}
	if err := cal.History().Check(since); err != nil {
		return failed(err)
	}
	return s.changes(ctx, cal, calendar.Stretch{
		After: since.Version, Until: cal.Version, Unbroken: max(since.Version, since.Begun),
	})
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
func plain(all iter.Seq2[candidate, error]) iter.Seq2[calendar.Object, error] {
	return func(yield func(calendar.Object, error) bool) {
		for c, err := range all {
			if !yield(c.Object, err) {
				return
			}
		}
	}
}

func failed(err error) iter.Seq2[calendar.Object, error] {
	return func(yield func(calendar.Object, error) bool) { yield(calendar.Object{}, err) }
}
