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

// suggestions accepts one of two suggestions of an assistant in the calendar, and declines the other.
func suggestions(h *house) {
	h.put(h.user, "standup", "SUMMARY:Stand-up", "DTSTART:20280307T090000Z", "DTEND:20280307T093000Z")
	token := tokenText.FindString(h.command("", "create-token", "--user", h.user, "--name", "Careful", "--scope",
		"read,propose"))
	var calendars struct {
		Calendars []struct{ ID, Name string }
	}
	use(token, "list_calendars", nil, &calendars)
	var personal string
	for _, cal := range calendars.Calendars {
		if cal.Name == "Personal" {
			personal = cal.ID
		}
	}
	var made struct{ Proposed bool }
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
