package query

import (
	"context"
	"iter"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/meter"
)

// Object returns one object of a calendar with its data. The meter counts large data.
func (s *Queries) Object(
	ctx context.Context, m *meter.Meter, c calendar.Caller, cal calendar.Calendar, name calendar.ObjectName,
) (calendar.Object, error) {
	if err := c.MayLook(cal); err != nil {
		return calendar.Object{}, err
	}
	if generated(c, cal) {
		g, err := s.generatedView(ctx, m, c, cal)
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

// Objects yields the matching objects of a calendar, by name. If the query asks for data and an object's text is lost,
// the object comes with ErrNoText. The meter counts large data while the caller processes the object.
func (s *Queries) Objects(
	ctx context.Context, m *meter.Meter, c calendar.Caller, cal calendar.Calendar, q calendar.ObjectQuery,
) iter.Seq2[calendar.Object, error] {
	if err := c.MayLook(cal); err != nil {
		return failed[calendar.Object](err)
	}
	return plain(s.seen(ctx, m, c, cal, q), q.WithData)
}

// Changes yields the changes of a calendar after since and up to the version of cal, by version. Each object appears
// once in its newest state, deleted ones with Deleted set. The zero token yields only live objects. A token that would
// leave a gap breaks RuleSyncToken, and so does an outdated token for a generated calendar.
func (s *Queries) Changes(
	ctx context.Context, m *meter.Meter, c calendar.Caller, cal calendar.Calendar, since calendar.SyncToken,
) iter.Seq2[calendar.Object, error] {
	if err := c.MayLook(cal); err != nil {
		return failed[calendar.Object](err)
	}
	if generated(c, cal) {
		g, err := s.generatedView(ctx, m, c, cal)
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
