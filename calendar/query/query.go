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

// Query is a question about a calendar's objects.
type Query struct {
	Filter filter.Filter
	// Names restricts it to these objects; nil means any.
	Names []calendar.ObjectName
	// Timezone is the zone of dates and floating times; nil is the calendar's.
	Timezone *zone.Zone
	// WithoutData leaves the bytes out of the answer.
	WithoutData bool
	// Meter counts what the answer costs.
	Meter *meter.Meter
}

// Query yields the objects of a calendar that the filter matches, by name. The store
// narrows them by kind and span, then each is decided exactly. One whose text is lost and asked for comes with its ErrNoText.
func (s *Queries) Query(ctx context.Context, c calendar.Caller, cal calendar.Calendar, q Query) iter.Seq2[calendar.Object, error] {
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

// matches decides about one object. An object that cannot be decided is in the answer: it is in the
// calendar at about that time, and a client that is told too much looks for itself, while
// one that is told too little would delete its copy. Only the end of the caller, or of what the request may cost, is an error.
func matches(ctx context.Context, f filter.Filter, c candidate, in filter.Context) (bool, error) {
	if err := c.weigh(in.Meter); err != nil {
		return false, err
	}
	defer c.unload(in.Meter)
	read, err := c.content()
	if err != nil {
		return true, nil // see above: an older program has stored it
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

// answerBudget is what the expansion of one object may cost in an answer that looks at
// many: some milliseconds.
func answerBudget() recur.Budget { return recur.Budget{Steps: 100_000, Instances: 10_000} }

func unknownCollation(err error) error {
	if _, unknown := errors.AsType[*filter.CollationError](err); unknown {
		return calendar.Errorf(calendar.Forbidden, calendar.RuleCollation, "%v", err)
	}
	return err
}

// floating is the zone in which a question wants dates and floating times read.
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
