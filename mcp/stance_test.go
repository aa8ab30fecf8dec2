package mcp

import "caldav-mcp-server/calendar"

// deed is a call that does something to bob's calendar, or tells something of it, where that is
// granted.
type deed struct {
	// tool is one of tools/list; without it, a method does something with the resource of an address.
	tool, method, resource string
	// arguments are a call's, in which CAL stands for the calendar, ID for an event of it in one
	// word, CHANGE for its latest change, WHO for bob, TOKEN for his token, SINCE for when he began and OWN for a
	// calendar of who asks.
	arguments string
	// needs is what the call takes of the calendar.
	needs calendar.Access
	// everywhere tells that it names no calendar: anyone who has the scope may call it, and needs is
	// what it takes to be told of bob's.
	everywhere bool
	// shows tells that the answer has the event's title in it, lists that it has the calendar's name.
	shows, lists bool
	// leaves tells that only those can do it who have a share, hides that it is not there for
	// whom it is not granted to, whatever else they may do.
	leaves, hides bool
	// own tells that it is about no calendar, but about all that who asks has: no token for certain calendars may do it.
	// Lacking tells that who asks has nothing that it could be done to.
	own, lacking bool
	// titled is from which access on the answer has the title, where with less it has busy times.
	titled calendar.Access
}

func (d deed) String() string {
	if d.tool == "" {
		return d.method + " " + d.resource
	}
	return d.tool + " " + d.arguments
}

// The words by which an answer tells of the event, and of the calendar.
const (
	eventWord    = "zebra"
	calendarWord = "quagga"
)

// deeds are those there are. Anyone who adds a tool adds it here.
func deeds() []deed {
	const event = `"calendar_id":"CAL","event_uid":"a"`
	const week = `"start":"2026-03-02","end":"2026-03-08"`
	return []deed{
		{tool: "calendar_auth_status", arguments: `{}`, everywhere: true, needs: calendar.OwnerAccess + 1},
		{tool: "create_calendar", arguments: `{"name":"New"}`, everywhere: true, own: true, needs: calendar.OwnerAccess + 1},
		{tool: "list_calendars", arguments: `{}`, everywhere: true, needs: calendar.FreeBusyAccess, lists: true},
		{tool: "list_shared_calendars", arguments: `{}`, everywhere: true, needs: calendar.FreeBusyAccess},
		{tool: "get_calendar", arguments: `{"calendar_id":"CAL"}`, needs: calendar.FreeBusyAccess, lists: true},
		{tool: "update_calendar", arguments: `{"calendar_id":"CAL","hidden":true}`, needs: calendar.ReadAccess, lists: true},
		{tool: "delete_calendar", arguments: `{"calendar_id":"CAL"}`, needs: calendar.OwnerAccess},
		{tool: "share_calendar", arguments: `{"calendar_id":"CAL","username":"carol","permission":"read"}`, needs: calendar.OwnerAccess},
		{tool: "unshare_calendar", arguments: `{"calendar_id":"CAL","username":"carol"}`, needs: calendar.OwnerAccess},
		{tool: "unshare_calendar", arguments: `{"calendar_id":"CAL","username":"alice"}`, needs: calendar.FreeBusyAccess, leaves: true},

		{tool: "subscribe_calendar", arguments: `{"url":"https://feeds.example/a","name":"New"}`, everywhere: true, own: true, needs: calendar.OwnerAccess + 1},
		{tool: "webhooks", arguments: `{"action":"list"}`, everywhere: true, own: true, needs: calendar.OwnerAccess + 1},
		{tool: "webhooks", arguments: `{"action":"add","url":"https://hooks.example/a"}`, everywhere: true, own: true, needs: calendar.OwnerAccess + 1},
		{tool: "update_linked_account", arguments: `{"account":"Choir","action":"refresh"}`, everywhere: true, own: true, lacking: true, needs: calendar.OwnerAccess + 1},

		{tool: "create_event", arguments: `{"calendar_id":"CAL","title":"New","start":"2026-03-05","end":"2026-03-06"}`, needs: calendar.WriteAccess},
		{tool: "get_event", arguments: `{` + event + `}`, needs: calendar.ReadAccess, shows: true},
		{tool: "update_event", arguments: `{` + event + `,"title":"New","start":"2026-03-05","end":"2026-03-06"}`, needs: calendar.WriteAccess},
		{tool: "patch_event", arguments: `{` + event + `,"location":"New"}`, needs: calendar.WriteAccess, shows: true},
		{tool: "move_event", arguments: `{` + event + `,"new_start":"2026-03-05T09:00"}`, needs: calendar.WriteAccess, shows: true},
		{tool: "move_event", arguments: `{"event_id":"ID","new_start":"2026-03-05T09:00"}`, needs: calendar.WriteAccess, shows: true},
		{tool: "move_event", arguments: `{` + event + `,"to_calendar_id":"OWN"}`, needs: calendar.WriteAccess, shows: true},
		{tool: "move_event", arguments: `{"calendar_id":"OWN","event_uid":"mine","to_calendar_id":"CAL"}`, needs: calendar.WriteAccess},
		{tool: "delete_event", arguments: `{` + event + `}`, needs: calendar.WriteAccess},
		{tool: "restore_event", arguments: `{"calendar_id":"CAL","event_uid":"gone"}`, needs: calendar.WriteAccess, shows: true},

		{tool: "change_many", arguments: `{"changes":[{"tool":"patch_event",` + event + `,"location":"New"}]}`, needs: calendar.WriteAccess, shows: true},

		{tool: "list_invitations", arguments: `{}`, everywhere: true, needs: calendar.OwnerAccess, shows: true},
		{tool: "respond_to_event", arguments: `{"calendar_id":"CAL","event_uid":"asked","answer":"accept"}`, needs: calendar.WriteAccess, shows: true},

		{tool: "query_events", arguments: `{"calendar_id":"CAL"}`, needs: calendar.FreeBusyAccess, shows: true, titled: calendar.ReadAccess},
		{tool: "list_events", arguments: `{` + week + `}`, everywhere: true, needs: calendar.ReadAccess, shows: true},
		{tool: "list_events", arguments: `{"calendar_id":"CAL",` + week + `}`, needs: calendar.FreeBusyAccess, shows: true, titled: calendar.ReadAccess},
		{tool: "search_events", arguments: `{"query":"zebra"}`, everywhere: true, needs: calendar.ReadAccess},
		{tool: "search_events", arguments: `{"query":"rides","calendar_id":"CAL"}`, needs: calendar.ReadAccess, shows: true},
		{tool: "search_events", arguments: `{"query":"rides"}`, everywhere: true, needs: calendar.ReadAccess, shows: true},
		{tool: "search", arguments: `{"query":"rides"}`, everywhere: true, needs: calendar.ReadAccess, shows: true},
		{tool: "fetch", arguments: `{"id":"ID"}`, needs: calendar.ReadAccess, shows: true},
		{method: "resources/read", resource: "calendar://CAL", needs: calendar.FreeBusyAccess, shows: true, titled: calendar.ReadAccess},
		{method: "resources/read", resource: "calendar://event/ID", needs: calendar.ReadAccess, shows: true},
		{method: "resources/subscribe", resource: "calendar://CAL", needs: calendar.ReadAccess},
		{method: "resources/subscribe", resource: "calendar://event/ID", needs: calendar.ReadAccess},

		{tool: "create_task", arguments: `{"calendar_id":"CAL","title":"New"}`, needs: calendar.WriteAccess},
		{tool: "update_task", arguments: `{"calendar_id":"CAL","task_uid":"task","completed":true}`, needs: calendar.WriteAccess, shows: true},
		{tool: "get_task", arguments: `{"calendar_id":"CAL","task_uid":"task"}`, needs: calendar.ReadAccess, shows: true},
		{tool: "move_task", arguments: `{"calendar_id":"CAL","task_uid":"task","to_calendar_id":"ERRANDS"}`, needs: calendar.WriteAccess, shows: true},
		{tool: "delete_task", arguments: `{"calendar_id":"CAL","task_uid":"task"}`, needs: calendar.WriteAccess},
		{tool: "list_tasks", arguments: `{}`, everywhere: true, needs: calendar.ReadAccess, shows: true},
		{tool: "list_tasks", arguments: `{"calendar_id":"CAL"}`, needs: calendar.ReadAccess, shows: true},

		{tool: "get_free_busy", arguments: `{"calendar_ids":["CAL"],"start_time":"2026-03-02","end_time":"2026-03-08"}`, needs: calendar.FreeBusyAccess},
		// Whose time it is may be anybody's, as at the outbox of CalDAV.
		{tool: "get_free_busy", arguments: `{"usernames":["WHO"],"start_time":"2026-03-02","end_time":"2026-03-08"}`, everywhere: true, own: true, needs: calendar.FreeBusyAccess},
		{tool: "find_time", arguments: `{"duration_minutes":30,"calendar_ids":["CAL"]}`, needs: calendar.FreeBusyAccess},
		{tool: "find_time", arguments: `{"duration_minutes":30,"usernames":["WHO"]}`, everywhere: true, own: true, needs: calendar.FreeBusyAccess},

		{tool: "list_changes", arguments: `{}`, everywhere: true, needs: calendar.WriteAccess, shows: true},
		{tool: "list_changes", arguments: `{"calendar_id":"CAL"}`, needs: calendar.WriteAccess, shows: true},
		{tool: "undo_change", arguments: `{"change_id":"CHANGE"}`, needs: calendar.WriteAccess, shows: true},
		{tool: "undo_change", arguments: `{"since":"SINCE","token":"TOKEN"}`, needs: calendar.WriteAccess, shows: true, hides: true},
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
