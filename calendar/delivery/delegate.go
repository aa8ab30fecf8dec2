package delivery

import (
	"context"
	"maps"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/schedule"
)

// inviteDelegates sends invitations, on behalf of the organizer, to people whom an answer adds to the event: delegates
// of attendees. The delivery status is recorded in the event that will be stored.
func (m *meeting) inviteDelegates(ctx context.Context, organizer calendar.User, before, after *content.Object) error {
	parties, err := m.partiesOf(ctx, after)
	if err != nil {
		return err
	}
	// This counts as the organizer's change, even if an attendee caused it.
	theirs := *m
	theirs.in.Owner, theirs.before, theirs.next, theirs.parties = organizer.ID, before, after, maps.Clone(m.parties)
	maps.Copy(theirs.parties, parties)
	theirs.rules.Person = theirs.person
	messages, err := theirs.rules.Brought(ctx, before, after)
	if err != nil {
		return fatal(ctx, unusable{err})
	}
	if len(messages) == 0 {
		return nil
	}
	if err := theirs.lookUp(ctx); err != nil {
		return err
	}
	if err := theirs.prepare(ctx, messages); err != nil {
		return err
	}
	came := map[schedule.Person]string{}
	for _, msg := range messages {
		status, err := theirs.deliver(ctx, msg)
		if err != nil {
			return err
		}
		if status != "" {
			came[theirs.person(msg.To)] = status
		}
	}
	theirs.rules.Note(after, came)
	m.texts, m.merges = theirs.texts, theirs.merges
	return nil
}
