package mcp

import "caldav-mcp-server/calendar"

// deed is a call that does something to bob's calendar, or tells something of it, where that is
// granted.
type deed struct {
	// tool is one of tools/list; without it, a method does something with the resource of an address.
	tool, method, resource string
	// arguments are a call's arguments. CAL stands for the calendar, ID for an event in it, CHANGE for its latest
	// change, WHO for bob, TOKEN for his token, SINCE for the time he began, and OWN for a calendar of the caller.
	arguments string
	// needs is the access to the calendar that the call needs.
	needs calendar.Access
	// everywhere is set if the call names no calendar: anyone with the scope may call it, and needs is the access for
	// seeing bob's data in the result.
	everywhere bool
	// shows is set if the result contains the event's title, lists if it contains the calendar's name.
	shows, lists bool
	// leaves is set if the call needs a share, hides if callers without the right get a response as if it did not
	// exist.
	leaves, hides bool
	// own is set if the call is about all of the caller's data instead of one calendar: tokens restricted to some
	// calendars cannot make it. lacking is set if the caller has no data for it.
	own, lacking bool
	// titled is the lowest access with which the result has the title; with less it has busy times.
	titled calendar.Access
}

func (d deed) String() string {
	if d.tool == "" {
		return d.method + " " + d.resource
	}
	return d.tool + " " + d.arguments
}

// Words that would reveal the event and the calendar in a response.
const (
	eventWord    = "zebra"
	calendarWord = "quagga"
)

// deeds are all calls. Add new tools here.
func deeds() []deed {
	const event = `"calendar_id":"CAL","event_uid":"a"`
	const week = `"start":"2026-03-02","end":"2026-03-08"`
	return []deed{
		{tool: "calendar_auth_status", arguments: `{}`, everywhere: true, needs: calendar.OwnerAccess + 1},
		{
			tool: "create_calendar", arguments: `{"name":"New"}`, everywhere: true, own: true,
			needs: calendar.OwnerAccess + 1,
		},
		{tool: "list_calendars", arguments: `{}`, everywhere: true, needs: calendar.FreeBusyAccess, lists: true},
		{tool: "list_shared_calendars", arguments: `{}`, everywhere: true, needs: calendar.FreeBusyAccess},
		{tool: "get_calendar", arguments: `{"calendar_id":"CAL"}`, needs: calendar.FreeBusyAccess, lists: true},
		{
			tool: "update_calendar", arguments: `{"calendar_id":"CAL","hidden":true}`, needs: calendar.ReadAccess,
			lists: true,
		},
		{tool: "delete_calendar", arguments: `{"calendar_id":"CAL"}`, needs: calendar.OwnerAccess},
		{
			tool: "share_calendar", arguments: `{"calendar_id":"CAL","username":"carol","permission":"read"}`,
			needs: calendar.OwnerAccess,
		},
		{tool: "unshare_calendar", arguments: `{"calendar_id":"CAL","username":"carol"}`, needs: calendar.OwnerAccess},
		{
			tool: "unshare_calendar", arguments: `{"calendar_id":"CAL","username":"alice"}`,
			needs: calendar.FreeBusyAccess, leaves: true,
		},

		{
			tool: "subscribe_calendar", arguments: `{"url":"https://feeds.example/a","name":"New"}`, everywhere: true,
			own: true, needs: calendar.OwnerAccess + 1,
		},
		{
			tool: "webhooks", arguments: `{"action":"list"}`, everywhere: true, own: true,
			needs: calendar.OwnerAccess + 1,
		},
		{
			tool:      "webhooks",
			arguments: `{"action":"add","url":"https://hooks.example/a"}`, everywhere: true, own: true,
			needs: calendar.OwnerAccess + 1,
		},
		{tool: "list_bookings", arguments: `{}`, everywhere: true, own: true, needs: calendar.OwnerAccess + 1},
		{
			tool: "create_booking_page", arguments: `{"calendar_id":"CAL","title":"Talk"}`,
			needs: calendar.OwnerAccess,
		},
		{
			tool: "update_linked_account", arguments: `{"account":"Choir","action":"refresh"}`, everywhere: true,
			own: true, lacking: true, needs: calendar.OwnerAccess + 1,
		},

		{
			tool:      "create_event",
			arguments: `{"calendar_id":"CAL","title":"New","start":"2026-03-05","end":"2026-03-06"}`,
			needs:     calendar.WriteAccess,
		},
		{tool: "get_event", arguments: `{` + event + `}`, needs: calendar.ReadAccess, shows: true},
		{
			tool: "update_event", arguments: `{` + event + `,"title":"New","start":"2026-03-05","end":"2026-03-06"}`,
			needs: calendar.WriteAccess,
		},
		{tool: "patch_event", arguments: `{` + event + `,"location":"New"}`, needs: calendar.WriteAccess, shows: true},
		{
			tool:      "move_event",
			arguments: `{` + event + `,"new_start":"2026-03-05T09:00"}`, needs: calendar.WriteAccess,
			shows: true,
		},
		{
			tool:      "move_event",
			arguments: `{"event_id":"ID","new_start":"2026-03-05T09:00"}`, needs: calendar.WriteAccess,
			shows: true,
		},
		{
			tool: "move_event", arguments: `{` + event + `,"to_calendar_id":"OWN"}`, needs: calendar.WriteAccess,
			shows: true,
		},
		{
			tool: "move_event", arguments: `{"calendar_id":"OWN","event_uid":"mine","to_calendar_id":"CAL"}`,
			needs: calendar.WriteAccess,
		},
		{tool: "delete_event", arguments: `{` + event + `}`, needs: calendar.WriteAccess},
		{
			tool: "restore_event", arguments: `{"calendar_id":"CAL","event_uid":"gone"}`, needs: calendar.WriteAccess,
			shows: true,
		},

		{
			tool: "change_many", arguments: `{"changes":[{"tool":"patch_event",` + event + `,"location":"New"}]}`,
			needs: calendar.WriteAccess, shows: true,
		},

		{tool: "list_invitations", arguments: `{}`, everywhere: true, needs: calendar.OwnerAccess, shows: true},
		{
			tool: "respond_to_event", arguments: `{"calendar_id":"CAL","event_uid":"asked","answer":"accept"}`,
			needs: calendar.WriteAccess, shows: true,
		},

		{
			tool: "query_events", arguments: `{"calendar_id":"CAL"}`, needs: calendar.FreeBusyAccess, shows: true,
			titled: calendar.ReadAccess,
		},
		{tool: "list_events", arguments: `{` + week + `}`, everywhere: true, needs: calendar.ReadAccess, shows: true},
		{
			tool: "list_events", arguments: `{"calendar_id":"CAL",` + week + `}`, needs: calendar.FreeBusyAccess,
			shows: true, titled: calendar.ReadAccess,
		},
		{tool: "search_events", arguments: `{"query":"zebra"}`, everywhere: true, needs: calendar.ReadAccess},
		{
			tool: "search_events", arguments: `{"query":"rides","calendar_id":"CAL"}`, needs: calendar.ReadAccess,
			shows: true,
		},
		{
			tool: "search_events", arguments: `{"query":"rides"}`, everywhere: true, needs: calendar.ReadAccess,
			shows: true,
		},
		{tool: "search", arguments: `{"query":"rides"}`, everywhere: true, needs: calendar.ReadAccess, shows: true},
		{tool: "fetch", arguments: `{"id":"ID"}`, needs: calendar.ReadAccess, shows: true},
		{
			method: "resources/read", resource: "calendar://CAL", needs: calendar.FreeBusyAccess, shows: true,
			titled: calendar.ReadAccess,
		},
		{method: "resources/read", resource: "calendar://event/ID", needs: calendar.ReadAccess, shows: true},
		{method: "resources/subscribe", resource: "calendar://CAL", needs: calendar.ReadAccess},
		{method: "resources/subscribe", resource: "calendar://event/ID", needs: calendar.ReadAccess},

		{tool: "create_task", arguments: `{"calendar_id":"CAL","title":"New"}`, needs: calendar.WriteAccess},
		{
			tool: "update_task", arguments: `{"calendar_id":"CAL","task_uid":"task","completed":true}`,
			needs: calendar.WriteAccess, shows: true,
		},
		{
			tool: "get_task", arguments: `{"calendar_id":"CAL","task_uid":"task"}`, needs: calendar.ReadAccess,
			shows: true,
		},
		{
			tool: "move_task", arguments: `{"calendar_id":"CAL","task_uid":"task","to_calendar_id":"ERRANDS"}`,
			needs: calendar.WriteAccess, shows: true,
		},
		{tool: "delete_task", arguments: `{"calendar_id":"CAL","task_uid":"task"}`, needs: calendar.WriteAccess},
		{tool: "list_tasks", arguments: `{}`, everywhere: true, needs: calendar.ReadAccess, shows: true},
		{tool: "list_tasks", arguments: `{"calendar_id":"CAL"}`, needs: calendar.ReadAccess, shows: true},

		{
			tool:      "get_free_busy",
			arguments: `{"calendar_ids":["CAL"],"start_time":"2026-03-02","end_time":"2026-03-08"}`,
			needs:     calendar.FreeBusyAccess,
		},
		// Whose time it is may be anybody's, as at the outbox of CalDAV.
		{
			tool: "get_free_busy", arguments: `{"usernames":["WHO"],"start_time":"2026-03-02","end_time":"2026-03-08"}`,
			everywhere: true, own: true, needs: calendar.FreeBusyAccess,
		},
		{
			tool: "find_time", arguments: `{"duration_minutes":30,"calendar_ids":["CAL"]}`,
			needs: calendar.FreeBusyAccess,
		},
		{
			tool: "find_time", arguments: `{"duration_minutes":30,"usernames":["WHO"]}`, everywhere: true, own: true,
			needs: calendar.FreeBusyAccess,
		},

		{
			tool: "sum_hours", arguments: `{"date_range":"2026-03-02 to 2026-03-08"}`, everywhere: true,
			needs: calendar.ReadAccess, lists: true,
		},
		{
			tool: "sum_hours", arguments: `{"calendar_id":"CAL","date_range":"2026-03-02 to 2026-03-08"}`,
			needs: calendar.FreeBusyAccess, lists: true,
		},
		{tool: "list_people", arguments: `{}`, everywhere: true, needs: calendar.OwnerAccess + 1},

		{tool: "list_changes", arguments: `{}`, everywhere: true, needs: calendar.WriteAccess, shows: true},
		{tool: "list_changes", arguments: `{"calendar_id":"CAL"}`, needs: calendar.WriteAccess, shows: true},
		{tool: "undo_change", arguments: `{"change_id":"CHANGE"}`, needs: calendar.WriteAccess, shows: true},
		{
			tool:      "undo_change",
			arguments: `{"since":"SINCE","token":"TOKEN"}`, needs: calendar.WriteAccess, shows: true,
			hides: true,
		},
	}
}

// stance is how who asks stands to a calendar of bob's.
type stance struct {
	name string
	// token is who asks; share is what alice was given.
	token string
	share calendar.Access
}

func stances() []stance {
	return []stance{
		{"owner", "bob", calendar.NoAccess},
		{"owner's reading token", "bob-read", calendar.NoAccess},
		{"owner's token without a scope", "bob-none", calendar.NoAccess},
		{"owner's token for another calendar", "bob-bound", calendar.NoAccess},
		{"writer", "alice", calendar.WriteAccess},
		{"writer's reading token", "alice-read", calendar.WriteAccess},
		{"writer's token for another calendar", "alice-elsewhere", calendar.WriteAccess},
		{"reader", "alice", calendar.ReadAccess},
		{"who sees busy times", "alice", calendar.FreeBusyAccess},
		{"stranger", "alice", calendar.NoAccess},
	}
}

// access is what who asks has of the calendar by this token.
func (s stance) access(c calendar.Caller) calendar.Access {
	switch {
	case c.Calendars != nil:
		return calendar.NoAccess
	case c.User.Name == "bob":
		return calendar.OwnerAccess
	}
	return s.share
}
