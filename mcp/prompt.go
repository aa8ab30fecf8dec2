package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	mcpgo "github.com/mark3labs/mcp-go/mcp"

	"caldav-mcp-server/calendar"
)

// prompt is one row of the table of prompts: what a person can pick in a host, to have the
// assistant go about something in a way that has proved itself.
type prompt struct {
	name, title, description string
	// takes are texts, all that hosts have for arguments.
	takes []field
	// lines say what to do; tools stand in backticks.
	lines func(arguments) []string
}

// weeks are those that can be planned.
var weeks = []string{"this week", "next week"}

func (toolbox) prompts() []prompt {
	return []prompt{{
		name: "find_a_time", title: "Find a time",
		description: "Look for a time at which everybody can, and book it.",
		takes: []field{
			{name: "what", kind: text, doc: "What it is for.", longest: longestTitle},
			{name: "minutes", kind: text, doc: "How long it takes, 30 if missing.", optional: true, longest: longestTitle},
			{name: "with", kind: text, doc: "Who else takes part: names of users here, separated by commas.", optional: true, longest: longestTitle},
			{name: "when", kind: text, doc: "In which days, such as next week. If missing: the next 7 days.", optional: true, longest: longestTitle},
		},
		lines: findATime,
	}, {
		name: "plan_my_week", title: "Plan my week",
		description: "Go through a week, say what clashes, and find times for the tasks that are due.",
		takes:       []field{{name: "week", kind: text, doc: "this week (if missing) or next week.", optional: true, words: weeks}},
		lines:       planMyWeek,
	}, {
		name: "prepare_for_meeting", title: "Prepare for a meeting",
		description: "Gather what the calendar knows about a meeting and those before it.",
		takes:       []field{{name: "meeting", kind: text, doc: "Words of its title. If missing: the next one.", optional: true, longest: longestTitle}},
		lines:       prepareForMeeting,
	}, {
		name: "tidy_up", title: "Tidy up",
		description: "Find duplicates, clashes and leftovers, and mend those that the user picks.",
		takes:       []field{{name: "when", kind: text, doc: "In which days, such as this month. If missing: the next 7 days.", optional: true, longest: longestTitle}},
		lines:       tidyUp,
	}}
}

func findATime(a arguments) []string {
	return []string{
		"Find a time for this: " + said(a, "what", "") + ", of " + said(a, "minutes", "30") + " minutes, with " + said(a, "with", "me alone") +
			", in " + said(a, "when", "next 7 days") + ".",
		"1. Call `find_time` with that length, those people and that range. If a name is not known there, ask me instead of leaving it out.",
		"2. Show me at most three times, each with its weekday and date, and say what speaks for it.",
		"3. When I have picked one, make it with `create_event`, in the calendar that I name or else my default one, and tell me of the conflicts that it reports.",
	}
}

func planMyWeek(a arguments) []string {
	week := said(a, "week", weeks[0])
	return []string{
		"Plan " + week + " with me.",
		"1. Read `list_events` with date_range " + week + ", and `list_tasks`.",
		"2. Show the week day by day, with times, titles and places. Use the weekdays of the results.",
		"3. Say what clashes, where there is no time to get from one place to the next, and which tasks are due without time set aside for them.",
		"4. Propose times for these tasks in what is free, and wait for my answer.",
		"5. Then make what I agreed to with `create_event` or `move_event`, and show me what you made.",
	}
}

func prepareForMeeting(a arguments) []string {
	find := "1. Find my next meeting with `list_events`: the first that has other people in it."
	if a.text("meeting") != "" {
		find = "1. Find the next meeting about " + said(a, "meeting", "") + " with `search_events`. If several may be meant, ask me which."
	}
	return []string{
		"Prepare me for a meeting. Change nothing in my calendars.",
		find,
		"2. Read it with `get_event`: who takes part, where, and what its notes say.",
		"3. Look for earlier ones with `search_events` and include_past, by the words of its title and by the people, and read the notes of the last.",
		"4. Tell me in a few lines: when and where it is, who comes and has not answered, what it is about, what was left open before, and what I have right before and after it.",
	}
}

func tidyUp(a arguments) []string {
	return []string{
		"Tidy up my calendars with me.",
		"1. Read `list_events` with date_range " + said(a, "when", "next 7 days") + ", and `list_tasks` with status all.",
		"2. Look for events that are there twice, that overlap, that are cancelled or have no title, and for tasks that are long overdue or long done.",
		"3. Show what you found as a numbered list, each with what you would do about it. Change nothing before I have said which.",
		"4. Do what I picked: events with `delete_event` or `patch_event`, tasks with `update_task`, which marks them as done. No tool deletes a task: leave that to me. Of a series, ask whether this, following or all are meant.",
		"5. Tell me what you did, and that `undo_change` takes it back if I say so.",
	}
}

// said is an argument as the prompt repeats it, or what stands in for it.
func said(a arguments, name, missing string) string {
	return strconv.Quote(visible(cmp.Or(strings.TrimSpace(a.text(name)), missing)))
}

// declare describes the prompt to mcp-go.
func (p prompt) declare() mcpgo.Prompt {
	declared := mcpgo.Prompt{Name: p.name, Title: p.title, Description: p.description}
	for _, f := range p.takes {
		declared.Arguments = append(declared.Arguments, mcpgo.PromptArgument{Name: f.name, Description: f.doc, Required: !f.optional})
	}
	return declared
}

// visiblePrompts leaves out the prompts where a token can't read, and what the client's version
// has no word for.
func (h *Handler) visiblePrompts(ctx context.Context, declared []mcpgo.Prompt) []mcpgo.Prompt {
	x := exchangeOf(ctx)
	if x.message.method != string(mcpgo.MethodPromptsList) {
		return declared
	}
	if x.caller.Scopes&calendar.ScopeRead == 0 {
		return []mcpgo.Prompt{}
	}
	visible := slices.Clone(declared)
	for i := range visible {
		if x.version.plain() {
			visible[i].Title = ""
		}
	}
	return visible
}

// prompter makes a prompt one of mcp-go's.
func (h *Handler) prompter(p prompt) func(context.Context, mcpgo.GetPromptRequest) (*mcpgo.GetPromptResult, error) {
	return func(ctx context.Context, r mcpgo.GetPromptRequest) (*mcpgo.GetPromptResult, error) {
		result := &mcpgo.GetPromptResult{Description: p.description}
		h.attend(ctx, func(c *call) (err error) {
			sent := make(map[string]json.RawMessage)
			for name, value := range r.Params.Arguments {
				sent[name], _ = json.Marshal(value) // a string can always be written
			}
			if c.args, err = readArguments(tool{name: p.name, takes: p.takes}, sent); err != nil {
				return err
			}
			text, err := h.box.prompt(c, p)
			result.Messages = []mcpgo.PromptMessage{mcpgo.NewPromptMessage(mcpgo.RoleUser, mcpgo.NewTextContent(text))}
			return err
		})
		return result, nil
	}
}

// prompt writes the text of a prompt. It begins with the time: models have none of their own.
func (b toolbox) prompt(c *call, p prompt) (string, error) {
	if c.caller.Scopes&calendar.ScopeRead == 0 {
		return "", calendar.Errorf(calendar.Forbidden, calendar.RulePrivileges, "this token may not read")
	}
	z, err := b.zoneFor(c, calendar.Calendar{})
	if err != nil {
		return "", err
	}
	now := b.now().In(z.Location())
	lines := append([]string{fmt.Sprintf("It is %s, %s in %s.", now.Weekday(), now.Format(time.RFC3339), z.Name())}, p.lines(c.args)...)
	return strings.Join(lines, "\n"), nil
}
