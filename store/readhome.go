package store

import (
	"context"
	"maps"
	"slices"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/store/db"
)

// readHome is a prefetched home of a user.
type readHome struct {
	user       calendar.UserID
	epoch      calendar.Epoch
	calendars  []calendar.Calendar
	record     calendar.Home
	usage      calendar.Usage
	scheduling calendar.Scheduling
	inbox      calendar.Box[calendar.InboxItem]
	// kept has the dead properties of the home itself, ofCalendars the properties of its calendars.
	kept        []calendar.DeadProperty
	ofCalendars map[calendar.CalendarID][]calendar.DeadProperty
}

type readHomeKey struct{}

// ReadHome implements [calendar.Reader].
func (s calendarStore) ReadHome(ctx context.Context, user calendar.UserID) (context.Context, error) {
	h := &readHome{user: user, ofCalendars: map[calendar.CalendarID][]calendar.DeadProperty{}}
	err := s.db.Brief.Ask(ctx, []db.Question{
		{Take: db.TakeAll(&h.calendars, scanCalendar), Text: selectCalendarsOf, Args: []any{string(user)}},
		{Take: takeHome(&h.record), Text: selectHome, Args: []any{string(user)}},
		{Take: h.takeRest, Text: selectRestOfHome, Args: []any{string(user)}},
		{Take: takeKept(h.ofCalendars), Text: selectKept, Args: []any{string(user)}},
	})
	if err != nil {
		return ctx, err
	}
	sortHome(h.calendars)
	sortKept(h.ofCalendars)
	h.epoch, h.kept = h.record.Epoch, h.ofCalendars[""]
	delete(h.ofCalendars, "")
	return context.WithValue(ctx, readHomeKey{}, h), nil
}

const (
	// selectRestOfHome is one statement: several would take longer to start than to run.
	selectRestOfHome = `SELECT u.calendars, u.objects, u.bytes, COALESCE(s.calendar_id, ''), s.availability, COALESCE(i.version, 0), COALESCE(i.pruned, 0)
		FROM (` + selectUsage + `) AS u LEFT JOIN scheduling s ON s.user_id = $1 LEFT JOIN inboxes i ON i.user_id = $1`
	// selectKept returns the dead properties of the calendars, followed by the home's.
	selectKept = selectDeadInHome + ` UNION ALL SELECT '', k.space, k.name, k.value FROM user_kept k WHERE k.owner = $1 AND k.item = 'home'`
)

func (h *readHome) takeRest(row db.Scanner) (more bool, err error) {
	return false, row.Scan(append(usageFields(&h.usage), &h.scheduling.Default, &h.scheduling.Availability, &h.inbox.Version, &h.inbox.Pruned)...)
}

// homeRead returns the request's prefetched home of the user, or nil.
func homeRead(ctx context.Context, user calendar.UserID) *readHome {
	if h, _ := ctx.Value(readHomeKey{}).(*readHome); h != nil && h.user == user {
		return h
	}
	return nil
}

// These return copies, since callers may sort or filter them.

func (h *readHome) allCalendars() []calendar.Calendar { return slices.Clone(h.calendars) }

func (h *readHome) home() calendar.Home {
	record := h.record
	record.Members = slices.Clone(record.Members)
	return record
}

func (h *readHome) keptOfCalendars() map[calendar.CalendarID][]calendar.DeadProperty {
	return maps.Clone(h.ofCalendars)
}
