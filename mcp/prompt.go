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
	"caldav-mcp-server/calendar/query"
	"caldav-mcp-server/mcp/wire"
)

// prompt is a row in the table of prompts. Users pick a prompt in their host, and the assistant then follows a proven
// procedure.
type prompt struct {
	name, title, description string
	// asks returns an empty form.
	asks func() form
}

// form holds the arguments of a prompt. All are strings: MCP has no other type for them.
type form interface {
	takes() []field
	// lines returns the instructions once the form is filled in; tools are in backticks.
	lines() []string
}

// weeks are the weeks that can be planned.
var weeks = []string{"this week", "next week"}

func (toolbox) prompts() []prompt {
	return []prompt{{
		name: "find_a_time", title: "Find a time",
		description: "Find a time when everybody is free, and book it.",
		asks:        func() form { return new(timeToFind) },
	}, {
		name: "plan_my_week", title: "Plan my week",
		description: "Go through a week, point out conflicts, and find times for the tasks that are due.",
		asks:        func() form { return new(weekPlan) },
	}, {
		name: "prepare_for_meeting", title: "Prepare for a meeting",
		description: "Collect the details of a meeting and the notes of earlier ones.",
		asks:        func() form { return new(preparation) },
	}, {
		name: "tidy_up", title: "Tidy up",
		description: "Find duplicates, conflicts and leftovers, and fix the ones that the user picks.",
		asks:        func() form { return new(cleaning) },
	}}
}

type timeToFind struct{ what, minutes, with, when string }

func (in *timeToFind) takes() []field {
	return []field{
		textTo(&in.what, "what", "The purpose of the meeting.").needed().upTo(longestTitle),
		textTo(&in.minutes, "minutes", "Its length in minutes, 30 if missing.").upTo(longestTitle),
		textTo(&in.with, "with", "Who else takes part: names of users here, separated by commas.").upTo(longestTitle),
		textTo(&in.when, "when", "The days, such as next week. If missing: the next 7 days.").upTo(longestTitle),
	}
}

func (in *timeToFind) lines() []string {
	return []string{
		"Find a time for this: " + quotedOr(in.what, "") + ", of " + quotedOr(in.minutes, "30") + " minutes, with " +
			quotedOr(in.with, "me alone") +
			", in " + quotedOr(in.when, usualRange) + ".",
		"1. Call `find_time` with that length, those people and that range. If a name is not known there, ask me " +
			"instead of leaving it out.",
		"2. Show me at most three times, each with its weekday and date, and say why it is a good choice.",
		"3. When I have picked one, book it with `create_event`, in the calendar that I name or otherwise my " +
			"default one, and tell me about the conflicts that it reports.",
	}
}

type weekPlan struct{ week string }

func (in *weekPlan) takes() []field {
	return []field{textTo(&in.week, "week", "this week (if missing) or next week.").oneOf(weeks...)}
}

func (in *weekPlan) lines() []string {
	week := quotedOr(in.week, weeks[0])
	return []string{
		"Plan " + week + " with me.",
		"1. Read `list_events` with date_range " + week + ", and `list_tasks`.",
		"2. Show the week day by day, with times, titles and places. Use the weekdays of the results.",
		"3. Point out conflicts, places that I have no time to travel between, and tasks that are due without time " +
			"set aside for them.",
		"4. Propose free times for these tasks, and wait for my answer.",
		"5. Then book the times that I agreed to with `create_event` or `move_event`, and show me the result.",
	}
}

type preparation struct{ meeting string }

func (in *preparation) takes() []field {
	return []field{textTo(&in.meeting, "meeting", "Words of its title. If missing: the next one.").upTo(longestTitle)}
}

func (in *preparation) lines() []string {
	find := "1. Find my next meeting with `list_events`: the first that has other people in it."
	if in.meeting != "" {
		find = "1. Find the next meeting about " + quotedOr(in.meeting, "") +
			" with `search_events`. If several match, ask me which one."
	}
	return []string{
		"Prepare me for a meeting. Change nothing in my calendars.",
		find,
		"2. Read it with `get_event`: attendees, place and notes.",
		"3. Look for earlier meetings with `search_events` and include_past, by the words of its title and by its " +
			"attendees, and read the notes of the latest.",
		"4. Tell me in a few lines: its time and place, who is coming, who has not answered, its subject, open " +
			"points from earlier meetings, and my events right before and after it.",
	}
}

type cleaning struct{ when string }

func (in *cleaning) takes() []field {
	return []field{textTo(&in.when, "when", "The days, such as this month. If missing: the next 7 days.").upTo(
		longestTitle)}
}

func (in *cleaning) lines() []string {
	return []string{
		"Tidy up my calendars with me.",
		"1. Read `list_events` with date_range " + quotedOr(in.when, usualRange) +
			", and `list_tasks` with status all.",
		"2. Look for events that are duplicates, overlap, are cancelled or have no title, and for tasks that are " +
			"long overdue or long done.",
		"3. Show your findings as a numbered list, each with a suggestion. Change nothing before I have picked.",
		"4. Do what I picked: events with `delete_event` or `patch_event`, tasks with `update_task`, which marks " +
			"them as done, or `delete_task`. For a series, ask whether I mean this, following or all.",
		"5. Tell me what you did, and offer to undo it with `undo_change`.",
	}
}

// quotedOr quotes an argument in a prompt, or its default.
func quotedOr(value, missing string) string {
	return strconv.Quote(wire.Visible(cmp.Or(strings.TrimSpace(value), missing)))
}

// declare describes the prompt to mcp-go.
func (p prompt) declare() mcpgo.Prompt {
	declared := mcpgo.Prompt{Name: p.name, Title: p.title, Description: p.description}
	for _, f := range p.asks().takes() {
		declared.Arguments = append(declared.Arguments, mcpgo.PromptArgument{
			Name: f.name, Description: f.doc,
			Required: !f.optional,
		})
	}
	return declared
}

// visiblePrompts hides the prompts from a token that cannot read, and the fields that the client's version lacks.
func (h *Handler) visiblePrompts(ctx context.Context, declared []mcpgo.Prompt) []mcpgo.Prompt {
	x := wire.ExchangeOf(ctx)
	if x.Message.Method != string(mcpgo.MethodPromptsList) {
		return declared
	}
	if callerOf(x).Scopes&calendar.ScopeRead == 0 {
		return []mcpgo.Prompt{}
	}
	visible := slices.Clone(declared)
	for i := range visible {
		if x.Version.Plain() {
			visible[i].Title = ""
		}
	}
	return visible
}

// prompter returns mcp-go's handler for a prompt.
func (h *Handler) prompter(p prompt) func(context.Context, mcpgo.GetPromptRequest) (*mcpgo.GetPromptResult, error) {
	return func(ctx context.Context, r mcpgo.GetPromptRequest) (*mcpgo.GetPromptResult, error) {
		result := &mcpgo.GetPromptResult{Description: p.description}
		h.attend(ctx, func(c *call) (err error) {
			sent := make(map[string]json.RawMessage)
			for name, value := range r.Params.Arguments {
				sent[name], _ = json.Marshal(value) // strings always marshal
			}
			filled := p.asks()
			if err = readArguments(p.name, filled.takes(), sent, false); err != nil {
				return err
			}
			text, err := h.box.prompt(c, filled)
			result.Messages = []mcpgo.PromptMessage{mcpgo.NewPromptMessage(mcpgo.RoleUser, mcpgo.NewTextContent(text))}
			return err
		})
		return result, nil
	}
}

// prompt returns the text of a prompt. It begins with the current time, which models do not know.
func (b toolbox) prompt(c *call, f form) (string, error) {
	if c.caller.Scopes&calendar.ScopeRead == 0 {
		return "", calendar.Errorf(calendar.Forbidden, calendar.RulePrivileges, "this token may not read")
	}
	z := b.usualZone(c, calendar.Calendar{})
	now := b.now().In(z.Location())
	lines := append([]string{fmt.Sprintf("It is %s, %s in %s.", now.Weekday(), now.Format(time.RFC3339), z.Name())},
		f.lines()...)
	return strings.Join(lines, "\n"), nil
}

// mostCompleted is the highest number of values in a completion (MCP "Completion").
const mostCompleted = 100

// completedDays is the number of days ahead whose events are offered.
const completedDays = 30

// completer completes the arguments of prompts and resources.
type completer struct{ h *Handler }

// suggest returns the values of an argument that continue the typed text.
type suggest func(ctx context.Context, b toolbox, c *call, typed string) ([]string, error)

// suggestions are the values of prompt arguments without a fixed set of words.
var suggestions = map[string]suggest{
	"minutes": suggested("15", "30", "45", "60", "90", "120"),
	"when": suggested("today", "tomorrow", "this week", "next week", "next 7 days", "next 14 days", "this month",
		"next month"),
	"with": func(ctx context.Context, b toolbox, c *call, typed string) ([]string, error) {
		return b.peopleLike(ctx, c, typed)
	},
	"meeting": func(ctx context.Context, b toolbox, c *call, typed string) ([]string, error) {
		return b.meetingsLike(ctx, c, typed)
	},
}

// suggested suggests fixed words.
func suggested(words ...string) suggest {
	return func(_ context.Context, _ toolbox, _ *call, typed string) ([]string, error) {
		return slices.DeleteFunc(slices.Clone(words), func(word string) bool {
			return !strings.HasPrefix(word, strings.ToLower(typed))
		}), nil
	}
}

// peopleLike returns the login names of people that match the last of the typed names, after the names before it.
func (b toolbox) peopleLike(ctx context.Context, c *call, typed string) ([]string, error) {
	if c.caller.Scopes&calendar.ScopeRead == 0 || c.caller.Calendars != nil {
		return nil, nil
	}
	before, last := "", typed
	if i := strings.LastIndex(typed, ","); i >= 0 {
		before, last = typed[:i+1]+" ", typed[i+1:]
	}
	last = strings.ToLower(strings.TrimSpace(last))
	known, err := b.service.People(ctx, c.caller)
	var names []string
	for _, u := range known {
		if !u.Group && u.ID != c.caller.User.ID && (like(last, u.Name, u.DisplayName) || like(last, u.Email, "")) {
			names = append(names, before+u.Name)
		}
	}
	return names, err
}

// meetingsLike returns the titles of upcoming events that contain the typed text.
func (b toolbox) meetingsLike(ctx context.Context, c *call, typed string) ([]string, error) {
	if c.caller.Scopes&calendar.ScopeRead == 0 || !eventIDs.to(c.caller) {
		return nil, nil
	}
	soon, err := b.soon(ctx, c)
	var titles []string
	for _, o := range soon.Occurrences {
		if title := o.Object.Summary; title != "" && like(typed, "", title) && !slices.Contains(titles, title) {
			titles = append(titles, wire.Visible(short(title, longestListedTitle)))
		}
	}
	return titles, err
}

// CompletePromptArgument implements server.PromptCompletionProvider.
func (p completer) CompletePromptArgument(
	ctx context.Context, name string, a mcpgo.CompleteArgument, _ mcpgo.CompleteContext,
) (*mcpgo.Completion, error) {
	var values []string
	p.h.attend(ctx, func(c *call) (err error) {
		for _, row := range p.h.box.prompts() {
			for _, f := range row.asks().takes() {
				if row.name != name || f.name != a.Name {
					continue
				}
				of := suggestions[f.name]
				if f.words != nil {
					of = suggested(f.words...)
				}
				if of != nil {
					values, err = of(ctx, p.h.box, c, a.Value)
				}
			}
		}
		return err
	})
	return completion(values), nil
}

// CompleteResourceArgument implements server.ResourceCompletionProvider. It offers ids of calendars and of upcoming
// events, matched by the start of the id or by part of the name.
func (p completer) CompleteResourceArgument(
	ctx context.Context, uri string, a mcpgo.CompleteArgument, _ mcpgo.CompleteContext,
) (*mcpgo.Completion, error) {
	var values []string
	p.h.attend(ctx, func(c *call) (err error) {
		switch {
		case c.caller.Scopes&calendar.ScopeRead == 0 || a.Name != "id":
		case uri == calendarTemplate && listOfCalendars.to(c.caller):
			values, err = p.h.box.calendarsLike(ctx, c, a.Value)
		case uri == eventTemplate && eventIDs.to(c.caller):
			values, err = p.h.box.eventsLike(ctx, c, a.Value)
		}
		return err
	})
	return completion(values), nil
}

func completion(values []string) *mcpgo.Completion {
	shown := values[:min(len(values), mostCompleted)]
	return &mcpgo.Completion{Values: shown, Total: len(values), HasMore: len(shown) < len(values)}
}

// calendarsLike returns the ids of calendars that match the typed text.
func (b toolbox) calendarsLike(ctx context.Context, c *call, typed string) ([]string, error) {
	var ids []string
	readable, err := b.readable(ctx, c)
	for _, cal := range readable {
		if like(typed, string(cal.ID), cal.Name) {
			ids = append(ids, string(cal.ID))
		}
	}
	return ids, err
}

// soon returns the upcoming events.
func (b toolbox) soon(ctx context.Context, c *call) (query.Agenda, error) {
	now := b.now()
	return b.service.Agenda(ctx, c.caller, query.AgendaQuery{
		From: now, Until: now.AddDate(0, 0, completedDays),
		Limit: mostListed, Meter: c.meter,
	})
}

// eventsLike returns the ids of upcoming events that match the typed text.
func (b toolbox) eventsLike(ctx context.Context, c *call, typed string) ([]string, error) {
	soon, err := b.soon(ctx, c)
	var ids []string
	seen := make(map[string]bool)
	for _, o := range soon.Occurrences {
		id := eventID{Calendar: o.Calendar.ID, UID: o.Object.UID}.String()
		if !seen[id] && like(typed, id, o.Object.Summary) {
			seen[id] = true
			ids = append(ids, id)
		}
	}
	return ids, err
}

// like reports whether the typed text is a prefix of the id or part of the name.
func like(typed, id, name string) bool {
	return strings.HasPrefix(id, typed) || strings.Contains(strings.ToLower(name), strings.ToLower(typed))
}
