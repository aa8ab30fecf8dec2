package mcp

import (
	"context"
	"strings"

	mcpgo "github.com/mark3labs/mcp-go/mcp"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/query"
)

// mostCompleted is the highest number of values in a completion (MCP "Completion").
const mostCompleted = 100

// completedDays is the number of days ahead whose events are offered.
const completedDays = 30

// completer completes the arguments of prompts and resources.
type completer struct{ h *Handler }

// CompletePromptArgument implements server.PromptCompletionProvider. It offers the words of arguments that have a fixed
// set of them.
func (p completer) CompletePromptArgument(ctx context.Context, name string, a mcpgo.CompleteArgument, _ mcpgo.CompleteContext) (*mcpgo.Completion, error) {
	var offered []string
	p.h.attend(ctx, func(*call) error {
		for _, row := range p.h.box.prompts() {
			for _, f := range row.asks().takes() {
				if row.name == name && f.name == a.Name {
					offered = append(offered, f.words...)
				}
			}
		}
		return nil
	})
	var values []string
	for _, word := range offered {
		if strings.HasPrefix(word, strings.ToLower(a.Value)) {
			values = append(values, word)
		}
	}
	return completion(values), nil
}

// CompleteResourceArgument implements server.ResourceCompletionProvider. It offers ids of calendars and of upcoming
// events, matched by the start of the id or by part of the name.
func (p completer) CompleteResourceArgument(ctx context.Context, uri string, a mcpgo.CompleteArgument, _ mcpgo.CompleteContext) (*mcpgo.Completion, error) {
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

// eventsLike returns the ids of upcoming events that match the typed text.
func (b toolbox) eventsLike(ctx context.Context, c *call, typed string) ([]string, error) {
	now := b.now()
	soon, err := b.service.Agenda(ctx, c.caller, query.AgendaQuery{From: now, Until: now.AddDate(0, 0, completedDays), Limit: mostListed, Meter: c.meter})
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
