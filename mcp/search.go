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
	"caldav-mcp-server/mcp/wire"
)

// rows returns the tools that search for words. OpenAI's connectors require every server to have search and
// fetch, in exactly this form.
func (b searchTools) rows() []tool {
	return []tool{reading(tool{
		name: "search_events", title: "Search events",
		description: "Finds events by words in title, notes, place or people (all words or beginnings), " +
			"next first.",
		begin: doing(b.searchEvents), gives: foundView{},
	}), reading(tool{
		name: "search", title: "Search (for connectors)",
		description: "For connectors that call fetch; else search_events.",
		begin:       doing(b.search), gives: resultsView{},
	}), reading(tool{
		name: "fetch", title: "Fetch (for connectors)",
		description: "For connectors: reads a search result; else get_event.",
		begin:       doing(b.fetch), gives: fetchedView{},
	})}
}

// searchText holds the search text.
type searchText struct{ words string }

func (in *searchText) takes() []field {
	return []field{textTo(&in.words, "query", "Words.").needed().upTo(longestQuery)}
}

// searchQuestion holds the arguments of search_events.
type searchQuestion struct {
	searchText
	inCalendar
	inZone
	past  bool
	limit int
}

func (in *searchQuestion) takes() []field {
	return append(in.searchText.takes(),
		yesTo(&in.past, "include_past", "Past ones too."),
		takesOnly(&in.calendar),
		numberTo(&in.limit, "limit", "Default 20.").between(1, mostFound),
		in.takesZone(),
	)
}

// foundView is the result of search_events.
type foundView struct {
	Events    []listedEvent `json:"events"`
	Calendars []legendView  `json:"calendars,omitempty"`
	Truncated bool          `json:"truncated"`
	Window    spanView      `json:"window"`
	Meant     shown         `json:"did_you_mean,omitempty" doc:"Found instead of the words."`

	Tasks int `json:"tasks,omitempty" doc:"See list_tasks."`
	zoneView
	// Untrusted covers did_you_mean, whose words come from the events.
	Untrusted shown `json:"untrusted_text_by,omitempty" once:"true"`
}

func (b searchTools) searchEvents(ctx context.Context, c *call, in *searchQuestion) (answer, error) {
	cal, err := b.oneCalendar(ctx, c, in.calendar)
	if err != nil {
		return answer{}, err
	}
	z, err := b.zoneFor(c, in.inZone, cal)
	if err != nil {
		return answer{}, err
	}
	q := query.EventSearch{
		Text: in.words, Timezone: z.Zone, Past: in.past, Limit: cmp.Or(in.limit, usualFound),
		Meter: c.meter,
	}
	if cal.ID != "" {
		q.Calendars = []calendar.Calendar{cal}
	}
	found, err := b.service.SearchEvents(ctx, c.caller, q)
	if err != nil {
		return answer{}, err
	}
	tasks, err := b.tasksInstead(ctx, c, q, found)
	if err != nil {
		return answer{}, err
	}
	r := eventRows{zones: b.zones, zone: z, who: c.caller}
	listed, left := r.list(c, &found.Occurrences)
	found.More = found.More || left > 0
	v := foundView{
		Events: listed, Calendars: legend(c.caller, found.Occurrences), Truncated: found.More,
		Meant: shown(strings.Join(found.Meant, " ")), Tasks: tasks, zoneView: z.view(),
	}
	if found.Meant != nil {
		v.Untrusted = joined(each(found.Occurrences, func(o query.Occurrence) shown {
			return standing(c.caller,
				o.Calendar, o.Component).Untrusted
		}))
	}
	if !q.Past {
		v.Window = z.span(b.now(), time.Time{})
	}
	return answer{v.prose(r, found, q), v}, nil
}

func (v foundView) prose(r eventRows, found query.Finds, q query.EventSearch) prose {
	var b strings.Builder
	text := q.Text
	if v.Meant != "" {
		fmt.Fprintf(&b, "Nothing matches %s; did you mean %s%s?\n", wire.Quote(text), wire.Quote(string(v.Meant)),
			v.Untrusted.mark())
		text = string(v.Meant)
	}
	fmt.Fprintf(&b, "Found %s matching %s (%s):\n", calendar.Counted(len(v.Events), "event"), wire.Quote(text),
		r.zone.Name())
	r.write(&b, found.Occurrences, v.Events)
	switch {
	case v.Truncated:
		b.WriteString("\nThere are more: use more words, or a higher limit.\n")
	case len(v.Events) == 0 && !q.Past:
		b.WriteString("\nOnly upcoming events were searched: set include_past for past ones.\n")
	}
	if v.Tasks > 0 {
		b.WriteString("\n" + tasksHave(v.Tasks) + "\n")
	}
	return prose(strings.TrimSpace(b.String()))
}

// resultsView is the result of search.
type resultsView struct {
	Results   []resultView `json:"results"`
	Truncated bool         `json:"truncated,omitempty"`
}

// foreign is always true: models never write this text back.
func (resultsView) foreign() bool { return true }

// resultView is an event or a task in the form for connectors.
type resultView struct {
	ID    string `json:"id"`
	Title shown  `json:"title"`
	URL   string `json:"url"`
	foundTask
	Untrusted shown `json:"untrusted_text_by,omitempty" once:"true"`
}

func (b searchTools) search(ctx context.Context, c *call, in *searchText) (answer, error) {
	z := b.usualZone(c, calendar.Calendar{})
	found, err := b.searchSaid(ctx, c, z, in.words)
	if err != nil {
		return answer{}, err
	}
	v := resultsView{make([]resultView, len(found.Occurrences)), found.More}
	for i, o := range found.Occurrences {
		id, when, task := idOf(o), "", foundTask{}
		if isTask(o) {
			task = z.foundTask(o.Instance)
			when = task.words(z, o.Instance)
		} else {
			when = z.spell(o.Instance)
		}
		v.Results[i] = resultView{
			id.String(), shown(fmt.Sprintf("%s (%s)", headline(titleOf(o)), when)), id.url(),
			task, standing(c.caller, o.Calendar, o.Component).Untrusted,
		}
	}
	return same(v)
}

// oneFound holds the arguments of fetch.
type oneFound struct{ id string }

func (in *oneFound) takes() []field {
	return []field{wordTo(&in.id, "id", "From search.").needed()}
}

func (b searchTools) fetch(ctx context.Context, c *call, in *oneFound) (answer, error) {
	id, err := parseEventID(in.id)
	if err != nil {
		return answer{}, err
	}
	s, err := b.subject(ctx, c, anEvent, reference{eventID: id})
	if err != nil {
		return b.fetchTask(ctx, c, id, err)
	}
	event := s.found.Component
	times := s.zone.times(s.found)
	// Each has its own line, so that no text can forge the next line.
	title, place := headline(short(content.TextOf(event, "SUMMARY"), maxShown)),
		short(content.TextOf(event, "LOCATION"), maxShown)
	lines := []string{
		"Title: " + title, "Calendar: " + short(s.cal.Name, maxShown),
		"Start: " + times.StartWeekday + " " + times.StartLocal, "End: " + times.EndWeekday + " " + times.EndLocal,
		"Location: " + place, "Description: " + cut(content.TextOf(event, "DESCRIPTION")),
	}
	details := s.zone.details(c.caller, s.cal, s.found)
	lines = append(lines, detailLines(details)...)
	v := fetchedView{
		ID: id.String(), Title: shown(title), Text: shown(strings.Join(lines, "\n")), URL: id.url(),
		Metadata: metadataView{
			Calendar: shown(s.cal.Name), StartDate: times.StartLocal, EndDate: times.EndLocal,
			Location: shown(place),
		},
		Untrusted: details.Untrusted,
	}
	return same(v)
}

// detailLines returns lines for details that few events have.
func detailLines(v detailsView) []string {
	var lines []string
	for _, l := range [...]struct{ name, text string }{
		{"Time zone", cmp.Or(v.EventTimezone, v.Timezone)},
		{"Recurs", v.Rule},
		{"Status", v.Status},
		{"Organizer", string(v.Organizer)},
		{"Attendees", strings.Join(texts(v.Attendees), ", ")},
		{"The user's answer", v.MyAnswer},
		{"Tags", strings.Join(texts(v.Categories), ", ")},
		{"Page", string(v.URL)},
		{"Untrusted text by", string(v.Untrusted)},
	} {
		if l.text != "" {
			lines = append(lines, l.name+": "+strings.Join(strings.Fields(l.text), " "))
		}
	}
	if v.Free {
		lines = append(lines, "It blocks none of the user's time.")
	}
	return lines
}
