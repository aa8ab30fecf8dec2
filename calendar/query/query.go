package query

import (
	"context"
	"errors"
	"iter"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/filter"
	"caldav-mcp-server/calendar/meter"
	"caldav-mcp-server/calendar/recur"
	"caldav-mcp-server/calendar/zone"
)

// Query is a calendar-query.
type Query struct {
	Filter filter.Filter
	// Names limits it to these objects; nil means all.
	Names []calendar.ObjectName
	// Timezone is the zone of dates and floating times; nil means the calendar's.
	Timezone *zone.Zone
	// WithoutData leaves the data out of the result.
	WithoutData bool
	// Meter counts the cost of the query.
	Meter *meter.Meter
}

// Query yields the matching objects of a calendar, by name. The store narrows them by kind and span, then each is
// decided exactly. If the query asks for data and an object's text is lost, the object comes with ErrNoText.
func (s *Queries) Query(
	ctx context.Context, c calendar.Caller, cal calendar.Calendar, q Query,
) iter.Seq2[calendar.Object, error] {
	if err := c.MayLook(cal); err != nil {
		return failed[calendar.Object](err)
	}
	if err := q.Filter.Check(); err != nil {
		return failed[calendar.Object](unknownCollation(err))
	}
	narrowed := q.Filter.Prefilter()
	if narrowed.None() {
		return func(func(calendar.Object, error) bool) {}
	}
	in := filter.Context{Zones: s.zones, Floating: s.floating(cal, q.Timezone), Budget: answerBudget(), Meter: q.Meter}
	candidates := s.seen(ctx, q.Meter, c, cal, calendar.ObjectQuery{
		Names: q.Names, Kinds: kindsOf(narrowed.Kinds), From: narrowed.From, Until: narrowed.Until,
		WithData: !q.WithoutData || !narrowed.Exact,
	})
	if narrowed.Exact {
		return plain(candidates, !q.WithoutData)
	}
	return func(yield func(calendar.Object, error) bool) {
		for c, err := range candidates {
			ok := err != nil
			if !ok {
				ok, err = matches(ctx, q.Filter, c, in)
			}
			o := c.Object
			if q.WithoutData {
				o.Data = nil
			} else if ok && err == nil {
				err = o.CheckText()
			}
			if (ok || err != nil) && (!yield(o, err) || unlessLost(err) != nil) {
				return
			}
		}
	}
}

// matches decides whether one object matches. An undecidable object matches: it is in the calendar at about that time.
// A client can sort out a surplus object, but it would delete its copy of a missing one. The only errors are the end of
// the context and exceeded limits.
func matches(ctx context.Context, f filter.Filter, c candidate, in filter.Context) (bool, error) {
	if err := c.weigh(in.Meter); err != nil {
		return false, err
	}
	defer c.unload(in.Meter)
	read, err := c.content()
	if err != nil {
		return true, nil // see above: an older version stored it
	}
	ok, err := f.Match(ctx, read, in)
	if spent(err) {
		return false, err
	}
	if err != nil {
		return true, ctx.Err()
	}
	return ok, nil
}

// answerBudget bounds the expansion of one object in a query over many: a few milliseconds.
func answerBudget() recur.Budget { return recur.Budget{Steps: 100_000, Instances: 10_000} }

func unknownCollation(err error) error {
	if _, unknown := errors.AsType[*filter.CollationError](err); unknown {
		return calendar.Errorf(calendar.Forbidden, calendar.RuleCollation, "%v", err)
	}
	return err
}

// floating returns the zone for dates and floating times in a query.
func (s *Queries) floating(cal calendar.Calendar, asked *zone.Zone) *zone.Zone {
	if asked != nil {
		return asked
	}
	return cal.Floating(s.zones)
}

func kindsOf(names []string) calendar.Kinds {
	if names == nil {
		return nil
	}
	kinds := make(calendar.Kinds, len(names))
	for i, name := range names {
		kinds[i] = calendar.Kind(name)
	}
	return kinds
}
