package schedule

import (
	"context"
	"maps"
	"slices"

	"caldav-mcp-server/ical"
)

// asking lists the instances that need a new answer after a change. RFC 6638 §3.2.8 resets answers only for new and for
// moved instances.
type asking struct {
	shift shift
	// series is set if the whole series needs a new answer.
	series bool
	// forced lists the attendees who always get a message.
	forced map[Person]bool
}

// The limits for separate overrides that ask, or keep answers. Beyond them, the whole series asks.
const (
	apartMost = 60
	linesMost = 3000
)

// ask computes the instances that need a new answer. A few new ones become overrides that ask, so that the others keep
// their answers. If there are many, the series asks, and a few old ones become overrides that keep their answers.
func (r Rules) ask(ctx context.Context, prior, now *reading, is Self) (*reading, asking, error) {
	if prior.Object == nil {
		return now, asking{}, nil
	}
	s, err := r.shift(ctx, prior, now)
	if err != nil {
		return nil, asking{}, err
	}
	series, apart := plan(s, now)
	out := asking{shift: s, series: series}
	if len(apart) == 0 || !r.anyAnswer(prior, now, is) {
		return now, out, nil
	}
	now, err = r.separate(ctx, now, apart)
	return now, out, err
}

// plan decides whether the series asks, and which instances get overrides: the new ones, which ask, or the old ones,
// which keep their answers.
func plan(s shift, now *reading) (series bool, apart []int64) {
	most := min(apartMost, linesMost/(1+len(now.attendeesIn(now.master()))))
	fresh, kept := now.unsaid(s.fresh), now.unsaid(s.kept)
	switch {
	case s.all || len(fresh) > 0 && len(kept) == 0 && !s.rest:
		return true, nil
	case len(fresh) <= most:
		return false, fresh
	case len(kept) <= most && !s.rest:
		return true, kept
	}
	return true, nil
}

// unsaid returns the keys without an override.
func (x *reading) unsaid(keys []int64) []int64 {
	return slices.DeleteFunc(slices.Clone(keys), func(key int64) bool { return x.apart[key] != nil })
}

// anyAnswer reports whether an attendee who is still invited has another answer to the series than new instances have:
// none, or, if the change is taken back, the answer of the restored text.
func (r Rules) anyAnswer(prior, now *reading, is Self) bool {
	invited := now.roster(now.master())
	return slices.ContainsFunc(prior.attendeesIn(prior.master()), func(p *ical.Property) bool {
		a, fresh := addressOf(p), NeedsAction
		line := invited.line(a, r.who(a))
		if r.Known && line != nil {
			fresh = partstat(line)
		}
		return !is(a) && served(p) && line != nil && partstat(p) != fresh
	})
}

// separate gives instances of a series overrides of their own, with the attendees of the series.
func (r Rules) separate(ctx context.Context, x *reading, keys []int64) (*reading, error) {
	made := map[int64]*ical.Component{}
	for _, key := range keys {
		if c := x.at(key, x.instances.ID(key)); c != nil {
			made[key] = c
		}
	}
	if err := r.Meter.Make(size(x.Master), int64(len(made))); err != nil {
		return nil, err
	}
	for _, key := range slices.Sorted(maps.Keys(made)) {
		x.dress(made[key])
		x.Calendar.AddComponent(made[key])
	}
	return r.again(ctx, x)
}
