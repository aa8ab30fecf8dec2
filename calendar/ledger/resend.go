package ledger

import (
	"context"
	"slices"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/schedule"
)

// resend tells a guest elsewhere anew what they take part in, as they asked to be told (RFC 5546 §3.2.6).
func (m *meeting) resend(ctx context.Context, organizer calendar.User, guest schedule.Address) error {
	a, err := m.whole(ctx, organizer.ID)
	if err != nil {
		return err
	}
	if a == nil {
		return calendar.Errorf(calendar.NotFound, "", "the question is about an event that the user does not have")
	}
	stored, err := content.Read(a.Data, unlimited)
	if err != nil {
		return err
	}
	if m.parties, err = m.partiesOf(ctx, stored); err != nil {
		return err
	}
	if !m.parties.Are(organizer.ID)(schedule.OrganizerOf(stored)) {
		return calendar.Errorf(calendar.Forbidden, "", "the question is about an event that the user does not organize")
	}
	if _, here := m.parties[guest]; here || !slices.Contains(schedule.Attendees(stored), guest) {
		return calendar.Errorf(calendar.Forbidden, "", "who asks is not invited to the event from here")
	}
	m.next = stored
	all, err := m.rules.Refreshed(ctx, stored, []schedule.Address{guest})
	if err != nil {
		return notApplied(err)
	}
	for _, msg := range all {
		msg.Refresh = false // they are to hear of it
		m.post(msg)
	}
	return nil
}
