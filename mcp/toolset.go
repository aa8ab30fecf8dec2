package mcp

import (
	"cmp"
	"slices"

	"caldav-mcp-server/calendar"
)

// coreTools are what everyday work takes. Models drown in long lists: an assistant that is offered
// these alone picks the right one more often. None of them takes away what it is not told of, as
// update_event does, and what they do can be taken back.
var coreTools = [...]calendar.ToolName{
	"list_calendars", "calendar_auth_status",
	"list_events", "search_events", "get_event",
	"create_event", "patch_event", "move_event", "delete_event",
	"find_time", "get_free_busy",
	"list_tasks", "create_task", "update_task",
	"undo_change",
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
