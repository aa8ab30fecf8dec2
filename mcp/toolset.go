package mcp

import (
	"cmp"
	"slices"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/mailbox"
)

// coreTools are the tools for everyday work. Models get lost in long lists: an assistant with only these tools picks
// the right one more often. None of them clears omitted fields, as update_event does, and all their changes can be
// undone.
var coreTools = [...]calendar.ToolName{
	"list_calendars", "calendar_auth_status",
	"list_events", "search_events", "get_event",
	"create_event", "patch_event", "move_event", "delete_event",
	"find_time", "get_free_busy",
	"list_tasks", "create_task", "update_task",
	"undo_change",
}

// ToolInfo describes a tool to users who create a token for it.
type ToolInfo struct {
	Name calendar.ToolName
	// Scope is the scope that a token needs for the tool.
	Scope calendar.Scope
	// Core reports whether the tool belongs to everyday work.
	Core bool
}

// Tools lists all tools, by name.
func Tools() []ToolInfo {
	var all []ToolInfo
	for _, t := range append(toolbox{}.tools(), mailTools{toolbox{mail: new(mailbox.Box)}}.rows()...) {
		name := calendar.ToolName(t.name)
		all = append(all, ToolInfo{name, t.scope, slices.Contains(coreTools[:], name)})
	}
	slices.SortFunc(all, func(a, b ToolInfo) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

// toolAlternatives describes data that the server also returns outside of tool calls. Each row lists alternative tools:
// a caller with one tool of each row could get the same data by calling them.
type toolAlternatives [][]calendar.ToolName

// The data that a token restricted to some tools may get without calling one.
var (
	listOfCalendars = toolAlternatives{{"list_calendars"}}
	eventIDs        = toolAlternatives{{"list_events", "query_events"}}
	wholeEvents     = toolAlternatives{{"get_event"}}
	listOfTasks     = toolAlternatives{{"list_tasks"}}
	wholeTasks      = toolAlternatives{{"get_task"}}
	allEvents       = slices.Concat(listOfCalendars, eventIDs, wholeEvents)
)

// to reports whether the caller's tools would return the data too. A token for all tools may always get it, within its
// scopes.
func (b toolAlternatives) to(c calendar.Caller) bool {
	return c.Tools == nil || !slices.ContainsFunc(b, func(either []calendar.ToolName) bool {
		return !slices.ContainsFunc(either, func(name calendar.ToolName) bool { return slices.Contains(c.Tools, name) })
	})
}

// check refuses the data to callers whose tools do not return it.
func (b toolAlternatives) check(c calendar.Caller) error {
	if b.to(c) {
		return nil
	}
	return calendar.Errorf(calendar.Forbidden, calendar.RulePrivileges,
		"this token may only use certain tools, and none of them returns this resource").
		Advising("use the listed tools, or tell the user that a different token is needed")
}

// kindsGiven returns the component types that the caller may read in full outside of tool calls, or nil for all. No
// tool returns the full stored text of a task.
func kindsGiven(c calendar.Caller) calendar.Kinds {
	if c.Tools == nil {
		return nil
	}
	return calendar.Kinds{calendar.Event}
}

// offered reports whether the caller's token includes the tool; otherwise the tool does not exist for it.
func (t tool) offered(c calendar.Caller) bool {
	return c.Tools == nil || slices.Contains(c.Tools, calendar.ToolName(t.name))
}
