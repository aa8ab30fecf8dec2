package mcp

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/internal/testdb"
	"caldav-mcp-server/mcp/wire"
)

// TestToolsOfAToken: tools outside of a token's list are not listed, in any version.
func TestToolsOfAToken(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t))
	door := h.open(t, h.config())
	for _, v := range []string{"2025-03-26", "2025-06-18", "2025-11-25"} {
		g := do(t, request(t, "POST", door, "alice-few", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`,
			wire.VersionHeader, v))
		var r struct{ Result struct{ Tools []listed } }
		if err := json.Unmarshal([]byte(g.body), &r); err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, tool := range r.Result.Tools {
			names = append(names, tool.Name)
		}
		// It has no scope for delete_event.
		if diff := cmp.Diff([]string{"get_event", "list_events"}, names); diff != "" {
			t.Errorf("%s (-want +got):\n%s", v, diff)
		}
	}
}

// TestFewToolsExplainThemselves: a listed tool describes the fields of results, for any choice of tools.
func TestFewToolsExplainThemselves(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t))
	for tool, want := range map[string]string{
		"patch_event":   `"items":{"type":"object","properties":`,
		"search_events": `"items":{"type":"object","properties":{`, "update_event": `"recurring":`,
	} {
		one := h.callers["alice"]
		one.Token, one.Tools = calendar.TokenID("token-"+tool), []calendar.ToolName{calendar.ToolName(tool)}
		h.callers["alice-"+tool] = one
		g := do(t, request(t, "POST", h.open(t, h.config()), "alice-"+tool,
			`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, wire.VersionHeader, "2025-11-25"))
		var r struct{ Result struct{ Tools []listed } }
		if err := json.Unmarshal([]byte(g.body), &r); err != nil || len(r.Result.Tools) != 1 {
			t.Fatalf("%v: %s", err, g.body)
		}
		if schema := string(r.Result.Tools[0].OutputSchema); !strings.Contains(schema, want) ||
			strings.Contains(schema, "With all fields of") || !strings.Contains(schema, "Of all tools") {
			t.Errorf("%s alone gives %s", tool, schema)
		}
	}
}

// TestToolsOfABoundToken: tools that would always be refused are not listed.
func TestToolsOfABoundToken(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t))
	bound := h.callers["alice"]
	bound.Calendars = []calendar.CalendarID{"00000000-0000-4000-8000-000000000001"}
	h.callers["alice-within"] = bound
	door := h.open(t, h.config())
	for _, c := range []struct {
		who  string
		want bool
	}{{"alice", true}, {"alice-within", false}} {
		g := do(t, request(t, "POST", door, c.who, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, wire.VersionHeader,
			"2025-11-25"))
		if !strings.Contains(g.body, `"name":"create_event"`) ||
			strings.Contains(g.body, `"name":"create_calendar"`) != c.want {
			t.Errorf("%s is offered %s", c.who, g.body)
		}
	}
}

// TestCoreTools: everyday work is possible with these tools, and none of them clears omitted values, or deletes more
// than a single event at a time (mcp A4).
func TestCoreTools(t *testing.T) {
	t.Parallel()
	var core []string
	for _, tool := range Tools() {
		if tool.Core {
			core = append(core, string(tool.Name))
		}
		if tool.Scope&^calendar.ScopeEvery != 0 || tool.Name == "" {
			t.Errorf("%+v", tool)
		}
	}
	want := []string{
		"calendar_auth_status", "create_event", "create_task", "delete_event", "find_time", "get_event",
		"get_free_busy", "list_calendars",
		"list_events", "list_tasks", "move_event", "patch_event", "search_events", "undo_change", "update_task",
	}
	if diff := cmp.Diff(want, core); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
