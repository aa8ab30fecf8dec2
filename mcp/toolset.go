package mcp

import (
	"cmp"
	"slices"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/mailbox"
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

// ToolInfo is what is to be known of a tool by anyone who makes a token for it.
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
	for _, t := range append(toolbox{}.tools(), toolbox{mail: new(mailbox.Box)}.mailTools()...) {
		name := calendar.ToolName(t.name)
		all = append(all, ToolInfo{name, t.scope, slices.Contains(coreTools[:], name)})
	}
	slices.SortFunc(all, func(a, b ToolInfo) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

// besides is something that the door gives besides tools, as rows of tools: anyone who has one of each row
// gets as much by calling them.
type besides [][]calendar.ToolName

// What a token for certain tools may get without calling one.
var (
	listOfCalendars = besides{{"list_calendars"}}
	eventIDs        = besides{{"list_events", "query_events"}}
	wholeEvents     = besides{{"get_event"}}
	listOfTasks     = besides{{"list_tasks"}}
	wholeTasks      = besides{{"get_task"}}
	allEvents       = slices.Concat(listOfCalendars, eventIDs, wholeEvents)
)

// to tells whether the caller's tools give it anyway. Every token that is for all tools has it, as
// far as its scopes go.
func (b besides) to(c calendar.Caller) bool {
	return c.Tools == nil || !slices.ContainsFunc(b, func(either []calendar.ToolName) bool {
		return !slices.ContainsFunc(either, func(name calendar.ToolName) bool { return slices.Contains(c.Tools, name) })
	})
}

// check refuses it to callers whose tools do not give it.
func (b besides) check(c calendar.Caller) error {
	if b.to(c) {
		return nil
	}
	return calendar.Errorf(calendar.Forbidden, calendar.RulePrivileges, "this token is for certain tools, which do not give this resource").
		Advising("use the tools that are listed, or tell the user that it takes another token")
}

// kindsGiven are the kinds of objects that the caller may have whole without calling a tool, nil for
// all: no tool gives a task with all that is stored of it.
func kindsGiven(c calendar.Caller) calendar.Kinds {
	if c.Tools == nil {
		return nil
	}
	return calendar.Kinds{calendar.Event}
}

// offered tells whether the caller's token is for the tool: one that it is not for does not exist.
func (t tool) offered(c calendar.Caller) bool {
	return c.Tools == nil || slices.Contains(c.Tools, calendar.ToolName(t.name))
}
