package mcp

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/internal/testdb"
	"caldav-mcp-server/mcp/wire"
)

// An OAuth client learns which scopes to request, before the tool is called; a token created by hand is refused as
// usual.
func TestStepUp(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t))
	wants := calendar.ScopeWrite | calendar.ScopeDelete
	granted := h.callers["alice-read"]
	granted.Delegated = true
	h.callers["alice-granted"] = granted
	writes := granted
	writes.Scopes |= calendar.ScopeWrite
	h.callers["alice-writes"] = writes
	c := h.config()
	c.StepUp = func(w http.ResponseWriter, _ *http.Request, who calendar.Caller, lacks calendar.Scope) {
		if lacks != wants&^who.Scopes {
			t.Errorf("asked to get %v beyond %v", lacks, who.Scopes)
		}
		w.Header().Set("WWW-Authenticate", `Bearer error="insufficient_scope"`)
		w.WriteHeader(http.StatusForbidden)
	}
	url := h.open(t, c)
	call := func(token, tool, args string) int {
		t.Helper()
		r := request(t, http.MethodPost, url, token, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"`+
			tool+`","arguments":`+args+`}}`)
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		return res.StatusCode
	}
	for _, test := range []struct {
		token, tool, args string
		want              int
	}{
		{"alice-granted", "delete_event", `{}`, http.StatusForbidden},
		{"alice-granted", "list_calendars", `{}`, http.StatusOK},
		{"alice-writes", "update_linked_account", `{"account":"Choir","action":"unlink_keep"}`, http.StatusForbidden},
		{"alice-writes", "update_linked_account", `{"account":"Choir","action":"refresh"}`, http.StatusOK},
		{"alice-writes", "update_linked_account", `{"account":"Choir","action":["unlink_keep"]}`, http.StatusOK},
		{"alice-granted", "no_such_tool", `{}`, http.StatusOK},
		{"alice-read", "delete_event", `{}`, http.StatusOK},
	} {
		if got := call(test.token, test.tool, test.args); got != test.want {
			t.Errorf("%s calls %s %s: %d, want %d", test.token, test.tool, test.args, got, test.want)
		}
	}
}

// TestStepUpInTheResult: the refusal is a result with the challenge, for hosts that read no headers.
func TestStepUpInTheResult(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t))
	granted := h.callers["alice-read"]
	granted.Delegated = true
	h.callers["alice-granted"] = granted
	c := h.config()
	c.StepUp = func(w http.ResponseWriter, _ *http.Request, _ calendar.Caller, _ calendar.Scope) {
		w.Header().Set("WWW-Authenticate", `Bearer error="insufficient_scope", scope="write"`)
		w.WriteHeader(http.StatusForbidden)
		_, _ = w.Write([]byte(`{"error":"insufficient_scope"}`))
	}
	const call = `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"delete_event","arguments":{}}}`
	g := do(t, request(t, "POST", h.open(t, c), "alice-granted", call, wire.VersionHeader, "2025-11-25"))
	if g.status != http.StatusForbidden || g.header.Get("WWW-Authenticate") == "" {
		t.Errorf("%d %v", g.status, g.header)
	}
	var said struct {
		ID     int
		Result struct {
			IsError bool
			Meta    map[string][]string `json:"_meta"`
			Content []struct{ Text string }
		}
	}
	if err := json.Unmarshal([]byte(g.body), &said); err != nil || said.ID != 3 || !said.Result.IsError ||
		said.Result.Meta["mcp/www_authenticate"][0] != g.header.Get("WWW-Authenticate") ||
		!strings.Contains(said.Result.Content[0].Text, "connect again") {
		t.Errorf("%v: %s", err, g.body)
	}
}
