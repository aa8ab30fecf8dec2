package mcp

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/query"
)

const (
	usualFound = 20
	mostFound  = 100
	// mostConnected is how many results a connector takes: OpenAI's read no more than fifty.
	mostConnected = 50
	// longestQuery bounds what is looked for.
	longestQuery = 500
)

// searchTools find events by what they say. search and fetch are the two that OpenAI's
// connectors ask of every server, in the form that they ask for.
func (b toolbox) searchTools() []tool {
	reads := hints{readOnly: true, idempotent: true}
	return []tool{{
		name: "search_events", title: "Search events",
		description: "Finds events in all calendars by words of title, description, place or people. All words must be there, by their beginning; case and accents don't matter. Events to come, the next one first; with include_past also those that are over, the latest first. A series is found once, as it takes place next.",
		scope:       calendar.ScopeRead, hints: reads,
		takes: []field{
			{name: "query", kind: text, doc: "The words.", longest: longestQuery},
			{name: "include_past", kind: yesNo, doc: "Whether to look for events that are over, too. If missing: no.", optional: true},
			{name: "calendar_id", kind: text, doc: "The only calendar to look in. If missing: all.", optional: true},
			{name: "limit", kind: number, doc: "How many, 20 if missing, 100 at most.", optional: true, least: 1, most: mostFound},
			takesZone,
		},
		gives: foundView{},
		run:   b.searchEvents,
	}, {
		name: "search", title: "Search (for connectors)",
		description: "Finds events by words, past ones too, and returns their ids, titles and urls alone. Made for connectors that then call fetch; otherwise use search_events.",
		scope:       calendar.ScopeRead, hints: reads,
		takes: []field{{name: "query", kind: text, doc: "The words.", longest: longestQuery}},
		gives: resultsView{},
		run:   b.search,
	}}
}

// foundView is what search_events returns.
type foundView struct {
	Events    []listedEvent `json:"events"`
	Truncated bool          `json:"truncated"`
	Window    struct {
		Start string `json:"start,omitempty"`
	} `json:"window"`
	zoneView
}

func (b toolbox) searchEvents(ctx context.Context, c *call) (answer, error) {
	cal, err := b.oneCalendar(ctx, c)
	if err != nil {
		return answer{}, err
	}
	z, err := b.zoneFor(c, cal)
	if err != nil {
		return answer{}, err
	}
	q := query.EventSearch{
		Text: c.args.text("query"), Timezone: z.Zone, Past: c.args.yes("include_past"), Limit: c.limit(usualFound),
		Meter: c.meter,
	}
	if cal.ID != "" {
		q.Calendars = []calendar.Calendar{cal}
	}
	found, err := b.service.SearchEvents(ctx, c.caller, q)
	if err != nil {
		return answer{}, err
	}
	r := rows{zone: z}
	listed := r.list(found.Occurrences)
	if n := fit(listed, c.room(), listedEvent.size); n < len(listed) {
		found.Occurrences, listed, found.More = found.Occurrences[:n], listed[:n], true
	}
	v := foundView{Events: listed, Truncated: found.More, zoneView: z.view()}
	if !q.Past {
		v.Window.Start = b.now().In(z.Location()).Format(time.RFC3339)
	}
	return answer{v.prose(r, found, q), v}, nil
}

func (v foundView) prose(r rows, found query.Finds, q query.EventSearch) prose {
	var b strings.Builder
	fmt.Fprintf(&b, "Found %s matching %s (%s):\n", events(len(v.Events)), quote(q.Text), r.zone.Name())
	r.write(&b, found.Occurrences)
	switch {
	case v.Truncated:
		b.WriteString("\nThere are more: use more words, or a higher limit.\n")
	case len(v.Events) == 0 && !q.Past:
		b.WriteString("\nOnly events to come were looked at: set include_past for the others.\n")
	}
	return prose(strings.TrimSpace(b.String()))
}

// resultsView is what search returns.
type resultsView struct {
	Results   []resultView `json:"results"`
	Truncated bool         `json:"truncated,omitempty"`
}

// resultView is an event as connectors want it.
type resultView struct {
	ID    string `json:"id"`
	Title shown  `json:"title"`
	URL   string `json:"url"`
}

func (b toolbox) search(ctx context.Context, c *call) (answer, error) {
	z, err := b.zoneFor(c, calendar.Calendar{})
	if err != nil {
		return answer{}, err
	}
	found, err := b.service.SearchEvents(ctx, c.caller, query.EventSearch{
		Text: c.args.text("query"), Timezone: z.Zone, Past: true, Limit: mostConnected, Meter: c.meter,
	})
	if err != nil {
		return answer{}, err
	}
	v := resultsView{make([]resultView, len(found.Occurrences)), found.More}
	for i, o := range found.Occurrences {
		id := idOf(o)
		title := fmt.Sprintf("%s (%s)", headline(titleOf(o)), z.spell(o.Instance))
		v.Results[i] = resultView{id.String(), shown(title), id.url()}
	}
	return answer{v, v}, nil
}

// url is what an event is cited by. It opens nothing outside of this server.
func (id eventID) url() string { return "calendar://event/" + id.String() }

// headline is a title that is never empty.
func headline(title string) string { return cmp.Or(title, "(no title)") }

// fetchTools return what search has found.
func (b toolbox) fetchTools() []tool {
	return []tool{{
		name: "fetch", title: "Fetch (for connectors)",
		description: "Returns one event that search has found, as a text. Made for connectors; otherwise use get_event.",
		scope:       calendar.ScopeRead,
		hints:       hints{readOnly: true, idempotent: true},
		takes:       []field{{name: "id", kind: text, doc: "The id, from search.", longest: 4 * longestID}},
		gives:       fetchedView{},
		run:         b.fetch,
	}}
}

// fetchedView is an event as connectors want it.
type fetchedView struct {
	ID       string       `json:"id"`
	Title    shown        `json:"title"`
	Text     shown        `json:"text"`
	URL      string       `json:"url"`
	Metadata metadataView `json:"metadata"`
}

type metadataView struct {
	Calendar  shown  `json:"calendar"`
	StartDate string `json:"startDate"`
	EndDate   string `json:"endDate" doc:"Its end; of an all-day event, its last day."`
	Location  shown  `json:"location"`
}

func (b toolbox) fetch(ctx context.Context, c *call) (answer, error) {
	id, err := parseEventID(c.args.text("id"))
	if err != nil {
		return answer{}, err
	}
	s, err := b.subject(ctx, c, anEvent, id)
	if err != nil {
		return answer{}, err
	}
	event := s.found.Component
	times := s.zone.times(s.found)
	// Each has a line of its own, so that none can forge the next.
	title, place := headline(short(content.TextOf(event, "SUMMARY"), maxShown)), short(content.TextOf(event, "LOCATION"), maxShown)
	lines := []string{
		"Title: " + title, "Calendar: " + short(s.cal.Name, maxShown),
		"Start: " + times.StartWeekday + " " + times.StartLocal, "End: " + times.EndWeekday + " " + times.EndLocal,
		"Location: " + place, "Description: " + cut(content.TextOf(event, "DESCRIPTION")),
	}
	v := fetchedView{
		ID: id.String(), Title: shown(title), Text: shown(strings.Join(lines, "\n")), URL: id.url(),
		Metadata: metadataView{shown(s.cal.Name), times.StartLocal, times.EndLocal, shown(place)},
	}
	return answer{v, v}, nil
}
