package mcp

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/internal/testdb"
	"caldav-mcp-server/mcp/wire"
)

// TestToolsAreTheLimit: a token restricted to some tools gets no data by other requests that its tools do not return.
// All sets of tools that open other data are tried with every request that is not a tool call (security M1).
func TestToolsAreTheLimit(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		h := newHouse(t, url)
		h.stock(t)
		c := h.config()
		c.Limits.Calls = 1 << 20
		door := h.open(t, c)
		for _, set := range toolSets() {
			who := "alice-" + fmt.Sprint(set)
			caller := h.callers["alice"]
			caller.Tools, caller.Token = set, calendar.TokenID(who)
			h.callers[who] = caller
			want, got := map[string]bool{}, map[string]bool{}
			for name, p := range probes() {
				want[name], got[name] = p.due(set), p.given(t, door, who)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("a token for %v (-due +given):\n%s", set, diff)
			}
		}
	})
}

// toolSets are the sets of tools for the tokens; the last one, nil, means all tools. Tools that open no other data are
// tried together.
func toolSets() [][]calendar.ToolName {
	giving := []calendar.ToolName{"list_calendars", "list_events", "query_events", "get_event"}
	var others []calendar.ToolName
	for _, tool := range Tools() {
		if !slices.Contains(giving, tool.Name) {
			others = append(others, tool.Name)
		}
	}
	sets := [][]calendar.ToolName{others}
	for bits := range 1 << len(giving) {
		set := []calendar.ToolName{}
		for i, name := range giving {
			if bits>>i&1 == 1 {
				set = append(set, name)
			}
		}
		sets = append(sets, set)
	}
	return append(sets, coreTools[:], nil)
}

// probe is a request for data outside of tool calls. It is allowed if the token has one tool of each row.
type probe struct {
	rows  []string
	given func(t *testing.T, door, token string) bool
	// never says that no set of tools gives it: it is for tokens without one.
	never bool
}

func (p probe) due(set []calendar.ToolName) bool {
	if set == nil {
		return true
	}
	for _, row := range p.rows {
		if !slices.ContainsFunc(strings.Fields(row), func(name string) bool {
			return slices.Contains(set,
				calendar.ToolName(name))
		}) {
			return false
		}
	}
	return !p.never
}

func probes() map[string]probe {
	names, ids := []string{"list_calendars"}, []string{"list_events query_events"}
	events, all := []string{"get_event"}, []string{"list_calendars", "list_events query_events", "get_event"}
	cal, party, milk := addressOf(home, ""), addressOf(home, "party"), addressOf(home, "milk")
	return map[string]probe{
		"the list of calendars": {rows: names, given: says("resources/list", `{}`, addressOf(home, ""))},
		"the template of calendar": {rows: all, given: says("resources/templates/list", `{}`, `"`+
			calendarTemplate+`"`)},
		"the template of event": {rows: events, given: says("resources/templates/list", `{}`, `"`+eventTemplate+`"`)},
		"a calendar": {rows: all, given: says("resources/read", fmt.Sprintf(`{"uri":%q}`, cal),
			"SUMMARY:Party")},
		"a calendar's tasks": {never: true, given: says("resources/read", fmt.Sprintf(`{"uri":%q}`, cal),
			"SUMMARY:Milk")},
		"an event": {rows: events, given: says("resources/read", fmt.Sprintf(`{"uri":%q}`, party),
			"SUMMARY:Party")},
		"a task": {never: true, given: says("resources/read", fmt.Sprintf(`{"uri":%q}`, milk),
			"SUMMARY:Milk")},
		"the ids of calendars": {rows: names, given: says("completion/complete", completes(calendarTemplate, "Ho"),
			string(home))},
		"the ids of events": {rows: ids, given: says("completion/complete", completes(eventTemplate, "Part"),
			strings.TrimPrefix(party, eventAddress))},
		"changes of calendars":  {rows: names, given: hearsOf(`{"resourcesListChanged":true}`)},
		"changes of a calendar": {rows: all, given: hearsOf(fmt.Sprintf(`{"resourceSubscriptions":[%q]}`, cal))},
		"changes of an event":   {rows: events, given: hearsOf(fmt.Sprintf(`{"resourceSubscriptions":[%q]}`, party))},
		"changes of a task":     {never: true, given: hearsOf(fmt.Sprintf(`{"resourceSubscriptions":[%q]}`, milk))},
		"updates of a calendar": {rows: all, given: subscribesTo(cal)},
		"updates of an event":   {rows: events, given: subscribesTo(party)},
		"updates of a task":     {never: true, given: subscribesTo(milk)},
	}
}

func completes(template, typed string) string {
	return fmt.Sprintf(`{"ref":{"type":"ref/resource","uri":%q},"argument":{"name":"id","value":%q}}`, template, typed)
}

// says makes a probe of whether something stands in the answer to a request.
func says(method, params, what string) func(*testing.T, string, string) bool {
	return func(t *testing.T, door, token string) bool {
		t.Helper()
		return strings.Contains(ask(t, door, token, method, params, nil).body, what)
	}
}

// hearsOf makes a probe that checks whether a stream sends a notification, at 2026-07-28.
func hearsOf(filter string) func(*testing.T, string, string) bool {
	return func(t *testing.T, door, token string) bool {
		t.Helper()
		e := hears(t, listenRequest(t, door, token, filter))
		defer e.body.Close()
		var first struct {
			Params struct{ Notifications json.RawMessage }
		}
		if err := json.Unmarshal([]byte(e.next(t)), &first); err != nil {
			t.Fatal(err)
		}
		return string(first.Params.Notifications) != `{}`
	}
}

// subscribesTo makes a probe of whether a session is told of a resource's changes.
func subscribesTo(uri string) func(*testing.T, string, string) bool {
	return func(t *testing.T, door, token string) bool {
		t.Helper()
		session := initialize(t, door, token, "2025-11-25")
		body := fmt.Sprintf(`{"jsonrpc":"2.0","id":7,"method":"resources/subscribe","params":{"uri":%q}}`, uri)
		return strings.Contains(do(t, request(t, "POST", door, token, body, wire.SessionHeader, session)).body,
			`"result"`)
	}
}
