package schedule

import (
	"context"
	"maps"
	"slices"

	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/ical"
)

// An attendee's copy of an event mixes two sources: the organizer's text, and the attendee's answers, alarms and
// deleted instances. If the organizer is on another server, the server also stores the organizer's part alone: the
// organizer's version. It keeps the organizer's SEQUENCE, DTSTAMP and exceptions, which the attendee's clients cannot
// change.

// propCancelled marks an override of the organizer's version that a CANCEL created. The attendee's copy excludes the
// instance.
const propCancelled = "X-CANCELLED"

// retell returns the organizer's version after another message. A new series replaces the old one. Exceptions from
// earlier messages stay, unless the message contradicts them or has a higher SEQUENCE.
func (r Rules) retell(ctx context.Context, told *reading, message *content.Object) (*content.Object, error) {
	if told.Object == nil {
		return message, nil
	}
	base, add := message, told.Object
	if message.Master == nil {
		base, add = told.Object, message
	}
	x, err := r.readCopy(ctx, base)
	if err != nil {
		return nil, err
	}
	for _, c := range add.Overrides {
		id, err := c.Property("RECURRENCE-ID").Time()
		if err != nil {
			return nil, err
		}
		key, err := x.key(id)
		if err != nil {
			return nil, err
		}
		if message.Master != nil && (x.singles(key) || x.at(key, id) == nil || sequence(x.Master) > sequence(c)) {
			continue
		}
		if was := x.apart[key]; was != nil {
			x.Calendar.RemoveComponent(was)
		}
		x.admit(key)
		x.Calendar.AddComponent(c.Clone())
	}
	lendZones(x.Calendar, add.Calendar)
	return content.Of(x.Document)
}

// retract returns the organizer's version after a CANCEL. Cancelled instances stay as marked overrides with the
// SEQUENCE of the message, so that an older message does not restore them.
func (r Rules) retract(ctx context.Context, told *reading, message *content.Object) (*content.Object, error) {
	x, err := r.readCopy(ctx, told.Object)
	if err != nil {
		return nil, err
	}
	for _, c := range message.Components() {
		switch p := c.Property("RECURRENCE-ID"); {
		case p == nil && x.master() != nil:
			for _, o := range x.Overrides {
				x.Calendar.RemoveComponent(o)
			}
			cancelled(x.Master, c)
		case p == nil:
			for _, o := range x.Overrides {
				cancelled(o, c)
			}
		case ranged(c):
			if x, err = r.endBefore(ctx, x, c); err != nil {
				return nil, err
			}
			setSequence(x.Main(), max(sequence(x.Main()), sequence(c)))
		default:
			if err := x.mark(p, c); err != nil {
				return nil, err
			}
		}
	}
	return content.Of(x.Document)
}

// mark adds a cancelled override for an instance.
func (x *reading) mark(p *ical.Property, c *ical.Component) error {
	id, err := p.Time()
	if err != nil {
		return err
	}
	at, err := x.override(id)
	if err != nil {
		return nil // no such instance to cancel
	}
	cancelled(at, c)
	at.Set(ical.NewText(propCancelled, "TRUE"))
	return nil
}

// cancelled copies the state of a CANCEL's component to a component of the organizer's version.
func cancelled(at, c *ical.Component) {
	setWord(at, "STATUS", "CANCELLED")
	setSequence(at, max(sequence(at), sequence(c)))
	if stamp := c.Property("DTSTAMP"); stamp != nil {
		at.Set(stamp.Clone())
	}
}

// visible returns the organizer's version without the cancelled instances.
func (r Rules) visible(ctx context.Context, told *reading) (*reading, error) {
	if told.Object == nil ||
		!slices.ContainsFunc(told.Overrides, func(c *ical.Component) bool { return c.Property(propCancelled) != nil }) {
		return told, nil
	}
	x, err := r.readCopy(ctx, told.Object)
	if err != nil {
		return nil, err
	}
	return r.withoutCancelled(ctx, x)
}

// withoutCancelled removes the instances that a CANCEL marked from an attendee's copy.
func (r Rules) withoutCancelled(ctx context.Context, x *reading) (*reading, error) {
	dropped := false
	for _, key := range slices.Sorted(maps.Keys(x.apart)) {
		c := x.apart[key]
		if c.Property(propCancelled) == nil {
			continue
		}
		c.Remove(propCancelled)
		if err := x.drop(c); err != nil {
			return nil, err
		}
		dropped = true
	}
	if !dropped {
		return x, nil
	}
	return r.again(ctx, x)
}
