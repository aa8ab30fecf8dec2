package store

import (
	"context"
	"maps"
	"slices"

	"caldav-mcp-server/calendar"
)

// prefetchedHome is a prefetched home of a user.
type prefetchedHome struct {
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

type prefetchedHomeKey struct{}

// prefetchedHomeOf returns the request's prefetched home of the user, or nil.
func prefetchedHomeOf(ctx context.Context, user calendar.UserID) *prefetchedHome {
	if h, _ := ctx.Value(prefetchedHomeKey{}).(*prefetchedHome); h != nil && h.user == user {
		return h
	}
	return nil
}

// These return copies, since callers may sort or filter them.

func (h *prefetchedHome) allCalendars() []calendar.Calendar { return slices.Clone(h.calendars) }

func (h *prefetchedHome) home() calendar.Home {
	record := h.record
	record.Members = slices.Clone(record.Members)
	return record
}

func (h *prefetchedHome) keptOfCalendars() map[calendar.CalendarID][]calendar.DeadProperty {
	return maps.Clone(h.ofCalendars)
}
