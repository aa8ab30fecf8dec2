package mcp

import (
	"context"
	"slices"

	"caldav-mcp-server/calendar"
)

// forDelegates are the tools that work in the calendars of users who made the caller their delegate, if calendar_id
// names one. The access table decides about each action. All other tools use the caller's own calendars.
var forDelegates = []string{
	"list_events", "query_events", "get_event", "create_event", "update_event", "patch_event", "move_event",
	"delete_event", "respond_to_event", "list_tasks", "get_task", "create_task", "update_task", "move_task",
	"delete_task", "get_calendar", "list_changes",
}

// actFor makes the caller a delegate if the call is about another user's calendar. It returns a function that ends
// that.
func (h *Handler) actFor(ctx context.Context, t tool, c *call) (end func(), err error) {
	self := c.caller
	end = func() { c.caller = self }
	if id, _ := readText(c.asked["calendar_id"]); id != "" && slices.Contains(forDelegates, t.name) {
		c.caller, err = h.box.service.ActAt(ctx, self, calendar.CalendarID(id))
	}
	return end, err
}

// mostDelegators limits the users whose calendars list_calendars adds: anyone can appoint the caller.
const mostDelegators = 30

// delegatedCalendars returns the calendars that the caller can use as a delegate, with the access of the delegation.
func (b toolbox) delegatedCalendars(ctx context.Context, c calendar.Caller) (all []calendar.Calendar, err error) {
	if c.MayActFor() != nil {
		return nil, nil
	}
	from, err := b.service.DelegatedTo(ctx, c)
	for _, d := range from[:min(len(from), mostDelegators)] {
		theirs, err := b.service.Calendars(ctx, c.As(d))
		if err != nil {
			return nil, err
		}
		for _, cal := range theirs {
			cal.Access = d.Access
			all = append(all, cal)
		}
	}
	return all, err
}
