package schedule

import (
	"context"
	"slices"

	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/ical"
)

// keepPrivate puts back the overrides by which an attendee has only something of their own for an instance, such as
// another alarm, as long as there is the instance, at that time.
func (r Rules) keepPrivate(ctx context.Context, old, now, asked *reading) (*reading, error) {
	added, out := false, now.excluded()
	for key, c := range old.apart {
		made := now.at(key, old.ids[key])
		if _, gone := out[key]; gone || made == nil || now.apart[key] != nil || asked.apart[key] != nil || old.timing(c) != now.timing(made) {
			continue
		}
		if slices.Equal(privateOf(made), privateOf(c)) {
			continue
		}
		if err := r.Meter.Make(size(c)+size(now.Master), 1); err != nil {
			return nil, err
		}
		made = made.Clone()
		now.dress(made)
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

// keepOut leaves out again what the attendee has deleted, as long as they have declined it: a new time would have made
// that an open question. Anyone who comes by mail need not ask so, and is taken at the time alone.
func (r Rules) keepOut(ctx context.Context, old, now, asked *reading, d Delivery) (*reading, error) {
	left, dropped := now.excluded(), false
	for key, id := range old.excluded() {
		c := asked.at(key, id)
		if _, out := left[key]; out || c == nil || now.master() == nil || partstat(asked.mine(c, d.Self)) != Declined {
			continue
		}
		if start, _, err := asked.clock.Bounds(c); d.Outside && (err != nil || start != key) {
			continue
		}
		if err := now.drop(c); err != nil {
			return nil, err
		}
		dropped = true
	}
	if now.keepAway(old, d) {
		dropped = true
	}
	if !dropped {
		return now, nil
	}
	return r.again(ctx, now)
}

// keepAway is keepOut for an attendee of single instances, who deletes one by leaving it out: there is no series in which
// to say so. One is always left.
func (x *reading) keepAway(old *reading, d Delivery) bool {
	if old.master() != nil || x.master() != nil {
		return false
	}
	dropped := false
	for key, c := range x.apart {
		if len(x.apart) == 1 || old.apart[key] != nil || partstat(attendee(c, d.Self)) != Declined {
			continue
		}
		if start, _, err := x.clock.Bounds(c); d.Outside && (err != nil || start != key) {
			continue
		}
		x.Calendar.RemoveComponent(c)
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
