package mcp

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/query"
	"caldav-mcp-server/internal/testdb"
)

const tasksFile = "../docs/assistant.md"

const (
	// mostCalls is how many a task may take: models lose the thread.
	mostCalls = 5
	// mostTokens limits the cost of one result for a model.
	mostTokens = 20_000
)

// TestEverydayTasks carries out the tasks in docs/assistant.md, as an assistant would that knows only the tools'
// descriptions, and then checks the calendars.
func TestEverydayTasks(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(tasksFile)
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(string(data), "\n## ")
	checks := endings()
	if len(parts) < 13 {
		t.Errorf("%d tasks; a day has twelve", len(parts)-1)
	}
	for _, part := range parts[1:] {
		name, _, _ := strings.Cut(part, "\n")
		check := checks[name]
		delete(checks, name)
		if check == nil {
			t.Errorf("nobody looks at what comes of %q", name)
			continue
		}
		t.Run(name, func(t *testing.T) {
			testdb.Each(t, func(t *testing.T, url string) {
				h := newHouse(t, url)
				h.furnishOffice(t)
				perform(t, h.open(t, h.config()), part, bothHalves)
				check(t, h)
			})
			for _, seen := range []half{textAlone, structureAlone} {
				t.Run(string(seen), func(t *testing.T) {
					h := newHouse(t, testdb.SQLite(t))
					h.furnishOffice(t)
					perform(t, h.open(t, h.config()), part, seen)
					check(t, h)
				})
			}
		})
	}
	for name := range checks {
		t.Errorf("%s does not tell of %q", tasksFile, name)
	}
}

// chore is a task under way.
type chore struct {
	door  string
	tools map[string]listed
	seen  half
	// names stand for ids that are known already.
	names map[string]calendar.CalendarID
	// answers are the structured results so far, texts the others.
	answers []any
	texts   []string
}

// perform makes the calls of a task.
func perform(t *testing.T, door, part string, seen half) {
	t.Helper()
	_, rest, ok := strings.Cut(part, "\n```json\n")
	calls, _, closed := strings.Cut(rest, "\n```")
	if !ok || !closed {
		t.Fatalf("no calls in %s", part)
	}
	newChore(t, door, seen).do(t, calls)
}

func newChore(t *testing.T, door string, seen half) *chore {
	t.Helper()
	c := chore{door: door, tools: map[string]listed{}, seen: seen}
	tools, _ := listTools(t, door)
	for _, tool := range tools {
		c.tools[tool.Name] = tool
	}
	return &c
}

// do makes the calls, and returns the last text.
func (c *chore) do(t *testing.T, calls string) (said string) {
	t.Helper()
	for decoder := json.NewDecoder(strings.NewReader(calls)); decoder.More(); {
		var next struct {
			Name      string
			Arguments map[string]any
		}
		if err := decoder.Decode(&next); err != nil {
			t.Fatal(err)
		}
		said = c.call(t, next.Name, next.Arguments)
	}
	if len(c.answers) > mostCalls {
		t.Errorf("%d calls, want at most %d", len(c.answers), mostCalls)
	}
	return said
}

// call makes one call with the values known so far, and returns its text.
func (c *chore) call(t *testing.T, name string, args map[string]any) string {
	t.Helper()
	c.fill(t, name, args)
	tool, ok := c.tools[name]
	if !ok {
		t.Fatalf("there is no tool %s", name)
	}
	if err := compile(t, tool.InputSchema).Validate(args); err != nil {
		t.Errorf("%s: %v", name, err)
	}
	var structured any
	body := use(t, c.door, "alice", name, args, &structured)
	if tokens := utf8.RuneCountInString(resultText(t, body)) / 4; tokens > mostTokens {
		t.Errorf("%s: the answer has some %d tokens", name, tokens)
	}
	c.answers, c.texts = append(c.answers, structured), append(c.texts, contentText(t, body))
	return c.texts[len(c.texts)-1]
}

// fill replaces references to known values in arguments, also nested ones.
func (c *chore) fill(t *testing.T, name string, args map[string]any) {
	t.Helper()
	for parameter, value := range args {
		text, _ := value.(string)
		if id, ok := c.names[text]; ok {
			args[parameter] = string(id)
			continue
		}
		if opaque.MatchString(parameter) && !strings.HasPrefix(text, "$") {
			t.Errorf("%s: %s is %q, which no answer has", name, parameter, text)
		}
		if strings.HasPrefix(text, "$") {
			args[parameter] = c.known(t, text)
		}
		list, _ := value.([]any)
		for i, item := range list {
			if text, _ := item.(string); strings.HasPrefix(text, "$") {
				list[i] = c.known(t, text)
			}
			if within, ok := item.(map[string]any); ok {
				c.fill(t, name, within)
			}
		}
	}
}

var (
	// opaque are the parameters whose values cannot be made up.
	opaque = regexp.MustCompile(`_uid$|_id$|^cursor$|^if_match$`)
	// step is one of a way into an answer: .name, [0], or [name=value].
	step = regexp.MustCompile(`\.(\w+)|\[(-?\d+)\]|\[(\w+)=([^\]]*)\]`)
)

// known resolves a reference such as $1.calendars[name=Work].id in the part of a result that the host shows its model.
func (c *chore) known(t *testing.T, word string) any {
	t.Helper()
	first := strings.IndexAny(word, ".[")
	n, err := strconv.Atoi(word[1:first])
	if err != nil || n < 1 || n > len(c.answers) {
		t.Fatalf("%s: there is no such answer yet", word)
	}
	if c.seen == textAlone {
		return readable(t, c.texts[n-1], word, word[first:], c.answers[n-1])
	}
	return resolve(t, word, word[first:], c.answers[n-1])
}

// resolve goes a way into an answer.
func resolve(t *testing.T, word, way string, answer any) any {
	t.Helper()
	value := answer
	for _, s := range step.FindAllStringSubmatch(way, -1) {
		list, _ := value.([]any)
		switch {
		case s[1] != "":
			fields, _ := value.(map[string]any)
			value = fields[s[1]]
		case s[2] != "":
			i, _ := strconv.Atoi(s[2])
			if i < 0 {
				i += len(list)
			}
			if i < 0 || i >= len(list) {
				t.Fatalf("%s: the list has %d items", word, len(list))
			}
			value = list[i]
		default:
			i := slices.IndexFunc(list, func(item any) bool { return has(item, s[3], s[4]) })
			if i < 0 {
				t.Fatalf("%s: none is so in %v", word, list)
			}
			value = list[i]
		}
	}
	if value == nil {
		t.Fatalf("%s: no such thing in %v", word, answer)
	}
	return value
}

// has reports whether a field of an item equals a value, or contains it.
func has(item any, name, want string) bool {
	fields, _ := item.(map[string]any)
	if list, ok := fields[name].([]any); ok {
		return slices.ContainsFunc(list, func(v any) bool { return fmt.Sprint(v) == want })
	}
	return fmt.Sprint(fields[name]) == want
}

const berlin = "TZID=Europe/Berlin:"

// office are the events in Work.
var office = [...]struct {
	uid   string
	lines []string
}{
	{"standup", []string{
		"DTSTART;" + berlin + "20260105T090000", "DURATION:PT15M",
		"RRULE:FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR", "SUMMARY:Standup",
	}},
	{"old", []string{
		"DTSTART;" + berlin + "20260202T140000", "DURATION:PT1H", "SUMMARY:Budget meeting",
		"DESCRIPTION:Left open: the travel costs",
	}},
	{"budget", budget("Room 4")},
	{"call", []string{"DTSTART;" + berlin + "20260303T110000", "DURATION:PT1H", "SUMMARY:Customer call"}},
	{"interview", []string{
		"DTSTART;" + berlin + "20260303T113000", "DURATION:PT1H", "SUMMARY:Interview",
		"BEGIN:VALARM", "ACTION:DISPLAY", "DESCRIPTION:x", "TRIGGER:-PT5M", "END:VALARM",
	}},
	{"dentist", []string{"DTSTART;" + berlin + "20260304T090000", "DURATION:PT1H", "SUMMARY:Dentist"}},
}

func budget(room string) []string {
	return []string{
		"DTSTART;" + berlin + "20260302T140000", "DURATION:PT1H", "SUMMARY:Budget meeting", "LOCATION:" + room,
		"DESCRIPTION:Bring the numbers", "ATTENDEE;CN=Zoë;PARTSTAT=ACCEPTED:mailto:zoe@example.com",
	}
}

// furnishOffice fills the house with typical calendars of an office.
func (h *house) furnishOffice(t *testing.T) {
	t.Helper()
	h.Set(noon.AddDate(0, 0, -30))
	carol := calendar.User{ID: "carol-id", Name: "carol", Created: noon}
	if err := h.Store.InsertUser(t.Context(), carol, ""); err != nil {
		t.Fatal(err)
	}
	h.callers["carol"] = calendar.Caller{User: carol, Scopes: calendar.ScopeAll, Token: "token-carol"}
	if err := h.service.PatchCalendar(t.Context(), h.callers["alice"], home,
		func(p *calendar.Properties) ([]calendar.DeadProperty, error) {
			p.Name = "Home"
			return nil, nil
		}); err != nil {
		t.Fatal(err)
	}
	h.lend(t, "bob", "Bob's", calendar.FreeBusyAccess, "DTSTART:20260302T080000Z", "DTEND:20260302T120000Z",
		"RRULE:FREQ=DAILY;COUNT=3", "SUMMARY:Out")
	h.lend(t, "carol", "Carol's", calendar.ReadAccess, "DTSTART:20260302T120000Z", "DTEND:20260302T160000Z",
		"SUMMARY:Workshop")
	for _, e := range office {
		h.put(t, work, e.uid, wrapped(calendar.Event, e.uid, e.lines...))
	}
	// A series with a day left out, one moved, and the change to summer time on March 29th.
	h.put(t, work, "review", strings.Replace(wrapped(calendar.Event, "review", "DTSTART;"+berlin+"20260109T100000",
		"DURATION:PT1H", "RRULE:FREQ=WEEKLY;COUNT=14",
		"EXDATE;"+berlin+"20260220T100000", "SUMMARY:Project review"), "END:VCALENDAR",
		"BEGIN:VEVENT\nUID:review\nDTSTAMP:20260101T000000Z\nRECURRENCE-ID;"+berlin+
			"20260313T100000\nDTSTART;"+berlin+
			"20260313T140000\nDURATION:PT1H\nSUMMARY:Project review\nEND:VEVENT\nEND:VCALENDAR", 1))
	h.put(t, home, "yoga", wrapped(calendar.Event, "yoga", "DTSTART;"+berlin+"20260305T180000", "DURATION:PT1H",
		"SUMMARY:Yoga"))
	h.put(t, "00000000-0000-4000-8000-000000000003", "tax", wrapped(calendar.Todo, "tax", "DUE;VALUE=DATE:20260306",
		"SUMMARY:Tax return"))
	h.meddle(t)
}

// lend creates a calendar of another user, with one event in it, that alice may see.
func (h *house) lend(t *testing.T, whose, name string, access calendar.Access, lines ...string) {
	t.Helper()
	cal, err := h.service.CreateCalendar(t.Context(), h.callers[whose],
		calendar.NewCalendar{Properties: calendar.Properties{Name: name}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = h.service.Put(t.Context(), h.callers[whose], cal, calendar.Draft{
		Name: "event.ics", Data: []byte(strings.ReplaceAll(wrapped(calendar.Event, whose, lines...), "\n", "\r\n")),
	})
	if err == nil {
		_, err = h.service.Share(t.Context(), h.callers[whose], cal.ID, "alice", access)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// meddle makes the changes that went wrong: a phone moved a meeting, and deleted an event.
func (h *house) meddle(t *testing.T) {
	t.Helper()
	phone := h.callers["alice"]
	phone.Token, phone.Agent = "", "Phone"
	h.callers["phone"] = phone
	h.Set(noon.AddDate(0, 0, -4))
	h.put(t, work, "budget", wrapped(calendar.Event, "budget", budget("Room 5")...))
	h.Set(noon.Add(-time.Hour))
	cal, err := h.service.Calendar(t.Context(), phone, home)
	if err == nil {
		err = h.service.Delete(t.Context(), phone, cal, "yoga.ics", calendar.Precondition{})
	}
	if err != nil {
		t.Fatal(err)
	}
	h.Set(noon)
}

// endings check the outcome of each task, as the apps and the journal see it.
func endings() map[string]func(*testing.T, *house) {
	return map[string]func(*testing.T, *house){
		"Find a time for three people": func(t *testing.T, h *house) {
			// Bob is out until one, and Carol has a workshop on Monday afternoon.
			h.expect(t, "roadmap", "Tue Mar 3 13:00-13:30 Roadmap [Work]")
			h.expectChanges(t, "created Roadmap")
		},
		"Move one meeting of a series": func(t *testing.T, h *house) {
			h.expectReviews(t, func(day string, hour int) int { return hour + bit(day == "Mar 6") })
			h.expectChanges(t, "modified Project review")
		},
		"Move a meeting and all later ones": func(t *testing.T, h *house) {
			later := []string{"Mar 20", "Mar 27", "Apr 3", "Apr 10"}
			h.expectReviews(t, func(day string, hour int) int { return hour + bit(slices.Contains(later, day)) })
			h.expectChanges(t, "created Project review", "modified Project review")
		},
		"Move a whole series": func(t *testing.T, h *house) {
			h.expectReviews(t, func(_ string, hour int) int { return hour + 1 })
			h.expectChanges(t, "modified Project review")
		},
		"See changes and undo one": func(t *testing.T, h *house) {
			h.expectChanges(t, "modified Budget meeting")
			h.expectText(t, work, "budget", "LOCATION:Room 4", "DESCRIPTION:Bring the numbers")
		},
		"Prepare a meeting":            func(t *testing.T, h *house) { h.expectChanges(t) },
		"See when a colleague is busy": func(t *testing.T, h *house) { h.expectChanges(t) },
		"Resolve a conflict": func(t *testing.T, h *house) {
			h.expect(t, "interview", "Tue Mar 3 10:00-11:00 Interview [Work]")
			h.expectText(t, work, "interview", "TRIGGER:-PT5M")
			h.expectChanges(t, "modified Interview")
		},
		"Create and complete a task": func(t *testing.T, h *house) {
			h.expectChanges(t, "modified Call the bank", "created Call the bank")
			made := h.history(t)[0]
			h.expectText(t, made.In.ID, made.UID, "STATUS:COMPLETED", "DUE;TZID=Europe/Berlin:20260304T170000",
				"TRIGGER;RELATED=END:-PT30M")
		},
		"Cancel one meeting of a series": func(t *testing.T, h *house) {
			h.expect(t, "standup", "Mon Mar 2 09:00-09:15 Standup [Work]", "Tue Mar 3 09:00-09:15 Standup [Work]",
				"Wed Mar 4 09:00-09:15 Standup [Work]", "Fri Mar 6 09:00-09:15 Standup [Work]")
			h.expectChanges(t, "modified Standup")
		},
		"Move an event to another calendar": func(t *testing.T, h *house) {
			h.expect(t, "dentist", "Wed Mar 4 09:00-10:00 Dentist [Home]")
			h.expectChanges(t, "deleted Dentist", "created Dentist")
		},
		"Restore a deleted event": func(t *testing.T, h *house) {
			h.expect(t, "yoga", "Thu Mar 5 18:00-19:00 Yoga [Home]")
			h.expectChanges(t, "created Yoga")
		},
		"Share a calendar": func(t *testing.T, h *house) {
			shares, err := h.service.Shares(t.Context(), h.callers["alice"], work)
			if err != nil || len(shares) != 1 || shares[0].User.Name != "bob" ||
				shares[0].Access != calendar.ReadAccess {
				t.Errorf("%v: %+v", err, shares)
			}
		},
		"Plan the week": func(t *testing.T, h *house) {
			h.expect(t, "tax", "Mon Mar 2 10:00-12:00 Tax return [Work]")
			h.expectChanges(t, "created Tax return")
		},
	}
}

func bit(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// expect compares the events with a word in the week of March 2nd with the expected ones.
func (h *house) expect(t *testing.T, word string, want ...string) {
	t.Helper()
	got := h.agenda(t, query.AgendaQuery{From: noon, Until: noon.AddDate(0, 0, 7), Keyword: word}, "Mon Jan 2 15:04")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", word, diff)
	}
}

// agenda lists the events as alice sees them.
func (h *house) agenda(t *testing.T, q query.AgendaQuery, layout string) []string {
	t.Helper()
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	q.Limit = 1000
	found, err := h.service.Agenda(t.Context(), h.callers["alice"], q)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, o := range found.Occurrences {
		list = append(list, fmt.Sprintf("%s-%s %s [%s]", o.Start.Time.In(zone).Format(layout),
			o.End.Time.In(zone).Format("15:04"), titleOf(o), o.Calendar.Name))
	}
	return list
}

// expectReviews compares the whole series, from its start across the clock change to its end, with the expected hours.
func (h *house) expectReviews(t *testing.T, moved func(day string, hour int) int) {
	t.Helper()
	var want []string
	for _, day := range []string{
		"Jan 9", "Jan 16", "Jan 23", "Jan 30", "Feb 6", "Feb 13", "Feb 27", "Mar 6", "Mar 13",
		"Mar 20", "Mar 27", "Apr 3", "Apr 10",
	} {
		hour := moved(day, 10+4*bit(day == "Mar 13"))
		want = append(want, fmt.Sprintf("%s %d:00-%d:00 Project review [Work]", day, hour, hour+1))
	}
	got := h.agenda(t, query.AgendaQuery{From: noon.AddDate(0, -3, 0), Until: noon.AddDate(1, 0, 0), Keyword: "review"},
		"Jan 2 15:04")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the series (-want +got):\n%s", diff)
	}
}

// history is the changes since the task began, the latest first.
func (h *house) history(t *testing.T) []calendar.Change {
	t.Helper()
	found, err := h.service.History(t.Context(), h.callers["alice"], calendar.HistoryQuery{Since: noon, Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	return found.Changes
}

// expectChanges compares the journal since then with the expected changes and authors.
func (h *house) expectChanges(t *testing.T, want ...string) {
	t.Helper()
	var got []string
	for _, c := range h.history(t) {
		got = append(got, fmt.Sprintf("%s %s", c.Did, c.Summary))
		if c.Token != h.callers["alice"].Token || !c.Assistant {
			t.Errorf("%s is said to be the doing of %q, an assistant: %v", c.Summary, c.Token, c.Assistant)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the journal (-want +got):\n%s", diff)
	}
}

// expectText wants lines in an object as it is stored.
func (h *house) expectText(t *testing.T, id calendar.CalendarID, uid calendar.UID, lines ...string) {
	t.Helper()
	cal, err := h.service.Calendar(t.Context(), h.callers["alice"], id)
	if err != nil {
		t.Fatal(err)
	}
	o, err := h.service.ObjectByUID(t.Context(), nil, h.callers["alice"], cal, uid)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range lines {
		if !strings.Contains(string(o.Data), line+"\r\n") {
			t.Errorf("%s is not in\n%s", line, o.Data)
		}
	}
}
