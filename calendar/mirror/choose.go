package mirror

import (
	"context"
	"slices"

	"caldav-mcp-server/calendar"
)

// Choice selects the calendars of an account that are linked.
type Choice struct {
	// Remotes are the source's identifiers of the calendars.
	Remotes []string
	// New links calendars that appear at the account later, too.
	New bool
}

// Choose links the chosen calendars of an account and moves its other linked calendars to the trash. The next sync
// fetches the new ones. A chosen calendar that is in the trash returns from there.
func (m *Mirror) Choose(ctx context.Context, c calendar.Caller, id calendar.AccountID, choice Choice) (Linked, error) {
	for _, a := range []calendar.Action{calendar.CreateCalendars, calendar.DeleteCalendar} {
		if err := c.MayOwn(a); err != nil {
			return Linked{}, err
		}
	}
	sealed, err := m.own(ctx, c, id)
	if err != nil {
		return Linked{}, err
	}
	account, err := m.with(ctx, c, sealed)
	if err != nil {
		return Linked{}, err
	}
	if p := m.Providers[account.Provider]; p.Feed || p.Mail {
		return Linked{}, calendar.Errorf(calendar.Unsupported, "", "only the calendars of an account can be chosen")
	}
	added, err := account.added(choice)
	if err != nil {
		return Linked{}, err
	}
	for _, cal := range account.Calendars {
		if slices.Contains(choice.Remotes, cal.State.Remote) {
			continue
		}
		err := m.ledger.DeleteCalendar(ctx, c, cal.ID)
		if err != nil && calendar.ReasonOf(err) != calendar.NotFound {
			return Linked{}, err
		}
	}
	if len(added) > 0 {
		if err := m.add(ctx, c, sealed, added); err != nil {
			return Linked{}, notRefreshed(err, account.Name)
		}
	}
	if len(added) > 0 || choice.New != account.LinksNew {
		err := m.Store.SetAccount(ctx, id, calendar.AccountEdit{LinksNew: &choice.New}, m.Now())
		if err != nil {
			return Linked{}, err
		}
	}
	return m.linked(ctx, c, id)
}

// added returns the chosen calendars that are not linked yet.
func (l Linked) added(choice Choice) ([]string, error) {
	if len(choice.Remotes) > calendarsMost {
		return nil, calendar.Errorf(calendar.TooLarge, "", "at most %d calendars of an account can be linked",
			calendarsMost)
	}
	var added []string
	for _, remote := range choice.Remotes {
		switch {
		case slices.Contains(added, remote) ||
			slices.ContainsFunc(l.Calendars, func(c LinkedCalendar) bool { return c.State.Remote == remote }):
		case slices.ContainsFunc(l.Unlinked, func(c calendar.ListedCalendar) bool { return c.Remote == remote }):
			added = append(added, remote)
		default:
			return nil, calendar.Errorf(calendar.Invalid, "", "the account has no calendar %q any more", remote).
				Advising("list its calendars again, and choose from them")
		}
	}
	return added, nil
}

// add links calendars of an account, from the trash if they are there.
func (m *Mirror) add(ctx context.Context, c calendar.Caller, a calendar.Account, added []string) error {
	ctx, cancel := context.WithTimeout(ctx, firstLook)
	defer cancel()
	source, _, err := m.open(a)
	if err != nil {
		return err
	}
	remotes, err := source.Calendars(ctx)
	if err != nil {
		return err
	}
	trashed, err := m.Store.TrashedMirrors(ctx, a.ID)
	if err != nil {
		return err
	}
	for _, r := range remotes {
		if !slices.Contains(added, r.ID) {
			continue
		}
		at := slices.IndexFunc(trashed, func(t calendar.Mirror) bool { return t.Remote == r.ID })
		if at < 0 {
			err = m.show(ctx, c, a, r)
		} else {
			err = m.restore(ctx, c, trashed[at].Calendar)
		}
		if err != nil && calendar.ReasonOf(err) != calendar.Exists { // a sync or another request was faster
			return err
		}
	}
	return m.list(ctx, a, remotes)
}

// restore takes a calendar out of the trash, to another address if its own is taken.
func (m *Mirror) restore(ctx context.Context, c calendar.Caller, id calendar.CalendarID) error {
	_, err := m.ledger.RestoreCalendar(ctx, c, id, "")
	if calendar.ReasonOf(err) == calendar.Exists {
		_, err = m.ledger.RestoreCalendar(ctx, c, id, calendar.Segment(m.NewID()))
	}
	return err
}

// list stores the calendars of an account as listed.
func (m *Mirror) list(ctx context.Context, a calendar.Account, remotes []Remote) error {
	known, err := m.Store.ListedCalendars(ctx, a.ID)
	if err != nil {
		return err
	}
	listed := make([]calendar.ListedCalendar, 0, len(remotes))
	changed := false
	for _, r := range remotes[:min(len(remotes), calendarsMost)] {
		one := calendar.ListedCalendar{Remote: r.ID, Name: nameOf(r.Name), Writable: r.Writable}
		changed = changed || !slices.Contains(known, one)
		listed = append(listed, one)
	}
	for _, one := range known {
		changed = changed || !one.Missing && !slices.ContainsFunc(listed, func(l calendar.ListedCalendar) bool {
			return l.Remote == one.Remote
		})
	}
	if !changed {
		return nil
	}
	return m.Store.SetListedCalendars(ctx, a.ID, listed, 2*calendarsMost)
}
