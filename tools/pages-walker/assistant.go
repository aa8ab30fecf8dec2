package main

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"regexp"
	"strings"
)

// use calls a tool of the MCP server, and decodes the structured result.
func use(token, tool string, args map[string]any, into any) {
	body, err := json.Marshal(map[string]any{
		"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": map[string]any{"name": tool, "arguments": args},
	})
	must(err)
	r, err := http.NewRequest(http.MethodPost, os.Getenv("COMPAT_MCP"), strings.NewReader(string(body)))
	must(err)
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("MCP-Protocol-Version", "2025-11-25")
	answer, err := http.DefaultClient.Do(r)
	must(err)
	defer answer.Body.Close()
	said, err := io.ReadAll(answer.Body)
	must(err)
	var found struct {
		Result struct {
			IsError           bool
			StructuredContent json.RawMessage
		}
	}
	must(json.Unmarshal(said, &found))
	if found.Result.IsError || found.Result.StructuredContent == nil {
		failf("%s: %s", tool, said)
	}
	must(json.Unmarshal(found.Result.StructuredContent, into))
}

var tokenText = regexp.MustCompile(`mcp_[\w-]+`)

// personalOf returns the id of a user's calendar.
func personalOf(token string) string {
	var calendars struct {
		Calendars []struct{ ID, Name string }
	}
	use(token, "list_calendars", nil, &calendars)
	for _, cal := range calendars.Calendars {
		if cal.Name == "Personal" {
			return cal.ID
		}
	}
	failf("there is no calendar Personal")
	return ""
}

// suggested is the result of a tool that proposes.
type suggested struct {
	ID       string
	Proposed bool
}

// suggestions accepts one of two suggestions of an assistant in the calendar, and declines the other.
func suggestions(h *house) {
	h.put(h.user, "standup", "SUMMARY:Stand-up", "DTSTART:20280307T090000Z", "DTEND:20280307T093000Z")
	token := tokenText.FindString(h.command("", "create-token", "--user", h.user, "--name", "Careful", "--scope",
		"read,propose"))
	personal := personalOf(token)
	var made suggested
	use(token, "create_event", map[string]any{
		"calendar_id": personal, "title": "Tea", "start": "2028-03-06T15:00:00Z", "end": "2028-03-06T16:00:00Z",
	}, &made)
	use(token, "move_event", map[string]any{
		"calendar_id": personal, "event_uid": "standup", "new_start": "2028-03-08T11:00:00Z",
	}, &made)
	if !made.Proposed {
		failf("the event was moved at once")
	}
	h.starts(h.user, "Tea", "20280301T000000Z/20280401T000000Z")
	p := h.enter(h.user, look{})
	p.visit("/calendar/day/2028-03-06")
	p.press(".suggested")
	p.says("Careful")
	p.press("button[value=accept]")
	h.starts(h.user, "Tea", "20280301T000000Z/20280401T000000Z", "20280306T150000Z")
	p.visit("/calendar/day/2028-03-08")
	p.press(".suggested")
	p.press("button[value=decline]")
	h.starts(h.user, "Stand-up", "20280301T000000Z/20280401T000000Z", "20280307T090000Z")
}

// together decides a new event with a guest, a moved day of a series and a deleted series, suggested together. The guest
// hears of them after the acceptance, and undoing takes all of it back. Then an event changes before its suggestion is
// accepted.
func together(h *house) {
	const span = "20281001T000000Z/20281101T000000Z"
	guest := h.three()[0]
	people := []string{
		"ORGANIZER:mailto:" + h.user + "@example.com", "ATTENDEE;PARTSTAT=ACCEPTED:mailto:" + h.user + "@example.com",
		"ATTENDEE:mailto:" + guest + "@example.com",
	}
	series := func(uid, title, start string) {
		h.put(h.user, uid, append([]string{
			"SUMMARY:" + title, "DTSTART:" + start, "DURATION:PT1H", "RRULE:FREQ=WEEKLY;COUNT=3",
		}, people...)...)
	}
	series("rehearsal", "Rehearsal", "20281003T180000Z")
	series("seminar", "Seminar", "20281004T090000Z")
	meets := func(title string, want ...string) {
		for _, name := range []string{h.user, guest} {
			var got []string
			for _, e := range h.entries(name, "VEVENT", span) {
				if e.value("SUMMARY") == title && e.value("STATUS") != "CANCELLED" {
					got = append(got, e.value("DTSTART"))
				}
			}
			if strings.Join(got, " ") != strings.Join(want, " ") {
				failf("%s has %q at %q, want %q", name, title, got, want)
			}
		}
	}
	first := func() {
		meets("Rehearsal", "20281003T180000Z", "20281010T180000Z", "20281017T180000Z")
		meets("Seminar", "20281004T090000Z", "20281011T090000Z", "20281018T090000Z")
		meets("Tea for two")
	}
	token := tokenText.FindString(h.command("", "create-token", "--user", h.user, "--name", "Planner", "--scope",
		"read,propose"))
	personal := personalOf(token)
	var made suggested
	use(token, "change_many", map[string]any{"changes": []map[string]any{
		{
			"tool": "create_event", "calendar_id": personal, "title": "Tea for two", "start": "2028-10-05T15:00:00Z",
			"attendees": []string{guest + "@example.com"},
		}, {
			"tool": "move_event", "calendar_id": personal, "event_uid": "rehearsal", "scope": "this",
			"recurrence_id": "20281010T180000Z", "new_start": "2028-10-12T19:00:00Z",
		}, {
			"tool": "delete_event", "calendar_id": personal, "event_uid": "seminar", "scope": "all",
			"recurrence_id": "20281004T090000Z",
		},
	}}, &made)
	first()

	p := h.enter(h.user, look{})
	page := "/account/suggestions/" + made.ID
	p.visit(page)
	p.says(guest + "@example.com")
	p.press("button[value=accept]")
	meets("Rehearsal", "20281003T180000Z", "20281012T190000Z", "20281017T180000Z")
	meets("Seminar")
	meets("Tea for two", "20281005T150000Z")
	p.visit(page)
	p.says("Accepted")
	p.press(`main a[href*="journal?app="]`)
	p.press(`main form[action$="/undo"] button`)
	p.says("Take back all")
	p.press("main button.danger")
	first()

	h.put(h.user, "dinner", "SUMMARY:Dinner", "LOCATION:Lido", "DTSTART:20281020T180000Z", "DURATION:PT1H")
	for answer, place := range map[string]string{"accept": "Garden", "unmerged": "Lido"} {
		h.put(h.user, "dinner", "SUMMARY:Dinner", "LOCATION:Lido", "DTSTART:20281020T180000Z", "DURATION:PT1H")
		use(token, "patch_event", map[string]any{
			"calendar_id": personal, "event_uid": "dinner", "title": "Banquet",
		}, &made)
		h.put(h.user, "dinner", "SUMMARY:Feast", "LOCATION:Garden", "DTSTART:20281020T180000Z", "DURATION:PT1H")
		p.visit("/account/suggestions/" + made.ID)
		p.says("has changed since")
		p.says("Feast")
		p.press("button[value=" + answer + "]")
		if e := h.one(h.user, "VEVENT", "Banquet"); e.value("LOCATION") != place {
			failf("after %s, the place is %q", answer, e.value("LOCATION"))
		}
	}
}
