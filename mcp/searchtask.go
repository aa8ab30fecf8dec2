package mcp

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/daterange"
	"caldav-mcp-server/calendar/edit"
	"caldav-mcp-server/calendar/query"
)

const (
	usualFound = 20
	mostFound  = 100
	// mostConnected limits the results for a connector: OpenAI's read no more than fifty.
	mostConnected = 50
	// longestQuery limits a search text.
	longestQuery = 500
)

// searchTools are the tools for searches.
type searchTools struct{ toolbox }

// A user who searches does not say whether they mean an event or a task. Therefore search finds both, and search_events
// points to tasks if no event matches. A token restricted to some tools learns no more about tasks than its tools
// reveal.

// mostTasks limits the tasks that are listed with events, if not all of both fit.
const mostTasks = 10

func isTask(o query.Occurrence) bool { return o.Object.Kind == calendar.Todo }

// find returns events and tasks that contain the words.
func (b searchTools) find(ctx context.Context, c *call, q query.EventSearch) (query.Finds, error) {
	found, err := b.service.SearchEvents(ctx, c.caller, q)
	if err != nil {
		return found, err
	}
	if !wholeTasks.to(c.caller) {
		return found, nil
	}
	tasks, err := b.service.SearchTasks(ctx, c.caller, q)
	return mergeFinds(found, tasks), err
}

// mergeFinds merges the events and tasks that were found. Exact matches win over similar words.
func mergeFinds(found, tasks query.Finds) query.Finds {
	none, other := len(found.Occurrences) == 0, len(tasks.Occurrences) == 0
	switch {
	case other || !none && found.Meant == nil && tasks.Meant != nil:
		return found
	case none || found.Meant != nil && tasks.Meant == nil:
		return tasks
	}
	room := mostConnected - min(len(tasks.Occurrences), mostTasks)
	all := slices.Concat(found.Occurrences[:min(len(found.Occurrences), room)], tasks.Occurrences)
	found.More = found.More || tasks.More || len(found.Occurrences) > room || len(all) > mostConnected
	found.Occurrences = all[:min(len(all), mostConnected)]
	return found
}

// tasksOf returns only the tasks.
func tasksOf(found query.Finds) query.Finds {
	found.Occurrences = slices.DeleteFunc(slices.Clone(found.Occurrences),
		func(o query.Occurrence) bool { return !isTask(o) })
	return found
}

// tasksDue returns the tasks that are due in a time range and contain the words. Without words it returns all of them.
func (b searchTools) tasksDue(
	ctx context.Context, c *call, z zoned, words string, when daterange.Range,
) (query.Finds, error) {
	if words == "" {
		return b.allDue(ctx, c, z, when)
	}
	found, err := b.service.SearchTasks(ctx, c.caller, query.EventSearch{
		Text: words, Timezone: z.Zone,
		Limit: mostConnected, Meter: c.meter,
	})
	if err != nil || found.Meant != nil {
		return query.Finds{}, err // a task with similar words is no match
	}
	found.Occurrences = slices.DeleteFunc(found.Occurrences,
		func(o query.Occurrence) bool { return !dueIn(o.Instance, when) })
	return found, nil
}

// allDue returns all tasks that are due in a time range, in the order of list_tasks.
func (b searchTools) allDue(
	ctx context.Context, c *call, z zoned, when daterange.Range,
) (found query.Finds, err error) {
	calendars, _, err := taskTools(b).taskCalendars(ctx, c, &tasksQuestion{})
	for _, cal := range calendars {
		list, err := taskTools(b).tasksIn(ctx, c, cal, z, allTasks)
		if err != nil {
			return query.Finds{}, err
		}
		for _, i := range list {
			if dueIn(i, when) {
				found.Occurrences = append(found.Occurrences, query.Occurrence{Calendar: cal, Instance: i})
			}
		}
	}
	slices.SortStableFunc(found.Occurrences, func(x, y query.Occurrence) int {
		return byUrgency(x.Instance,
			y.Instance)
	})
	found.More = len(found.Occurrences) > mostConnected
	found.Occurrences = found.Occurrences[:min(len(found.Occurrences), mostConnected)]
	return found, err
}

func dueIn(i query.Instance, when daterange.Range) bool {
	due := i.Due().Time
	return !due.Before(when.From) && due.Before(when.Until)
}

// tasksInstead counts the tasks with the words, if no event has them.
func (b searchTools) tasksInstead(ctx context.Context, c *call, q query.EventSearch, found query.Finds) (int, error) {
	if len(found.Occurrences) > 0 && found.Meant == nil || !listOfTasks.to(c.caller) {
		return 0, nil
	}
	q.Limit = mostFound
	tasks, err := b.service.SearchTasks(ctx, c.caller, q)
	if err != nil || tasks.Meant != nil {
		return 0, err
	}
	return len(tasks.Occurrences), nil
}

// tasksHave says so in words.
func tasksHave(n int) string {
	const where = ": list_tasks with them as query, and status all."
	switch n {
	case 1:
		return "1 task has these words" + where
	case mostFound:
		return fmt.Sprintf("%d tasks or more have these words%s", n, where)
	default:
		return fmt.Sprintf("%d tasks have these words%s", n, where)
	}
}

// foundTask holds the extra fields of a task that was found; for an event it is empty.
type foundTask struct {
	Kind   string `json:"kind,omitempty" doc:"task; if missing, an event."`
	Due    string `json:"due_local,omitempty"`
	Status string `json:"status,omitempty"`
}

func (z zoned) foundTask(i query.Instance) foundTask {
	v := foundTask{Kind: aTask.name, Status: taskStatus(i)}
	v.Due, _ = z.local(i.Due())
	return v
}

// words describes the task for people: "task, due Fri 2026-03-06, done".
func (v foundTask) words(z zoned, i query.Instance) string {
	words := []string{v.Kind}
	if due := i.Due(); due.Time.IsZero() {
		words = append(words, "never due")
	} else if _, weekday := z.local(due); due.AllDay {
		words = append(words, "due "+weekday[:3]+" "+v.Due)
	} else {
		words = append(words, "due "+z.spellTimes(due.Time, due.Time))
	}
	switch {
	case v.Status == string(edit.Cancelled):
		words = append(words, "cancelled")
	case i.Done():
		words = append(words, "done")
	default:
		words = append(words, "not done")
	}
	return strings.Join(words, ", ")
}

// fetchedTask holds the extra fields that fetch returns for a task, including the arguments for the task tools.
type fetchedTask struct {
	foundTask
	CalendarID   calendar.CalendarID `json:"calendar_id,omitempty"`
	UID          shown               `json:"task_uid,omitempty"`
	RecurrenceID string              `json:"recurrence_id,omitempty"`
	Subtasks     []subtaskView       `json:"subtasks,omitempty"`
	More         bool                `json:"more_subtasks,omitempty"`
}

// subtaskView is a subtask of the fetched task; fetch can get it too.
type subtaskView struct {
	ID    string `json:"id"`
	Title shown  `json:"title"`
	// Untrusted marks a subtask that another user wrote under the user's own task.
	Untrusted shown `json:"untrusted_text_by,omitempty" once:"true"`
}

// fetchTask is fetch for a task. It returns noEvent if the id belongs to no task either.
func (b searchTools) fetchTask(ctx context.Context, c *call, id eventID, noEvent error) (answer, error) {
	if calendar.ReasonOf(noEvent) != calendar.NotFound || !wholeTasks.to(c.caller) {
		return answer{}, noEvent
	}
	s, err := b.subject(ctx, c, aTask, reference{eventID: id})
	switch {
	case err != nil && calendar.ReasonOf(err) == calendar.NotFound:
		return answer{}, noEvent
	case err != nil:
		return answer{}, err
	}
	parts, more, err := taskTools(b).subtasks(ctx, c, s)
	if err != nil {
		return answer{}, err
	}
	task := s.zone.taskDetails(c.caller, s.cal, s.found)
	title, place := headline(short(content.TextOf(s.found.Component, "SUMMARY"), maxShown)),
		short(string(task.Location), maxShown)
	m := metadataView{
		Calendar: shown(s.cal.Name), StartDate: task.StartLocal, EndDate: task.DueLocal, Location: shown(place),
		fetchedTask: fetchedTask{s.zone.foundTask(s.found), s.cal.ID, task.UID, task.RecurrenceID, nil, more},
	}
	lines := s.taskLines(title, place, task)
	for _, i := range parts {
		o := query.Occurrence{Calendar: s.cal, Instance: i}
		part := subtaskView{idOf(o).String(), shown(fmt.Sprintf("%s (%s)", headline(titleOf(o)),
			s.zone.foundTask(i).words(s.zone, i))), standing(c.caller, s.cal, i.Component).Untrusted}
		m.Subtasks = append(m.Subtasks, part)
		lines = append(lines, fmt.Sprintf("Subtask: %s, fetch it as %s%s", part.Title, part.ID, part.Untrusted.mark()))
	}
	if more {
		lines = append(lines, "There are more subtasks: get_task or list_tasks.")
	}
	lines = append(lines, "Description: "+cut(content.TextOf(s.found.Component, "DESCRIPTION")))
	return same(fetchedView{
		ID: id.String(), Title: shown(title), Text: shown(strings.Join(lines, "\n")), URL: id.url(),
		Metadata: m, Untrusted: task.Untrusted,
	})
}

// taskLines is the text of fetch for a task, without notes and subtasks. Each detail has its own line, so that no text
// can forge the next line.
func (s subject) taskLines(title, place string, task taskDetailsView) []string {
	said := s.zone.foundTask(s.found)
	lines := []string{"Title: " + title, "This is a " + said.words(s.zone, s.found) + ".", "Calendar: " +
		short(s.cal.Name, maxShown)}
	for _, l := range [...]struct{ name, text string }{
		{"Start", strings.TrimSpace(task.StartWeekday + " " + task.StartLocal)},
		{"Due", strings.TrimSpace(task.DueWeekday + " " + task.DueLocal)},
		{"Status", task.Status},
		{"Completed", task.Completed},
		{"Location", place},
		{"Recurs", task.Rule},
		{"Part of the task with the UID", string(task.Parent)},
		{"Tags", strings.Join(texts(task.Categories), ", ")},
		{"Page", string(task.URL)},
		{"Untrusted text by", string(task.Untrusted)},
		{"Time zone", cmp.Or(clockOf(s.found.Due()), s.zone.Name())},
	} {
		if l.text != "" {
			lines = append(lines, l.name+": "+strings.Join(strings.Fields(l.text), " "))
		}
	}
	return lines
}

// headline is a title that is never empty.
func headline(title string) string { return cmp.Or(title, "(no title)") }

// url is the URL for citing an event. Only this server can resolve it.
func (id eventID) url() string { return "calendar://event/" + id.String() }

// fetchedView is an event or a task in the form for connectors.
type fetchedView struct {
	ID       string       `json:"id"`
	Title    shown        `json:"title"`
	Text     shown        `json:"text"`
	URL      string       `json:"url"`
	Metadata metadataView `json:"metadata"`
	// Untrusted covers all of it.
	Untrusted shown `json:"untrusted_text_by,omitempty" once:"true"`
}

// foreign is always true: models never write this text back.
func (fetchedView) foreign() bool { return true }

type metadataView struct {
	Calendar  shown  `json:"calendar"`
	StartDate string `json:"startDate"`
	EndDate   string `json:"endDate" doc:"Its end; of an all-day event, its last day."`
	Location  shown  `json:"location"`
	fetchedTask
}
