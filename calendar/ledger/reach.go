package ledger

import (
	"context"
	"maps"
	"slices"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/schedule"
)

// reachAttempts bounds how often a change begins anew since it reaches further than it was known to.
const reachAttempts = 4

// reachError ends a transaction that needs calendars which it has not opened: all that it opens are opened in the order
// of their ids, so that it begins anew with them.
type reachError struct{ calendars []calendar.CalendarID }

// Error says so, should it be shown to anybody after all.
func (e *reachError) Error() string {
	return "who takes part in this changes it all the time; try again in a moment"
}

// openAll opens calendars, in the order of their ids. Those that are gone are left out.
func (w *work) openAll(ctx context.Context, ids []calendar.CalendarID) error {
	if len(ids) == 0 {
		return nil
	}
	all, err := w.AdvanceAll(ctx, ids)
	for _, cal := range all {
		w.note(cal)
	}
	return err
}

// reach sees that calendars are open, or has the change begin anew with them.
func (w *work) reach(ids []calendar.CalendarID) error {
	if missing := w.closed(ids); len(missing) > 0 {
		return w.furtherThan(missing)
	}
	return nil
}

// seize opens calendars out of their order, as long as nobody else has one of them: only who waits must keep the order. It
// tells whether it has opened any; what was read of those before may have changed. By how much they are going to grow is counted along with
// it, which count puts right.
func (w *work) seize(ctx context.Context, ids []calendar.CalendarID, grown calendar.Usage) (bool, error) {
	missing := w.closed(ids)
	if len(missing) == 0 {
		return false, nil
	}
	all, err := w.AdvanceFree(ctx, missing, grown)
	if err != nil {
		return false, err
	}
	for _, cal := range all {
		w.note(cal).counted = grown
	}
	return true, w.reach(missing)
}

// closed are those of some calendars that are not open.
func (w *work) closed(ids []calendar.CalendarID) []calendar.CalendarID {
	var missing []calendar.CalendarID
	for _, id := range slices.Compact(slices.Sorted(slices.Values(ids))) {
		if w.opened[id] == nil {
			missing = append(missing, id)
		}
	}
	return missing
}

// furtherThan has the change begin anew with all that is open and some calendars more.
func (w *work) furtherThan(missing []calendar.CalendarID) error {
	return &reachError{slices.AppendSeq(missing, maps.Keys(w.opened))}
}

// prepare sees that all calendars are open that the messages reach. Which these are was read before they were locked, and is
// read again then: what is not as it was has the change begin anew, with the locks.
func (m *meeting) prepare(ctx context.Context, messages []schedule.Message) error {
	reached, err := m.reachedBy(ctx, messages)
	if err != nil {
		return err
	}
	opened, err := m.seize(ctx, reached, m.expected(ctx, messages))
	if err != nil || !opened {
		return err
	}
	copies := m.copies
	if err := m.lookUp(ctx); err != nil {
		return err
	}
	again, err := m.reachedBy(ctx, messages)
	if err == nil && (!slices.EqualFunc(copies, m.copies, sameCopy) || !slices.Equal(reached, again)) {
		err = m.furtherThan(m.closed(again))
	}
	return err
}

// expected is by how much a calendar grows that gets a copy, where nobody has one: all get the same.
func (m *meeting) expected(ctx context.Context, messages []schedule.Message) calendar.Usage {
	for _, msg := range messages {
		user, t := m.parties[msg.To], m.textOf(msg)
		if _, there := m.receptions[user.ID]; len(m.copies) > 0 || !there || msg.Method != schedule.Request || t.err != nil {
			continue
		}
		made, err := m.merge(ctx, &calendar.Appointment{Owner: user.ID}, user, msg, t)
		if err == nil && made.fits {
			return calendar.Usage{Objects: 1, Bytes: int64(len(made.data))}
		}
	}
	return calendar.Usage{}
}

func sameCopy(a, b calendar.Appointment) bool {
	return a.Owner == b.Owner && a.Calendar == b.Calendar && a.Name == b.Name && a.Version == b.Version && a.ETag == b.ETag
}

// reachedBy are the calendars that messages reach, and finds where those get a copy who have none.
func (m *meeting) reachedBy(ctx context.Context, messages []schedule.Message) ([]calendar.CalendarID, error) {
	var reached []calendar.CalendarID
	var without []calendar.UserID
	reach := func(user calendar.UserID) {
		if a := m.copyOf(user); a != nil {
			reached = append(reached, a.Calendar)
		} else {
			without = append(without, user)
		}
	}
	for _, msg := range messages {
		if u, here := m.parties[msg.To]; here && u.ID != m.in.Owner {
			reach(u.ID)
		}
		if msg.Method == schedule.Reply {
			for _, user := range m.refreshed(m.parties[msg.To].ID) {
				reach(user)
			}
		}
	}
	if len(without) > 0 {
		var err error
		if m.receptions, err = m.Receptions(ctx, without, m.kind()); err != nil {
			return nil, err
		}
		reached = slices.AppendSeq(reached, maps.Values(m.receptions))
	}
	slices.Sort(reached)
	return slices.Compact(reached), nil
}
