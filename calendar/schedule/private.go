package schedule

import (
	"context"
	"maps"
	"slices"

	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/ical"
)

// keepPrivate restores overrides with an attendee's own properties, such as another alarm, while the instance exists at
// the same time. It also keeps answers to single instances, because an organizer on another server does not repeat
// them.
func (r receipt) keepPrivate(ctx context.Context, old, now *reading) (*reading, error) {
	added := false
	for _, key := range slices.Sorted(maps.Keys(old.apart)) {
		c, made := old.apart[key], now.at(key, old.ids[key])
		if now.singles(key) || made == nil || old.timing(c) != now.timing(made) {
			continue
		}
		own := r.Outside && said(old, c, r.Self) != said(now, made, r.Self)
		if !own && slices.Equal(privateOf(made), privateOf(c)) {
			continue
		}
		if err := r.Meter.Make(size(c)+size(now.Master), 1); err != nil {
			return nil, err
		}
		made = made.Clone()
		now.dress(made)
		if mine := attendee(made, r.Self); own && mine != nil {
			setParam(mine, paramPartstat, said(old, c, r.Self))
		}
		for _, alarm := range made.AllComponents("VALARM") {
			made.RemoveComponent(alarm)
		}
		transplant(made, c)
		now.Calendar.AddComponent(made)
		added = true
	}
	if !added {
		return now, nil
	}
	return r.again(ctx, now)
}

// keepOut excludes again the instances that the attendee has deleted, while they are at the same time. An organizer on
// this server has them as declined. For others, told is the organizer's previous version.
func (r receipt) keepOut(ctx context.Context, old, now, told *reading) (*reading, error) {
	if old.master() == nil && now.master() == nil {
		return r.keepAway(ctx, old, now, told)
	}
	left, back := now.excluded(), map[int64]ical.Time{}
	for key, id := range old.excluded() {
		if _, out := left[key]; !out && now.master() != nil && now.at(key, id) != nil {
			back[key] = id
		}
	}
	out, err := r.stillOut(ctx, now, told, back)
	if err != nil || len(out) == 0 {
		return now, err
	}
	for _, key := range slices.Sorted(maps.Keys(out)) {
		if err := now.drop(now.at(key, out[key])); err != nil {
			return nil, err
		}
	}
	return r.again(ctx, now)
}

// keepAway is keepOut for an attendee of single instances. They delete an instance by dropping it, because there is no
// series to exclude it from. One instance always stays.
func (r receipt) keepAway(ctx context.Context, old, now, told *reading) (*reading, error) {
	back := map[int64]ical.Time{}
	for key := range now.apart {
		if old.apart[key] == nil {
			back[key] = now.ids[key]
		}
	}
	out, err := r.stillOut(ctx, now, told, back)
	if err != nil || len(out) == 0 {
		return now, err
	}
	for _, key := range slices.Sorted(maps.Keys(out)) {
		if len(now.apart) > 1 {
			now.Calendar.RemoveComponent(now.apart[key])
			delete(now.apart, key)
		}
	}
	return r.again(ctx, now)
}

// stillOut returns the instances that have the same time as when the attendee deleted them.
func (r receipt) stillOut(
	ctx context.Context, now, told *reading, ids map[int64]ical.Time,
) (map[int64]ical.Time, error) {
	out := map[int64]ical.Time{}
	for key, id := range ids {
		c, was := now.at(key, id), told.at(key, id)
		if r.Outside && was != nil && told.timing(was) == now.timing(c) ||
			!r.Outside && said(now, c, r.Self) == Declined {
			out[key] = id
		}
	}
	if r.Earlier == nil || len(out) == 0 {
		return out, nil
	}
	return out, r.leaveCalledOff(ctx, out)
}

// leaveCalledOff removes from ids the instances that the organizer, not the attendee, took out of the copy. The last
// version with an instance shows it.
func (r receipt) leaveCalledOff(ctx context.Context, ids map[int64]ical.Time) error {
	open := maps.Clone(ids)
	for v, err := range r.Earlier {
		if err == nil {
			err = r.Meter.Work(int64(findSteps * len(open)))
		}
		if err != nil {
			return err
		}
		x, err := r.read(ctx, v.Object)
		if err != nil {
			return err
		}
		for key, id := range open {
			if v.Object != nil && x.at(key, id) == nil {
				continue
			}
			delete(open, key)
			if v.Told {
				delete(ids, key)
			}
		}
		if len(open) == 0 {
			break
		}
	}
	return nil
}

// privateOf returns the private properties of a component's owner in comparable form.
func privateOf(c *ical.Component) []string {
	all := []string{words(c, theirs[:])}
	for _, alarm := range c.AllComponents("VALARM") {
		all = append(all, ical.NewDocument(alarm.Clone()).String())
	}
	return all
}

// again reads a changed object again.
func (r Rules) again(ctx context.Context, x *reading) (*reading, error) {
	made, err := content.Of(x.Document)
	if err != nil {
		return nil, err
	}
	return r.read(ctx, made)
}
