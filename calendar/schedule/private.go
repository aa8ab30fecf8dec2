package schedule

import (
	"context"
	"maps"
	"slices"

	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/ical"
)

// keepPrivate puts back overrides with an attendee's own properties, such as another alarm, while the instance exists at
// the same time. This also keeps answers to single instances, which an organizer elsewhere does not repeat.
func (r Rules) keepPrivate(ctx context.Context, old, now *reading, d Delivery) (*reading, error) {
	added := false
	for _, key := range slices.Sorted(maps.Keys(old.apart)) {
		c, made := old.apart[key], now.at(key, old.ids[key])
		if now.singles(key) || made == nil || old.timing(c) != now.timing(made) {
			continue
		}
		own := d.Outside && said(old, c, d.Self) != said(now, made, d.Self)
		if !own && slices.Equal(privateOf(made), privateOf(c)) {
			continue
		}
		if err := r.Meter.Make(size(c)+size(now.Master), 1); err != nil {
			return nil, err
		}
		made = made.Clone()
		now.dress(made)
		if mine := attendee(made, d.Self); own && mine != nil {
			setParam(mine, paramPartstat, said(old, c, d.Self))
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

// keepOut excludes the instances again that the attendee has deleted, while they are at the same time. An organizer here
// has them as declined; for an organizer elsewhere, told is the event as told before.
func (r Rules) keepOut(ctx context.Context, old, now, told *reading, d Delivery) (*reading, error) {
	left, dropped := now.excluded(), false
	for key, id := range old.excluded() {
		c := now.at(key, id)
		_, out := left[key]
		if out || c == nil || now.master() == nil || !r.stillOut(ctx, now, told, d, key, id) {
			continue
		}
		if err := now.drop(c); err != nil {
			return nil, err
		}
		dropped = true
	}
	if r.keepAway(ctx, old, now, told, d) {
		dropped = true
	}
	if !dropped {
		return now, nil
	}
	return r.again(ctx, now)
}

// stillOut reports whether an instance is at the time for which the attendee has deleted it.
func (r Rules) stillOut(ctx context.Context, now, told *reading, d Delivery, key int64, id ical.Time) bool {
	if !d.Outside {
		return said(now, now.at(key, id), d.Self) == Declined && r.deleted(ctx, d, key, id)
	}
	was := told.at(key, id)
	return was != nil && told.timing(was) == now.timing(now.at(key, id))
}

// deleted reports whether the attendee deleted an instance that their copy lacks. If a change is taken back the organizer
// may have called it off: the version that had the instance last shows it.
func (r Rules) deleted(ctx context.Context, d Delivery, key int64, id ical.Time) bool {
	if d.Earlier == nil {
		return true
	}
	for v := range d.Earlier {
		x, err := r.read(ctx, v.Object)
		if err != nil {
			return true
		}
		if v.Object == nil || x.at(key, id) != nil {
			return !v.Told
		}
	}
	return true
}

// keepAway is keepOut for an attendee of single instances, who deletes one by leaving it out: there is no series in which
// to exclude it. One is always left.
func (r Rules) keepAway(ctx context.Context, old, x, told *reading, d Delivery) bool {
	if old.master() != nil || x.master() != nil {
		return false
	}
	dropped := false
	for _, key := range slices.Sorted(maps.Keys(x.apart)) {
		if len(x.apart) == 1 || old.apart[key] != nil || !r.stillOut(ctx, x, told, d, key, x.ids[key]) {
			continue
		}
		x.Calendar.RemoveComponent(x.apart[key])
		delete(x.apart, key)
		dropped = true
	}
	return dropped
}

// privateOf returns the properties that are private to a component's holder, in a form that can be compared.
func privateOf(c *ical.Component) []string {
	all := []string{words(c, theirs[:])}
	for _, alarm := range c.AllComponents("VALARM") {
		all = append(all, ical.NewDocument(alarm.Clone()).String())
	}
	return all
}

// again is a reading of what was changed.
func (r Rules) again(ctx context.Context, x *reading) (*reading, error) {
	made, err := content.Of(x.Document)
	if err != nil {
		return nil, err
	}
	return r.read(ctx, made)
}
