package mcp

import (
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"caldav-mcp-server/internal/testdb"
	"caldav-mcp-server/mcp/wire"
)

// recordFile has all tools as clients of 2025-11-25 are told of them. The conversations have of a
// list of tools only what differs from it.
const recordFile = "testdata/tools.json"

func TestToolsRecord(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t))
	var now bytes.Buffer
	if err := json.Indent(&now, toolsIn(toolList(t, h.open(t, h.config()))), "", "  "); err != nil {
		t.Fatal(err)
	}
	now.WriteString("\n")
	if *update {
		if err := os.WriteFile(recordFile, now.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	record, err := os.ReadFile(recordFile)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(record), now.String()); diff != "" {
		t.Errorf("the tools are described in another way (-want +got):\n%s", diff)
	}
}

// toolList is the answer to alice who asks for the tools at 2025-11-25.
func toolList(t *testing.T, door string) string {
	t.Helper()
	g := do(t, request(t, "POST", door, "alice", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, wire.VersionHeader,
		"2025-11-25"))
	if toolsIn(g.body) == nil {
		t.Fatalf("no tools: %d %s", g.status, g.body)
	}
	return g.body
}

// toolsIn returns the list of tools of an answer, byte for byte, or nil where it has none.
func toolsIn(body string) json.RawMessage {
	var answer struct {
		Result struct{ Tools json.RawMessage }
	}
	if json.Unmarshal([]byte(body), &answer) != nil {
		return nil
	}
	return answer.Result.Tools
}

// abridge writes in a list of tools only how each of them differs from the record.
func abridge(t *testing.T, door, body string) string {
	t.Helper()
	all := toolsIn(body)
	if all == nil {
		return body
	}
	record := map[string]map[string]json.RawMessage{}
	for _, tool := range fields(t, toolsIn(toolList(t, door))) {
		record[string(tool["name"])] = tool
	}
	short := []map[string]any{}
	for _, tool := range fields(t, all) {
		short = append(short, differences(tool, record[string(tool["name"])]))
	}
	text, err := json.Marshal(short)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Replace(body, string(all), string(text), 1)
}

func fields(t *testing.T, tools json.RawMessage) []map[string]json.RawMessage {
	t.Helper()
	var all []map[string]json.RawMessage
	if err := json.Unmarshal(tools, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

// differences are the name of a tool, the fields that differ from the record, and the names of recorded fields that it
// lacks.
func differences(tool, recorded map[string]json.RawMessage) map[string]any {
	short := map[string]any{"name": tool["name"]}
	for name, value := range tool {
		if !bytes.Equal(value, recorded[name]) {
			short[name] = value
		}
	}
	var lacks []string
	for name := range recorded {
		if _, has := tool[name]; !has {
			lacks = append(lacks, name)
		}
	}
	if slices.Sort(lacks); lacks != nil {
		short["LACKS"] = lacks
	}
	return short
}
