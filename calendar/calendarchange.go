package calendar

import (
	"cmp"
	"context"

	"caldav-mcp-server/calendar/zone"
)

// CreateCalendar makes a calendar of the caller's own.
func (s *Service) CreateCalendar(ctx context.Context, c Caller, n NewCalendar) (Calendar, error) {
	if err := c.MayCreate(); err != nil {
		return Calendar{}, err
	}
	if err := n.Segment.validate(); err != nil {
		return Calendar{}, err
	}
	cal := s.newCalendar(c, n)
	if err := s.settle(&cal.Properties, c.User); err != nil {
		return Calendar{}, err
	}
	err := s.change(ctx, c, func(w *work) error {
		if err := w.InsertCalendar(ctx, cal); err != nil {
			return err
		}
		now, err := w.next(ctx, cal.ID)
		if err != nil {
			return err
		}
		cal.Version, cal.Epoch = now.Version, now.Epoch
		if err := w.keep(ctx, Holder{Place: AtCalendar, Calendar: cal}, n.Kept); err != nil {
			return err
		}
		return w.log(ctx, now, Entry{Change: Created})
	})
	return cal, err
}

func (s *Service) newCalendar(c Caller, n NewCalendar) Calendar {
	now := s.now()
	cal := Calendar{
		ID: CalendarID(s.newID()), Owner: c.User.ID, OwnerName: c.User.Name, Segment: n.Segment,
		Properties: n.Properties, Created: now, Modified: now, Access: OwnerAccess,
	}
	if cal.Segment == "" {
		cal.Segment = Segment(cal.ID)
	}
	if cal.Name == "" {
		cal.Name = string(cal.Segment)
	}
	if len(cal.Kinds) == 0 {
		cal.Kinds = AllKinds()
	}
	if n.Subscription {
		cal.Kinds = nil
	}
	return cal
}

// PatchCalendar lets edit change a calendar's properties and return the changes of those that are
// kept. What edit refuses changes nothing. Who has a share changes how they have the calendar for
// themselves.
func (s *Service) PatchCalendar(ctx context.Context, c Caller, id CalendarID, edit func(*Properties) ([]Kept, error)) error {
	cal, err := s.patched(ctx, c, id)
	if err != nil {
		return err
	}
	if cal.Access != OwnerAccess {
		return s.arrange(ctx, c, cal, edit)
	}
	return s.resettle(ctx, c, id, func(w *work, cal Calendar) error {
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
		return w.keep(ctx, Holder{Place: AtCalendar, Calendar: cal}, kept)
	})
}

// MoveCalendar gives a calendar another address in its owner's home. A token that is bound to some calendars
// has no business there: by what is taken it would learn which others there are.
func (s *Service) MoveCalendar(ctx context.Context, c Caller, id CalendarID, to Segment) error {
	if err := c.MayOwn(ChangeCalendar); err != nil {
		return err
	}
	if err := s.allow(ctx, c, ChangeCalendar, id); err != nil {
		return err
	}
	if err := to.validate(); err != nil {
		return err
	}
	return s.resettle(ctx, c, id, func(w *work, _ Calendar) error { return w.Tx.MoveCalendar(ctx, id, to) })
}

// resettle changes the settings of a calendar.
func (s *Service) resettle(ctx context.Context, c Caller, id CalendarID, do func(*work, Calendar) error) error {
	return s.change(ctx, c, func(w *work) error {
		return w.settings(ctx, id, Modified, func(cal Calendar) error { return do(w, cal) })
	})
}

// DeleteCalendar moves a calendar to the trash.
func (s *Service) DeleteCalendar(ctx context.Context, c Caller, id CalendarID) error {
	if err := s.allow(ctx, c, DeleteCalendar, id); err != nil {
		return err
	}
	return s.change(ctx, c, func(w *work) error { return w.trash(ctx, id) })
}

// settle fills in what a calendar of the owner's cannot be without, and refuses what it cannot be.
func (s *Service) settle(p *Properties, owner User) error {
	if len(p.Name) > maxNameLength {
		return Errorf(Invalid, "", "the calendar's name is longer than %d bytes", maxNameLength)
	}
	for _, k := range p.Kinds {
		if !AllKinds().Has(k) {
			return Errorf(Invalid, RuleSupportedKind, "calendars cannot hold %s; they hold %s", k, AllKinds())
		}
	}
	if p.Color != nil {
		if _, err := ParseColor(*p.Color); err != nil {
			return err
		}
	}
	p.Timezone = cmp.Or(p.Timezone, owner.Timezone, zone.UTC().Name())
	z, err := s.zones.Lookup(p.Timezone)
	if err != nil {
		return Errorf(Invalid, RuleValidTimezone, "%v", err)
	}
	p.Timezone = z.Name()
	return nil
}

// patched returns the calendar of which the caller would change properties, and may: theirs, or one that they
// have a share of.
func (s *Service) patched(ctx context.Context, c Caller, id CalendarID) (Calendar, error) {
	cal, err := s.Calendar(ctx, c, id)
	if err != nil {
		return cal, err
	}
	if cal.Access == OwnerAccess {
		return cal, c.May(ChangeCalendar, cal)
	}
	return cal, c.May(ArrangeCalendar, cal)
}

// arrange is PatchCalendar for who has a share: what they set, they set for themselves, and what they keep is
// theirs. The calendar stays at its version, which is everybody's: their other programs hear of it by their
// home, see Calendar.seenAs.
func (s *Service) arrange(ctx context.Context, c Caller, shared Calendar, edit func(*Properties) ([]Kept, error)) error {
	owners, err := s.store.Calendar(ctx, shared.Owner, shared.ID)
	if err != nil {
		return noShare(err, shared.ID)
	}
	return s.change(ctx, c, func(w *work) error {
		before, err := w.Arrangement(ctx, shared.ID, c.User.ID)
		if err != nil {
			return noShare(err, shared.ID)
		}
		mine := before.Over(owners.Properties)
		kept, err := edit(&mine)
		if err != nil {
			return err
		}
		if !personal(owners.Properties, mine) {
			return Errorf(Forbidden, RulePrivileges, "of a calendar that is shared with you, you set the name, the description, the colour, the order and whether it is shown and takes your time for yourself; the rest is its owner's")
		}
		after := arrangementOf(owners.Properties, mine)
		mine = after.Over(owners.Properties)
		if err := s.settle(&mine, User{}); err != nil {
			return err
		}
		if err := w.Arrange(ctx, shared.ID, c.User.ID, after); err != nil {
			return err
		}
		return w.keep(ctx, Holder{Place: AtShare, Calendar: owners, User: c.User.ID}, kept)
	})
}

// noShare says of a share that was taken away in the meantime what is said of any calendar
// that the caller does not see.
func noShare(err error, id CalendarID) error {
	if ReasonOf(err) == NotFound {
		return errNoCalendar(string(id))
	}
	return err
}
