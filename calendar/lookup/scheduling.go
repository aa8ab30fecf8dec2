package lookup

import (
	"context"

	"caldav-mcp-server/calendar"
)

// Messages returns the messages in the caller's inbox, latest last.
func (s *Reader) Messages(ctx context.Context, c calendar.Caller) ([]calendar.InboxItem, error) {
	changes, err := s.MessageChanges(ctx, c, calendar.SyncToken{})
	return changes.Items, err
}

// Message returns one message by name.
func (s *Reader) Message(ctx context.Context, c calendar.Caller, name calendar.ObjectName) (calendar.InboxItem, error) {
	return message(ctx, c, name, s.store.InboxItem)
}

// Proposal returns a message that proposes another time, even after it was removed from the inbox.
func (s *Reader) Proposal(
	ctx context.Context, c calendar.Caller, name calendar.ObjectName,
) (calendar.InboxItem, error) {
	return message(ctx, c, name, s.store.Proposal)
}

func message(
	ctx context.Context, c calendar.Caller, name calendar.ObjectName,
	read func(context.Context, calendar.UserID, calendar.ObjectName) (calendar.InboxItem, error),
) (calendar.InboxItem, error) {
	if err := c.MayOwn(calendar.ReadObjects); err != nil {
		return calendar.InboxItem{}, err
	}
	i, err := read(ctx, c.User.ID, name)
	if calendar.ReasonOf(err) == calendar.NotFound && err != nil {
		err = calendar.Errorf(calendar.NotFound, "", "there is no message %q", string(name))
	}
	return i, err
}

// ProposalsTo returns the latest proposals to the caller without their texts, up to most, oldest first.
func (s *Reader) ProposalsTo(ctx context.Context, c calendar.Caller, most int) ([]calendar.InboxNote, error) {
	if err := c.MayOwn(calendar.ReadObjects); err != nil {
		return nil, err
	}
	return s.store.Proposals(ctx, c.User.ID, most)
}

// Unverified returns the invitations to the caller that came by mail and were not followed, latest first.
func (s *Reader) Unverified(ctx context.Context, c calendar.Caller) ([]calendar.Unverified, error) {
	if err := c.MayOwn(calendar.ReadObjects); err != nil {
		return nil, err
	}
	return s.store.Unverified(ctx, c.User.ID)
}

// MessageChanges returns the changes to the caller's inbox since a token; the zero token returns all messages.
func (s *Reader) MessageChanges(
	ctx context.Context, c calendar.Caller, since calendar.SyncToken,
) (calendar.BoxChanges[calendar.InboxItem], error) {
	return boxChanges(ctx, s, c, inbox, s.store.Inbox, since)
}

// MessageToken returns the token of the inbox's current state.
func (s *Reader) MessageToken(ctx context.Context, c calendar.Caller) (calendar.SyncToken, error) {
	_, past, err := openBox(ctx, s, c, inbox, s.store.InboxState)
	return past.Now(), err
}

// Scheduling returns the caller's scheduling settings. Default is the calendar that currently receives invitations;
// "" if there is none.
func (s *Reader) Scheduling(ctx context.Context, c calendar.Caller) (calendar.Scheduling, error) {
	if err := c.MayOwn(calendar.ReadObjects); err != nil {
		return calendar.Scheduling{}, err
	}
	said, err := s.store.Scheduling(ctx, c.User.ID)
	if err != nil {
		return said, err
	}
	all, err := s.store.Calendars(ctx, c.User.ID)
	said.Default = said.Reception(all)
	return said, err
}

// Mails returns the mail addresses of a user whom the caller sees.
func (s *Reader) Mails(ctx context.Context, user calendar.User) ([]string, error) {
	return s.store.Mails(ctx, user.ID)
}

// ScheduleTags returns the tags of a calendar's objects that have one.
func (s *Reader) ScheduleTags(
	ctx context.Context, c calendar.Caller, cal calendar.Calendar,
) (map[calendar.ObjectName]calendar.ScheduleTag, error) {
	if err := c.May(calendar.ReadObjects, cal); err != nil {
		return nil, err
	}
	return s.store.ScheduleTags(ctx, cal.ID)
}

// ReadHome prefetches the caller's home in one round trip into the returned context.
func (s *Reader) ReadHome(ctx context.Context, c calendar.Caller) (context.Context, error) {
	return s.store.ReadHome(ctx, c.User.ID)
}
