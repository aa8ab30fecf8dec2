package delivery

import (
	"context"
	"iter"
	"strings"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/schedule"
)

// toldEvent returns the external organizer's latest version for the owner of a copy, or nil if it is unknown.
func (m *meeting) toldEvent(ctx context.Context, a *calendar.Appointment) (*content.Object, error) {
	o, err := m.keptTold(ctx, a.Owner, a.UID)
	if o != nil || err != nil {
		return o, err
	}
	data, err := m.lastMessage(ctx, a)
	if err != nil {
		return nil, err
	}
	return readTold(data), nil
}

// keptTold returns the text that keepTold stored for a user, who may have deleted the copy since; nil if there is none.
func (m *meeting) keptTold(ctx context.Context, user calendar.UserID, uid calendar.UID) (*content.Object, error) {
	data, err := m.ToldEvent(ctx, user, uid)
	return readTold(data), err
}

// readTold parses an organizer's text. A damaged one counts as none.
func readTold(data []byte) *content.Object {
	o, err := content.Read(data, unlimited)
	if err != nil {
		return nil
	}
	return o
}

// For copies that version 0.1.0 wrote, only the journal knows which version came from a message.
const (
	mailAgent    = "mail of "
	messagesMost = 1000
)

// lastMessage returns the newest version of a copy that a message wrote; nil if the journal has none.
func (m *meeting) lastMessage(ctx context.Context, a *calendar.Appointment) ([]byte, error) {
	if err := m.loadData(ctx, a); err != nil {
		return nil, err
	}
	after, n := a.Data, 0
	for e, err := range m.Journal(ctx, a.Calendar, calendar.JournalQuery{Of: &a.UID, WithBefore: true}) {
		if err != nil {
			return nil, err
		}
		if e.Scheduled && strings.HasPrefix(e.Agent, mailAgent) {
			return after, nil
		}
		if n++; n > messagesMost || e.Before == nil {
			break
		}
		after = e.Before
	}
	return nil, nil
}

// earlier yields the former versions of a copy, as far as the journal has them and they are readable.
func (m *meeting) earlier(ctx context.Context, a calendar.Appointment) iter.Seq2[schedule.Earlier, error] {
	return func(yield func(schedule.Earlier, error) bool) {
		n := 0
		for e, err := range m.Journal(ctx, a.Calendar, calendar.JournalQuery{Of: &a.UID, WithBefore: true}) {
			if err == nil {
				err = m.rules.Meter.Work(int64(mergeSteps * len(e.Before) >> 6))
			}
			was := schedule.Earlier{Told: e.Scheduled}
			if err == nil && e.Did != calendar.Created {
				read, damaged := content.Read(e.Before, unlimited)
				if damaged != nil {
					return
				}
				was.Object = read
			}
			if n++; !yield(was, err) || n == messagesMost {
				return
			}
		}
	}
}

// keepTold stores an external organizer's version.
func (m *meeting) keepTold(ctx context.Context, user calendar.UserID, told *content.Object) error {
	data := told.Document.Bytes()
	if err := m.validator.CheckSize(data); err != nil {
		return err
	}
	return m.PutToldEvent(ctx, user, calendar.UID(told.UID), data)
}

// toldOwner returns the organizer's latest version for the owner of the calendar, or nil if it is unknown. If the
// organizer has an account here, it is the organizer's own object.
func (m *meeting) toldOwner(ctx context.Context) *content.Object {
	if u, here := m.organizerHere(); here {
		a, err := m.loadCopy(ctx, u.ID)
		if err != nil || a == nil {
			return nil
		}
		o, err := content.Read(a.Data, unlimited)
		if err != nil || schedule.OrganizerOf(o) != schedule.OrganizerOf(m.before) {
			return nil
		}
		return o
	}
	a := m.copyOf(m.in.Owner)
	if a == nil {
		return nil
	}
	o, err := m.toldEvent(ctx, a)
	if err != nil {
		return nil
	}
	return o
}
