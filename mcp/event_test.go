package mcp

import (
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/internal/testdb"
)

// put stores an object as a CalDAV client would.
func (h *house) put(t testing.TB, cal calendar.CalendarID, uid, text string) calendar.Object {
	t.Helper()
	caller := h.callers["alice"]
	found, err := h.service.Calendar(t.Context(), caller, cal)
	if err != nil {
		t.Fatal(err)
	}
	saved, err := h.service.Put(t.Context(), caller, found, calendar.Draft{
		Name: calendar.ObjectName(uid + ".ics"), Data: []byte(strings.ReplaceAll(text, "\n", "\r\n")),
	})
	if err != nil {
		t.Fatal(err)
	}
	return saved.Object
}

// wrapped is an object of one component.
func wrapped(kind calendar.Kind, uid string, lines ...string) string {
	return "BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:-//test//EN\nBEGIN:" + string(kind) + "\nUID:" + uid +
		"\nDTSTAMP:20260101T000000Z\n" +
		strings.Join(lines, "\n") + "\nEND:" + string(kind) + "\nEND:VCALENDAR\n"
}

// The calendars of a house.
const (
	work calendar.CalendarID = "00000000-0000-4000-8000-000000000001"
	home calendar.CalendarID = "00000000-0000-4000-8000-000000000002"
)

// stock puts into Home an event, a series and two tasks.
func (h *house) stock(t testing.TB) {
	t.Helper()
	h.put(t, home, "party", wrapped(calendar.Event, "party", "DTSTART;TZID=America/New_York:20260306T200000",
		"DTEND;TZID=America/New_York:20260306T230000", "SUMMARY:Party"))
	h.put(t, home, "weekly", wrapped(calendar.Event, "weekly", "DTSTART;TZID=America/New_York:20260302T090000",
		"DURATION:PT1H", "RRULE:FREQ=WEEKLY", "SUMMARY:Weekly"))
	h.put(t, home, "milk", wrapped(calendar.Todo, "milk", "DUE;VALUE=DATE:20260303", "SUMMARY:Milk", "PRIORITY:5"))
	h.put(t, home, "water", wrapped(calendar.Todo, "water", "DTSTART;TZID=America/New_York:20260302T180000",
		"RRULE:FREQ=DAILY;COUNT=4", "SUMMARY:Water plants"))
}

// TestSeedEvents compares the conversation about events at 2025-03-26 with the promised text word for word, field by
// field.
func TestSeedEvents(t *testing.T) {
	t.Parallel()
	const uid, cal = `"uid":"00000000-0000-4000-8000-000000000006@caldav-server"`,
		`"calendar_id":"00000000-0000-4000-8000-000000000001"`
	spoken := answersIn(t, "testdata/events.txtar")
	for name, want := range map[string]string{
		"create_event": `{` + uid + `,` + cal +
			`,"title":"Team Standup","start":"20260301T090000Z","end":"20260301T093000Z"}`,
		"get_event": `{` + uid + `,` + cal +
			`,"summary":"Team Standup","dtstart":"20260301T090000Z","dtend":"20260301T093000Z"}`,
		"update_event": `{` + uid + `,` + cal +
			`,"title":"Standup, moved","start":"20260301T100000Z","end":"20260301T103000Z"}`,
		"query_events": `[{` + uid + `,"summary":"Standup, moved","dtstart":"20260301T100000Z",` +
			`"dtend":"20260301T103000Z"}]`,
		"delete_event": `{"deleted":true}`,
	} {
		contains(t, name, decode(t, spoken[name]), decode(t, want))
	}
	if got := spoken["delete_event"]; !strings.HasPrefix(got, `{"deleted":true,`) {
		t.Errorf("delete_event: %s", got)
	}
	etags := map[any]bool{}
	for _, name := range []string{"create_event", "get_event", "update_event"} {
		event, _ := decode(t, spoken[name]).(map[string]any)
		etags[event["etag"]] = true
		data, _ := event["ical_data"].(string)
		if name == "get_event" && !strings.HasPrefix(data, "BEGIN:VCALENDAR\r\n") {
			t.Errorf("get_event: ical_data is %q", data)
		}
	}
	if len(etags) != 2 || etags[nil] {
		t.Errorf("the etags are %v; reading keeps it and updating changes it", etags)
	}
}

// answersIn returns the content of a conversation's responses, by name.
func answersIn(t *testing.T, file string) map[string]string {
	t.Helper()
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	answers := map[string]string{}
	for _, f := range archive.Files {
		name, ok := strings.CutSuffix(f.Name, ": response")
		_, body, _ := strings.Cut(string(f.Data), "\n\n")
		if ok && strings.Contains(body, `"result"`) {
			answers[name] = resultOf(t, body)
		}
	}
	return answers
}

// TestClashesWithTheOthers: an event in another user's calendar conflicts with a new one only if that calendar counts
// as busy for the user.
func TestClashesWithTheOthers(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t))
	h.lend(t, "bob", "Team", calendar.ReadAccess, "DTSTART:20260303T090000Z", "DTEND:20260303T100000Z",
		"SUMMARY:Team day")
	door := h.open(t, h.config())
	clash := func() string {
		var v struct{ Conflicts []clash }
		use(t, door, "alice", "create_event", map[string]any{
			"calendar_id": work, "title": "Dentist",
			"start": "20260303T093000Z", "end": "20260303T101500Z",
		}, &v)
		var titles []string
		for _, c := range v.Conflicts {
			titles = append(titles, string(c.CalendarName)+": "+string(c.Title))
		}
		return strings.Join(titles, ", ")
	}
	if got := clash(); got != "" {
		t.Errorf("a calendar that does not take alice's time is in the way: %s", got)
	}
	for _, cal := range h.seen(t, "alice") {
		if cal.Name != "Team (bob)" {
			continue
		}
		if err := h.service.PatchCalendar(t.Context(), h.callers["alice"], cal.ID,
			func(p *calendar.Properties) ([]calendar.DeadProperty, error) {
				p.Transparent = false
				return nil, nil
			}); err != nil {
			t.Fatal(err)
		}
	}
	if got := clash(); got != "Team (bob): Team day" {
		t.Errorf("in the way is %q", got)
	}
}

// seen are the calendars that a user sees.
func (h *house) seen(t *testing.T, token string) []calendar.Calendar {
	t.Helper()
	all, err := h.service.Calendars(t.Context(), h.callers[token])
	if err != nil {
		t.Fatal(err)
	}
	return all
}
