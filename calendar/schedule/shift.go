package schedule

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"caldav-mcp-server/calendar/recur"
	"caldav-mcp-server/ical"
)

// A shift is the effect of a new version of an event on its instances. Instances are compared by their times, not by
// the text of the rule: FREQ=WEEKLY and FREQ=WEEKLY;INTERVAL=1 are the same series, and so are COUNT=3 and an UNTIL
// with the same three days.
type shift struct {
	// fresh holds the keys of new and moved instances, kept the keys of unchanged ones.
	fresh, kept []int64
	// rest is set if the masters generate the same instances. Then kept does not list them.
	rest bool
	// gone is set if an old instance is missing or has moved. lost holds the instances that the new master does not
	// generate.
	gone bool
	lost []int64
	// all is set if the two versions cannot be compared, so that every instance counts as new.
	all bool
	// series is set if the masters generate different instances.
	series bool
}

// compareMost bounds the compared instances of a series: ten years of a daily one.
const compareMost = 4000

// same reports whether both versions have the same instances at the same times.
func (s shift) same() bool { return !s.all && !s.gone && len(s.fresh) == 0 }

// shift compares the instances of two versions. Rules that are spelled differently cost two expansions.
func (r Rules) shift(ctx context.Context, old, now *reading) (shift, error) {
	s, err := r.pattern(ctx, old, now)
	if err != nil || s.all {
		return s, err
	}
	keys, ids := touched(old, now)
	if err := r.Meter.Work(int64(findSteps * len(keys))); err != nil {
		return s, err
	}
	for _, key := range keys {
		s.put(key, old.timing(old.at(key, ids[key])), now.timing(now.at(key, ids[key])))
	}
	return s, nil
}

// put records the old and the new time of an instance; "" means that there is none.
func (s *shift) put(key int64, was, is string) {
	s.gone = s.gone || was != "" && was != is
	switch {
	case is == "":
	case was == is:
		s.kept = append(s.kept, key)
	default:
		s.fresh = append(s.fresh, key)
	}
}

// pattern compares the instances of the two masters, without those that either version excludes or overrides. Those are
// left to shift.
func (r Rules) pattern(ctx context.Context, old, now *reading) (shift, error) {
	a, b := old.master(), now.master()
	switch {
	case a == nil && b == nil:
		return shift{}, nil
	case a == nil || b == nil || isDate(a) != isDate(b) || old.ranges() != now.ranges():
		return shift{all: true, series: true}, nil
	case old.timing(a) == now.timing(b):
		return shift{rest: true}, nil
	case !recurs(a) && !recurs(b):
		return shift{all: true, series: true}, nil
	}
	if err := r.Meter.Work(lookSteps * 2 * compareMost); err != nil {
		return shift{}, err
	}
	was, wasAll, err := old.bare(ctx)
	is, isAll, err2 := now.bare(ctx)
	if err := errors.Join(err, err2); err != nil {
		return shift{all: true, series: true}, ctx.Err()
	}
	// Past the limit of either list nothing is known. Two endless series that agree for foreseen years are the same.
	until := last(was, wasAll)
	if end := last(is, isAll); end < until {
		until = end
	}
	if !wasAll && !isAll {
		until = min(until, max(old.now.AddDate(foreseen, 0, 0).Unix(), was[0].key, is[0].key))
	}
	s := compareBare(was, is, until, func(key int64) bool { return old.singles(key) || now.singles(key) })
	s.series = !s.same()
	return s, nil
}

// compareBare compares two lists of instances up to a key, without the skipped ones.
func compareBare(was, is []moment, until int64, skip func(int64) bool) shift {
	s, times := shift{}, map[int64]moment{}
	for _, m := range was {
		times[m.key] = m
	}
	for _, m := range is {
		if m.key > until {
			break
		}
		before, there := times[m.key]
		delete(times, m.key)
		switch {
		case skip(m.key):
		case there && before == m:
			s.kept = append(s.kept, m.key)
		default:
			s.fresh, s.gone = append(s.fresh, m.key), s.gone || there
		}
	}
	for _, key := range slices.Sorted(maps.Keys(times)) {
		if key <= until && !skip(key) {
			s.gone, s.lost = true, append(s.lost, key)
		}
	}
	return s
}

// moment is an instance that a master generates: its key, start and end.
type moment struct{ key, start, end int64 }

// last returns the key up to which a list is known.
func last(list []moment, complete bool) int64 {
	if complete || len(list) == 0 {
		return 1<<63 - 1
	}
	return list[len(list)-1].key
}

// bare lists the instances that the master generates without its exceptions and overrides, and reports whether these
// are all.
func (x *reading) bare(ctx context.Context) (list []moment, complete bool, err error) {
	master := x.master().Clone()
	master.Remove("EXDATE")
	set, err := recur.FromComponents(master, nil, x.clock.Zones, nil)
	if err != nil {
		return nil, false, err
	}
	budget := recur.DefaultBudget()
	budget.Instances = compareMost
	for i, err := range set.Named(ctx, time.Time{}, time.Time{}, budget) {
		var over *recur.BudgetError
		if errors.As(err, &over) && over.What == recur.OfInstances {
			return list, false, nil
		}
		if err != nil {
			return nil, false, err
		}
		list = append(list, moment{i.RecurrenceID.Time.Unix(), i.Start.Time.Unix(), i.End.Time.Unix()})
	}
	return list, true, nil
}

// singles reports whether an instance is excluded or overridden.
func (x *reading) singles(key int64) bool {
	_, out := x.excluded()[key]
	return out || x.apart[key] != nil
}

// ranges describes the overrides that also apply to all later instances (RANGE=THISANDFUTURE).
func (x *reading) ranges() string {
	var all []string
	for _, key := range slices.Sorted(maps.Keys(x.apart)) {
		if c := x.apart[key]; ranged(c) {
			all = append(all, strconv.FormatInt(key, 10), x.timing(c))
		}
	}
	return strings.Join(all, "\n")
}

// recurs reports whether a component has more than one instance.
func recurs(c *ical.Component) bool { return c.Property("RRULE") != nil || c.Property("RDATE") != nil }

// isDate reports whether a component takes whole days.
func isDate(c *ical.Component) bool {
	p := c.Property("DTSTART")
	return p != nil && p.ValueType() == "DATE"
}
