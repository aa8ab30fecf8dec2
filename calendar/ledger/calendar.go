package ledger

import (
	"cmp"
	"context"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/change"
	"caldav-mcp-server/calendar/zone"
)

// CreateCalendar creates a calendar of the caller.
func (s *Ledger) CreateCalendar(
	ctx context.Context, c calendar.Caller, n calendar.NewCalendar,
) (calendar.Calendar, error) {
	cal, err := s.planCalendar(c, n)
	if err != nil {
		return calendar.Calendar{}, err
	}
	return s.createCalendar(ctx, c, cal, n.DeadProperties, new(calendar.ChangeID))
}

// CreateMirror creates a calendar of the caller that mirrors a remote one.
func (s *Ledger) CreateMirror(
	ctx context.Context, c calendar.Caller, n calendar.NewCalendar, m calendar.Mirror, o calendar.Origin,
) (calendar.Calendar, error) {
	cal, err := s.planCalendar(c, n)
	if err != nil {
		return calendar.Calendar{}, err
	}
	m.Calendar = cal.ID
	return s.makeCalendar(ctx, c, cal, new(calendar.ChangeID), func(w *work, cal calendar.Calendar) error {
		return w.InsertMirror(ctx, m, o)
	})
}

// FillNote makes a subscription, created by the caller's apps, show a remote feed to all other clients. It removes old
// contents: the subscription may have been followed before, and in the trash when that ended.
func (s *Ledger) FillNote(ctx context.Context, c calendar.Caller, m calendar.Mirror, o calendar.Origin) error {
	var left []calendar.ObjectName
	for old, err := range s.store.Objects(ctx, m.Calendar, calendar.ObjectQuery{}) {
		if err != nil {
			return err
		}
		left = append(left, old.Name)
	}
	return s.change(ctx, c, func(w *work) error {
		w.FromSource = true
		cal, err := w.LockFor(ctx, calendar.ChangeCalendar, m.Calendar)
		if err != nil {
			return err
		}
		if !cal.Subscribed() || cal.Owner != c.User.ID {
			return calendar.Errorf(calendar.Invalid, "", "%q is not one of your subscriptions", cal.Name)
		}
		for _, name := range left {
			old, _, err := w.LiveObject(ctx, m.Calendar, name, "")
			if err == nil && old != nil {
				err = w.Bury(ctx, *old)
			}
			if err != nil {
				return err
			}
		}
		return w.InsertMirror(ctx, m, o)
	})
}

// planner fills in the properties of calendars and refuses invalid ones.
type planner struct {
	now   func() time.Time
	newID func() string
	zones *zone.DB
}

// planCalendar returns a calendar that the caller may create, without creating it.
func (p planner) planCalendar(c calendar.Caller, n calendar.NewCalendar) (calendar.Calendar, error) {
	if err := c.MayCreate(); err != nil {
		return calendar.Calendar{}, err
	}
	if err := n.Segment.Validate(); err != nil {
		return calendar.Calendar{}, err
	}
	cal := p.newCalendar(c, n)
	return cal, p.settle(&cal.Properties, c.User)
}

// createCalendar creates a planned calendar, as part of a unit.
func (s *Ledger) createCalendar(
	ctx context.Context, c calendar.Caller, cal calendar.Calendar, kept []calendar.DeadProperty,
	unit *calendar.ChangeID,
) (calendar.Calendar, error) {
	return s.makeCalendar(ctx, c, cal, unit, func(w *work, cal calendar.Calendar) error {
		return w.keep(ctx, calendar.Holder{Place: calendar.AtCalendar, Calendar: cal}, kept)
	})
}

// makeCalendar is createCalendar with an additional step in the same transaction.
func (s *Ledger) makeCalendar(
	ctx context.Context, c calendar.Caller, cal calendar.Calendar, unit *calendar.ChangeID,
	also func(*work, calendar.Calendar) error,
) (calendar.Calendar, error) {
	if cal.Color == nil {
		home, err := s.store.Calendars(ctx, c.User.ID)
		if err != nil {
			return calendar.Calendar{}, err
		}
		cal.Color = new(calendar.FreshColor(c.User.ID, home))
	}
	err := s.changePart(ctx, c, unit, func(w *work) error {
		now, err := w.insert(ctx, cal)
		if err != nil {
			return err
		}
		now.Wanted.Calendars = 1
		cal.Version, cal.Epoch, cal.OwnerQuota = now.Version, now.Epoch, now.OwnerQuota
		if err := also(w, cal); err != nil {
			return err
		}
		return w.WriteEntry(ctx, now, calendar.Change{Did: calendar.Created})
	})
	return cal, err
}

// insert creates a calendar and opens it.
func (w *work) insert(ctx context.Context, cal calendar.Calendar) (*change.LockedCalendar, error) {
	if err := w.InsertCalendar(ctx, cal); err != nil {
		return nil, err
	}
	return w.NextVersion(ctx, cal.ID)
}

func (p planner) newCalendar(c calendar.Caller, n calendar.NewCalendar) calendar.Calendar {
	now := p.now()
	cal := calendar.Calendar{
		ID: calendar.CalendarID(p.newID()), Owner: c.User.ID, OwnerName: c.User.Name, OwnerTitle: c.User.Title(),
		Segment:    n.Segment,
		Properties: n.Properties, Created: now, Modified: now, Access: calendar.OwnerAccess,
	}
	if cal.Segment == "" {
		cal.Segment = calendar.Segment(cal.ID)
	}
	if cal.Name == "" {
		cal.Name = string(cal.Segment)
	}
	if len(cal.Kinds) == 0 {
		cal.Kinds = calendar.AllKinds()
	}
	if n.Subscription {
		cal.Kinds = nil
	}
	return cal
}

// PatchCalendar calls edit to change a calendar's properties; edit returns the changes of dead properties. An error of
// edit changes nothing. A sharee changes the calendar's appearance only for themselves.
func (s *Ledger) PatchCalendar(
	ctx context.Context, c calendar.Caller, id calendar.CalendarID,
	edit func(*calendar.Properties) ([]calendar.DeadProperty, error),
) error {
	cal, err := s.patched(ctx, c, id)
	if err != nil {
		return err
	}
	if cal.Access != calendar.OwnerAccess {
		return s.arrange(ctx, c, cal, edit)
	}
	return s.resettle(ctx, c, id, func(w *work, cal calendar.Calendar) error {
		kept, err := edit(&cal.Properties)
		if err != nil {
			return err
		}
		if err := s.settle(&cal.Properties, c.User); err != nil {
			return err
		}
		if err := w.UpdateCalendar(ctx, id, cal.Properties); err != nil {
			return err
		}
		return w.keep(ctx, calendar.Holder{Place: calendar.AtCalendar, Calendar: cal}, kept)
	})
}

// MoveCalendar changes a calendar's address in its owner's home. It is forbidden to a token limited to some calendars:
// the taken addresses would reveal other calendars.
func (s *Ledger) MoveCalendar(
	ctx context.Context, c calendar.Caller, id calendar.CalendarID, to calendar.Segment,
) error {
	if err := c.MayOwn(calendar.ChangeCalendar); err != nil {
		return err
	}
	if err := s.Allow(ctx, c, calendar.ChangeCalendar, id); err != nil {
		return err
	}
	if err := to.Validate(); err != nil {
		return err
	}
	return s.resettle(ctx, c, id, func(w *work, _ calendar.Calendar) error { return w.Tx.MoveCalendar(ctx, id, to) })
}

// resettle changes the settings of a calendar.
func (s *Ledger) resettle(
	ctx context.Context, c calendar.Caller, id calendar.CalendarID, do func(*work, calendar.Calendar) error,
) error {
	return s.change(ctx, c, func(w *work) error {
		return w.ChangeSettings(ctx, id, calendar.Modified, func(cal calendar.Calendar) error { return do(w, cal) })
	})
}

// settle fills in the required properties of an owner's calendar and refuses invalid ones.
func (p planner) settle(props *calendar.Properties, owner calendar.User) error {
	if len(props.Name) > calendar.MaxNameLength {
		return calendar.Errorf(calendar.Invalid, "", "the calendar's name is longer than %d bytes",
			calendar.MaxNameLength)
	}
	for _, k := range props.Kinds {
		if !calendar.AllKinds().Has(k) {
			return calendar.Errorf(calendar.Invalid, calendar.RuleSupportedKind,
				"calendars cannot hold %s; they hold %s", k, calendar.AllKinds())
		}
	}
	if props.Color != nil {
		if _, err := calendar.ParseColor(*props.Color); err != nil {
			return err
		}
	}
	props.Timezone = cmp.Or(props.Timezone, owner.Timezone, zone.UTC().Name())
	z, err := p.zones.Lookup(props.Timezone)
	if err != nil {
		return calendar.Errorf(calendar.Invalid, calendar.RuleValidTimezone, "%v", err)
	}
	props.Timezone = z.Name()
	return nil
}

// patched returns a calendar whose properties the caller may change: their own, or one shared with them.
func (s *Ledger) patched(ctx context.Context, c calendar.Caller, id calendar.CalendarID) (calendar.Calendar, error) {
	cal, err := s.Calendar(ctx, c, id)
	if err != nil {
		return cal, err
	}
	if cal.Access == calendar.OwnerAccess {
		return cal, c.May(calendar.ChangeCalendar, cal)
	}
	return cal, c.May(calendar.ArrangeCalendar, cal)
}

// arrange is PatchCalendar for a sharee: their settings and dead properties apply only to themselves. The calendar
// keeps its version, which all users share. The sharee's other clients learn of the change from their home, see
// Calendar.seenAs.
func (s *Ledger) arrange(
	ctx context.Context, c calendar.Caller, shared calendar.Calendar,
	edit func(*calendar.Properties) ([]calendar.DeadProperty, error),
) error {
	owners, err := s.store.Calendar(ctx, shared.Owner, shared.ID)
	if err != nil {
		return noShare(err, shared.ID)
	}
	return s.change(ctx, c, func(w *work) error {
		before, err := w.Arrangement(ctx, shared.ID, c.User.ID)
		if err != nil {
			return noShare(err, shared.ID)
		}
		found := owners.ForSharees()
		mine := before.Over(found)
		kept, err := edit(&mine)
		if err != nil {
			return err
		}
		if !calendar.Personal(found, mine) {
			return calendar.Errorf(calendar.Forbidden, calendar.RulePrivileges,
				"of a calendar that is shared with you, you set the name, the description, the colour, the order and "+
					"whether it is shown and takes your time for yourself; the rest is its owner's")
		}
		after := calendar.ArrangementOf(found, mine)
		mine = after.Over(owners.Properties)
		if err := s.settle(&mine, calendar.User{}); err != nil {
			return err
		}
		if err := w.Arrange(ctx, shared.ID, c.User.ID, after); err != nil {
			return err
		}
		return w.keep(ctx, calendar.Holder{Place: calendar.AtShare, Calendar: owners, User: c.User.ID}, kept)
	})
}

// noShare turns NotFound, for a share that was withdrawn in the meantime, into the error for calendars that the caller
// cannot see.
func noShare(err error, id calendar.CalendarID) error {
	if calendar.ReasonOf(err) == calendar.NotFound {
		return calendar.ErrNoCalendar(string(id))
	}
	return err
}
