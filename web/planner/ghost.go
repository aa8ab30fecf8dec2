package planner

import (
	"context"
	"slices"
	"strings"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/filter"
	"caldav-mcp-server/calendar/query"
)

const (
	// mostHaunting limits the suggestions that a page shows, mostGhosts the occurrences of one change.
	mostHaunting, mostGhosts = 50, 100
)

// ghost is an occurrence that an assistant suggests to add or, if gone is set, to remove.
type ghost struct {
	query.Occurrence
	of   calendar.Suggestion
	gone bool
}

// ghosts returns the suggested differences between two times, in some calendars.
func (p *Planner) ghosts(
	ctx context.Context, in []calendar.Calendar, from, until time.Time,
) (all []ghost, err error) {
	open, err := p.Service.Suggestions(ctx, p.Caller)
	if err != nil {
		return nil, err
	}
	during := query.InstanceQuery{
		During: filter.TimeRange{Start: from, End: until}, Timezone: p.Zone, Most: mostGhosts, Meter: p.meter,
	}
	for _, s := range open[max(0, len(open)-mostHaunting):] {
		for _, part := range s.Parts {
			i := slices.IndexFunc(in, func(cal calendar.Calendar) bool { return cal.ID == part.Calendar })
			if i < 0 || part.Kind != calendar.Event || p.Caller.May(calendar.ReadObjects, in[i]) != nil {
				continue
			}
			before, err := p.suggestedInstances(ctx, in[i], part, part.Before, during)
			if err != nil {
				return nil, err
			}
			after, err := p.suggestedInstances(ctx, in[i], part, part.After, during)
			if err != nil {
				return nil, err
			}
			all = append(all, differences(in[i], s, before, after)...)
		}
	}
	return all, nil
}

// suggestedInstances returns the instances of one side of a suggestion. One that is too large has none, so that a page
// never fails because of it.
func (p *Planner) suggestedInstances(
	ctx context.Context, cal calendar.Calendar, part calendar.SuggestedPart, text []byte, during query.InstanceQuery,
) ([]query.Instance, error) {
	if text == nil {
		return nil, nil
	}
	o := calendar.Object{Calendar: part.Calendar, Name: part.Name, Data: text}
	o.UID, o.Kind = part.UID, part.Kind
	all, err := p.Service.InstancesIn(ctx, cal, o, during)
	if err != nil && calendar.ReasonOf(err) != calendar.Internal {
		err = nil
	}
	return all, err
}

// differences returns the instances that are only on one side.
func differences(cal calendar.Calendar, s calendar.Suggestion, before, after []query.Instance) (all []ghost) {
	for n, side := range [...][]query.Instance{before, after} {
		other := [...][]query.Instance{after, before}[n]
		for _, one := range side {
			if !slices.ContainsFunc(other, one.Looks) {
				all = append(all, ghost{query.Occurrence{Calendar: cal, Instance: one}, s, n == 0})
			}
		}
	}
	return all
}

// ghostEntry returns a ghost for a page. It leads to its suggestion.
func (p *Planner) ghostEntry(g ghost) *Entry {
	e := p.entry(g.Occurrence)
	state, text := []string{"suggested"}, "planner.mark.suggested"
	if g.gone {
		state, text = append(state, "gone"), "planner.mark.suggested-gone"
	}
	mark := p.text(text, "who", clean(g.of.Maker.Agent))
	e.Href, e.State, e.Movable = p.Base+"/account/suggestions/"+string(g.of.ID), strings.Join(state, " "), false
	e.Marks, e.Rest = []string{mark}, ", "+e.Name+", "+mark
	return e
}
