package calendar

import (
	"context"
	"iter"

	"caldav-mcp-server/calendar/meter"
)

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
