package lookup

import (
	"context"
	"slices"

	"caldav-mcp-server/calendar"
)

// Journal is a calendar with a journal; it may be in the trash.
type Journal struct {
	calendar.Calendar
	// InTrash is set when it is in the trash.
	InTrash bool
}

// Journals returns the calendars that the caller sees, and the caller's own ones in the trash.
func (s *Reader) Journals(ctx context.Context, c calendar.Caller) ([]Journal, error) {
	live, err := s.store.Calendars(ctx, c.User.ID)
	if err != nil {
		return nil, err
	}
	trashed, err := s.store.TrashedCalendars(ctx, c.User.ID)
	var all []Journal
	for _, cal := range live {
		all = append(all, Journal{cal, false})
	}
	for _, t := range trashed {
		all = append(all, Journal{t.Calendar, true})
	}
	return slices.DeleteFunc(all, func(j Journal) bool { return !c.Sees(j.Calendar) }), err
}

// JournalOf returns a calendar if the caller may see its changes.
func (s *Reader) JournalOf(ctx context.Context, c calendar.Caller, id calendar.CalendarID) (Journal, error) {
	all, err := s.Journals(ctx, c)
	if err != nil {
		return Journal{}, err
	}
	for _, j := range all {
		if j.ID == id {
			return j, c.May(calendar.ReadJournal, j.Calendar)
		}
	}
	return Journal{}, calendar.ErrNoCalendar(string(id))
}

// Line returns one journal entry.
func (s *Reader) Line(ctx context.Context, id calendar.ChangeID) (calendar.Change, error) {
	for line, err := range s.store.Journal(ctx, id.Calendar,
		calendar.JournalQuery{From: id.Version, Until: id.Version}) {
		return line, err
	}
	return calendar.Change{}, calendar.ErrNoChange(id.String())
}
