package delivery

import (
	"context"
	"maps"
	"slices"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/schedule"
)

// prepare opens all calendars that the messages reach. The list was read before they were locked, and is read again
// afterwards. If it has changed, the change restarts with the locks.
func (m *meeting) prepare(ctx context.Context, messages []schedule.Message) error {
	reached, err := m.reachedBy(ctx, messages)
	if err != nil {
		return err
	}
	opened, err := m.TryLock(ctx, reached, m.expected(ctx, messages))
	if err != nil || !opened {
		return err
	}
	copies := m.copies
	if err := m.lookUp(ctx); err != nil {
		return err
	}
	again, err := m.reachedBy(ctx, messages)
	if err == nil && (!slices.EqualFunc(copies, m.copies, sameCopy) || !slices.Equal(reached, again)) {
		err = m.RestartWith(again)
	}
	return err
}

// expected returns by how much each calendar will grow, if no attendee has a copy yet: all get the same one.
func (m *meeting) expected(ctx context.Context, messages []schedule.Message) calendar.Usage {
	for _, msg := range messages {
		user, t := m.parties[msg.To], m.textOf(msg)
		if _, there := m.receptions[user.ID]; len(m.copies) > 0 || !there || msg.Method != schedule.Request ||
			t.err != nil {
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
	return a.Owner == b.Owner && a.Calendar == b.Calendar && a.Name == b.Name && a.Version == b.Version &&
		a.ETag == b.ETag
}

// reachedBy returns the calendars that messages reach, and finds the calendars for users without a copy.
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
