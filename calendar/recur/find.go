package recur

import (
	"cmp"
	"context"
	"iter"
	"math"
	"slices"
	"time"

	"caldav-mcp-server/calendar/recur/rule"
	"caldav-mcp-server/ical"
)

// Find looks for the instance that a RECURRENCE-ID names: the override for it,
// or the one that the series makes; false tells that there is none.
func (s *Set) Find(ctx context.Context, id ical.Time, budget Budget) (Instance, bool, error) {
	at, err := s.id(id, s.reader)
	if err != nil {
		return Instance{}, false, err
	}
	for found, err := range s.named(ctx, window{at.unix, at.unix + 1}, budget) {
		return found, err == nil, err
	}
	return Instance{}, false, nil
}

// Named walks over the instances whose recurrence ids are in the time from one
// instant to another, wherever they have been put, in the order of the ids. A
// zero instant is without a bound. An error is the last pair, as of
// [Set.Between].
func (s *Set) Named(ctx context.Context, from, to time.Time, budget Budget) iter.Seq2[Instance, error] {
	w := window{from: math.MinInt64, to: math.MaxInt64}
	if !from.IsZero() {
		w.from = from.Unix()
	}
	if !to.IsZero() {
		w.to = to.Unix()
	}
	return s.named(ctx, w, budget)
}

func (s *Set) named(ctx context.Context, ids window, budget Budget) iter.Seq2[Instance, error] {
	return func(yield func(Instance, error) bool) {
		n := 0
		give := func(p placed) bool {
			if n++; n > budget.Instances {
				return yield(Instance{}, &BudgetError{What: OfInstances, Limit: budget.Instances}) && false
			}
			return yield(p.instance(), nil)
		}
		apart := s.apart(ids)
		var failed error
		for found, err := range s.made(rule.NewMeter(ctx, budget.Steps), ids) {
			if failed = err; failed != nil {
				break
			}
			for ; len(apart) > 0 && apart[0].id.unix < found.id.unix; apart = apart[1:] {
				if !give(apart[0]) {
					return
				}
			}
			if !give(found) {
				return
			}
		}
		for _, p := range apart {
			if !give(p) {
				return
			}
		}
		if failed != nil {
			yield(Instance{}, failed)
		}
	}
}

// apart are the instances with a description of their own, by their ids.
func (s *Set) apart(ids window) []placed {
	var list []placed
	for _, o := range s.overrides {
		if o.from.unix >= ids.from && o.from.unix < ids.to {
			list = append(list, o.placed())
		}
	}
	slices.SortStableFunc(list, func(a, b placed) int { return cmp.Compare(a.id.unix, b.id.unix) })
	return list
}

// made walks over the instances that the series makes, by their ids.
func (s *Set) made(meter *rule.Meter, ids window) iter.Seq2[placed, error] {
	return func(yield func(placed, error) bool) {
		if s.master == nil || !s.master.dated {
			return
		}
		for starts := s.master.from(meter, ids.from, ids.to); ; {
			found, ok, err := starts.next()
			if err != nil {
				yield(placed{}, err)
			}
			if err != nil || !ok {
				return
			}
			if found.start.unix < ids.from || s.replaced.has(found.start) {
				continue
			}
			ruled := stretch{set: s, moved: s.ruling(found.start.unix)}
			if !yield(ruled.place(found), nil) {
				return
			}
		}
	}
}

// ruling is the override for the future that holds at an id; nil for none.
func (s *Set) ruling(id int64) (m *moved) {
	for _, o := range s.ranges {
		if o.from.unix <= id {
			m = &o.moved
		}
	}
	return m
}
