package mcp

import (
	"cmp"
	"slices"

	"caldav-mcp-server/calendar"
)

// coreTools are what everyday work takes. Models drown in long lists: an assistant that is offered
// these alone picks the right one more often.
var coreTools = [...]calendar.ToolName{
	"list_calendars", "get_calendar", "create_calendar", "delete_calendar",
	"create_event", "get_event", "update_event", "delete_event", "query_events",
	"share_calendar", "unshare_calendar", "list_shared_calendars",
	"list_events", "search_events", "get_free_busy", "move_event", "calendar_auth_status",
}

// ToolInfo is what is to be known of a tool by who makes a token for it.
type ToolInfo struct {
	Name calendar.ToolName
	// Scope is what a token needs for the tool.
	Scope calendar.Scope
	// Core tells whether it is one of those that everyday work takes.
	Core bool
}

// Tools lists all tools that there are, by name.
func Tools() []ToolInfo {
	var all []ToolInfo
	for _, t := range (toolbox{}).tools() {
		name := calendar.ToolName(t.name)
		all = append(all, ToolInfo{name, t.scope, slices.Contains(coreTools[:], name)})
	}
	slices.SortFunc(all, func(a, b ToolInfo) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

// offered tells whether the caller's token is for the tool: one that it is not for does not exist.
func (t tool) offered(c calendar.Caller) bool {
	return c.Tools == nil || slices.Contains(c.Tools, calendar.ToolName(t.name))
}
