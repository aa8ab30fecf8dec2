package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/internal/testdb"
	"caldav-mcp-server/mcp/wire"
)

const pageFile = "../docs/mcp.md"

// toolsHead begins the part of the page that the test writes; the next head of its level ends it.
const toolsHead = "\n## Tools\n"

// TestPage compares docs/mcp.md with tools/list, and its examples with their results on a real store. With -update it
// rewrites the page around the examples, which authors write: JSON objects, one call each, in a fence below the tool's
// heading. The page shows the result of the last.
func TestPage(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(pageFile)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(data), toolsHead)
	if !ok {
		t.Fatalf("%s has no part %q", pageFile, strings.TrimSpace(toolsHead))
	}
	had, after := rest, ""
	if i := strings.Index(rest, "\n## "); i >= 0 {
		had, after = rest[:i], rest[i:]
	}
	page := before + toolsHead + writeTools(t, examplesOf(had)) + after
	if *update {
		if err := os.WriteFile(pageFile, []byte(page), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(string(data), page); diff != "" {
		t.Errorf("%s is behind; go test ./mcp -run TestPage -update mends it (-is +should be):\n%s", pageFile, diff)
	}
}

// examplesOf returns the calls below each tool's head.
func examplesOf(tools string) map[string]string {
	examples := make(map[string]string)
	for _, part := range strings.Split("\n"+tools, "\n### ")[1:] {
		name, rest, _ := strings.Cut(part, "\n")
		if _, fenced, ok := strings.Cut(rest, "\n```json\n"); ok {
			examples[name], _, _ = strings.Cut(fenced, "\n```")
		}
	}
	return examples
}

// writeTools writes a section for each tool that a client is told of.
func writeTools(t *testing.T, examples map[string]string) string {
	t.Helper()
	rows := make(map[string]tool)
	for _, row := range (toolbox{}).tools() {
		rows[row.name] = row
	}
	h := newHouse(t, testdb.SQLite(t))
	tools, _ := listTools(t, h.open(t, h.config()))
	var b strings.Builder
	for _, tool := range tools {
		row := rows[tool.Name]
		fmt.Fprintf(&b, "\n### %s\n\n%s\n\n%s\n", tool.Name, tool.Description, nature(row))
		writeParameters(&b, row.begin().takes)
		calls := examples[tool.Name]
		if calls == "" {
			t.Errorf("%s has no example of %s: write a heading ### %s with the call in a json fence below it", pageFile,
				tool.Name, tool.Name)
			continue
		}
		fmt.Fprintf(&b, "\n```json\n%s\n```\n\n```text\n%s\n```\n", calls, tryExample(t, tool.Name, calls))
		delete(examples, tool.Name)
	}
	for name := range examples {
		t.Errorf("%s tells of %s, which is no tool", pageFile, name)
	}
	return b.String()
}

// nature describes the scope and the hints of a tool.
func nature(t tool) string {
	what := "Changes calendars"
	switch {
	case t.hints.readOnly:
		what = "Read-only"
	case t.hints.destructive:
		what = "Can change or delete data"
	}
	if t.scope == 0 {
		return what + ". Available to every token."
	}
	more := ""
	if t.besides != nil {
		more = ", or more, depending on the call"
	}
	return fmt.Sprintf("%s. Scope: `%s`%s.", what, auth.ScopeList(t.scope), more)
}

func writeParameters(b *strings.Builder, takes []field) {
	if len(takes) == 0 {
		return
	}
	b.WriteString("\n| parameter | type | |\n| --- | --- | --- |\n")
	for _, f := range takes {
		kind := string(f.kind)
		if !f.optional {
			kind += ", needed"
		}
		doc := f.doc
		if len(f.words) > 0 {
			doc = strings.TrimSpace(doc + " One of " + strings.Join(f.words, ", ") + ".")
		}
		fmt.Fprintf(b, "| `%s` | %s | %s |\n", f.name, kind, strings.ReplaceAll(doc, "|", `\|`))
	}
}

// tryExample runs the calls of an example on a store of its own, and returns the last result as text.
func tryExample(t *testing.T, name, calls string) string {
	t.Helper()
	h := newHouse(t, testdb.SQLite(t))
	h.furnish(t)
	door := h.open(t, h.config())
	said, last := "", ""
	for decoder := json.NewDecoder(strings.NewReader(calls)); decoder.More(); {
		var params struct {
			Name      string          `json:"name"`
			Arguments json.RawMessage `json:"arguments"`
		}
		if err := decoder.Decode(&params); err != nil {
			t.Fatalf("the example of %s: %v", name, err)
		}
		last = params.Name
		body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s}}`,
			params.Name, params.Arguments)
		g := do(t, request(t, "POST", door, "alice", body, wire.VersionHeader, "2025-03-26"))
		var r struct {
			Result struct{ Content []struct{ Text string } }
		}
		if err := json.Unmarshal([]byte(g.body), &r); err != nil || len(r.Result.Content) != 1 {
			t.Errorf("the example of %s: %s is answered %s", name, params.Name, g.body)
			return ""
		}
		said = r.Result.Content[0].Text
	}
	if last != name {
		t.Errorf("the example of %s ends with a call of %q", name, last)
	}
	return shorten(epoch.ReplaceAllString(said, "${1}EPOCH"))
}

// furnish fills the house as a reader would expect one.
func (h *house) furnish(t *testing.T) {
	t.Helper()
	h.reachable(t, "alice")
	h.stock(t)
	h.put(t, work, "gala", wrapped(calendar.Event, "gala", "DTSTART;TZID=Europe/Berlin:20260508T190000",
		"DTEND;TZID=Europe/Berlin:20260508T230000",
		"SUMMARY:Gala", "ORGANIZER;CN=Eve Example:mailto:eve@example.net", "ATTENDEE:mailto:eve@example.net",
		"ATTENDEE:mailto:alice@example.com"))
	if err := h.service.PatchCalendar(t.Context(), h.callers["alice"], home,
		func(p *calendar.Properties) ([]calendar.DeadProperty, error) {
			p.Name = "Home"
			return nil, nil
		}); err != nil {
		t.Fatal(err)
	}
	h.put(t, work, "review", wrapped(calendar.Event, "review", "DTSTART;TZID=Europe/Berlin:20260303T140000",
		"DTEND;TZID=Europe/Berlin:20260303T150000",
		"SUMMARY:Budget review", "LOCATION:Room 4", "ATTENDEE;CN=Zoë Example;PARTSTAT=ACCEPTED:mailto:zoe@example.com"))
}

// The most that is shown of an answer.
const (
	mostLines = 24
	mostWidth = 180
)

// shorten cuts an answer where a reader has seen enough.
func shorten(said string) string {
	var pretty bytes.Buffer
	if json.Indent(&pretty, []byte(said), "", "  ") == nil {
		said = pretty.String()
	}
	lines := strings.Split(strings.TrimSpace(said), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, "\r ")
		if runes := []rune(lines[i]); len(runes) > mostWidth {
			lines[i] = string(runes[:mostWidth]) + "…"
		}
	}
	if len(lines) > mostLines {
		lines = append(slices.Clip(lines[:mostLines]), "…")
	}
	return strings.Join(lines, "\n")
}

// TestPageNamesPrompts: what hosts offer beside tools is on the page too.
func TestPageNamesPrompts(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(pageFile)
	if err != nil {
		t.Fatal(err)
	}
	var rows []string
	for _, p := range (toolbox{}).prompts() {
		var takes []string
		for _, f := range p.asks().takes() {
			takes = append(takes, "`"+f.name+"`")
		}
		rows = append(rows, "\n| `"+p.name+"` |", " | "+strings.Join(takes, ", ")+" |\n")
	}
	for _, row := range append(rows, "\n| `"+calendarTemplate+"` |", "\n| `"+eventTemplate+"` |") {
		if !strings.Contains(string(data), row) {
			t.Errorf("%s lacks the row %s", pageFile, strings.TrimSpace(row))
		}
	}
}

// TestPageConfigurations: the configurations to paste into a host are valid JSON.
func TestPageConfigurations(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(pageFile)
	if err != nil {
		t.Fatal(err)
	}
	connecting, _, _ := strings.Cut(string(data), toolsHead)
	blocks := strings.Split(connecting, "\n```json\n")[1:]
	if len(blocks) < 5 {
		t.Errorf("%d configurations, want one for each host", len(blocks))
	}
	for _, block := range blocks {
		text, _, _ := strings.Cut(block, "\n```")
		if !json.Valid([]byte(text)) {
			t.Errorf("this is no JSON:\n%s", text)
		}
	}
}
