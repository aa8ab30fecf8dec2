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

// Find returns the instance that a RECURRENCE-ID names: its override, or the one that the series generates. It returns
// false if there is none.
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

// Named iterates over the instances whose recurrence ids are between two instants, wherever they have been moved, in
// the order of the ids. A zero instant means no bound. An error is the last pair, as in [Set.Between].
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

// apart returns the instances that have an override, by their ids.
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

// made iterates over the instances that the series generates, by their ids.
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

// ruling returns the THISANDFUTURE override that applies at an id, or nil.
func (s *Set) ruling(id int64) (m *moved) {
	for _, o := range s.ranges {
		if o.from.unix <= id {
			m = &o.moved
		}
	}
	return m
}
