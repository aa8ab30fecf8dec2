package store

import (
	"context"
	"maps"
	"slices"

	"caldav-mcp-server/calendar"
)

// readHome is what was read of a user's home at once.
type readHome struct {
	user       calendar.UserID
	epoch      calendar.Epoch
	calendars  []calendar.Calendar
	record     calendar.Home
	usage      calendar.Usage
	scheduling calendar.Scheduling
	inbox      calendar.Box[calendar.InboxItem]
	// kept is what the home keeps, ofCalendars what is kept of those in it.
	kept        []calendar.DeadProperty
	ofCalendars map[calendar.CalendarID][]calendar.DeadProperty
}

type readHomeKey struct{}

// ReadHome implements [calendar.Reader].
func (s *Store) ReadHome(ctx context.Context, user calendar.UserID) (context.Context, error) {
	h := &readHome{user: user, ofCalendars: map[calendar.CalendarID][]calendar.DeadProperty{}}
	table, owner, item := keptOf(calendar.Holder{Place: calendar.AtHome, User: user})
	err := s.reads.ask(s.brief(ctx), []question{
		{takeAll(&h.calendars, scanCalendar), selectCalendarsOf, []any{string(user)}},
		{takeHome(&h.record), selectHome, []any{string(user)}},
		{takeOne(&h.usage, scanUsage), selectUsage, []any{string(user)}},
		{takeOne(&h.scheduling, scanScheduling), selectScheduling, []any{string(user)}},
		{takeOne(&h.inbox, scanBox[calendar.InboxItem]), selectInbox, []any{string(user)}},
		{takeAll(&h.kept, scanDeadProperty), table.list, []any{owner, item}},
		{takeKept(h.ofCalendars), selectDeadInHome, []any{string(user)}},
	})
	if err != nil {
		return ctx, err
	}
	sortHome(h.calendars)
	sortKept(h.ofCalendars)
	h.epoch = h.record.Epoch
	return context.WithValue(ctx, readHomeKey{}, h), nil
}

// homeRead is what the request has read of the user's home; nil where it has not.
func homeRead(ctx context.Context, user calendar.UserID) *readHome {
	if h, _ := ctx.Value(readHomeKey{}).(*readHome); h != nil && h.user == user {
		return h
	}
	return nil
}

// The answers are copies: whoever asks may sort them, or leave some out.

func (h *readHome) allCalendars() []calendar.Calendar { return slices.Clone(h.calendars) }

func (h *readHome) home() calendar.Home {
	record := h.record
	record.Members = slices.Clone(record.Members)
	return record
}

func (h *readHome) keptOfCalendars() map[calendar.CalendarID][]calendar.DeadProperty {
	return maps.Clone(h.ofCalendars)
}
