package mcp

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"caldav-mcp-server/internal/testdb"
	"caldav-mcp-server/mcp/skill"
	"caldav-mcp-server/mcp/wire"
)

const skillFile = "skill/SKILL.md"

// TestSkillKnowsTheTools: everything in the skill exists: tools, parameters, their words and the fields of results. Its
// calls match the schemas, and no tool for everyday work is missing.
func TestSkillKnowsTheTools(t *testing.T) {
	t.Parallel()
	text := skill.Text
	head, _, _ := strings.Cut(strings.TrimPrefix(text, "---\n"), "\n---\n")
	if !strings.HasPrefix(text, "---\nname: ") || !strings.Contains(head, "\ndescription: ") || len(head) > 1024 {
		t.Errorf("%s does not begin with a name and a description of 1,024 characters at most", skillFile)
	}
	h := newHouse(t, testdb.SQLite(t))
	tools, _ := listTools(t, h.open(t, h.config()))
	known, schemas := map[string]bool{}, map[string]json.RawMessage{}
	for _, tool := range tools {
		known[tool.Name], schemas[tool.Name] = true, tool.InputSchema
		wordsOfSchema(decode(t, string(tool.InputSchema)), known)
		wordsOfSchema(decode(t, string(tool.OutputSchema)), known)
	}
	prose := regexp.MustCompile("(?s)```json\n.*?```").ReplaceAllString(text, "")
	for _, word := range backticked.FindAllStringSubmatch(prose, -1) {
		if !known[word[1]] && !strings.HasPrefix(word[1], "2026-") {
			t.Errorf("%s speaks of %s, which is no tool, no parameter and no field", skillFile, word[1])
		}
	}
	for _, name := range coreTools {
		if !strings.Contains(text, "`"+string(name)+"`") {
			t.Errorf("%s does not tell of %s", skillFile, name)
		}
	}
	for _, block := range strings.Split(text, "```json\n")[1:] {
		body, _, _ := strings.Cut(block, "\n```")
		var call struct {
			Name      string
			Arguments any
		}
		if err := json.Unmarshal([]byte(body), &call); err != nil || schemas[call.Name] == nil {
			t.Errorf("%v: %s", err, body)
			continue
		}
		if err := compile(t, schemas[call.Name]).Validate(call.Arguments); err != nil {
			t.Errorf("%s: %v", body, err)
		}
	}
}

// wordsOfSchema collects the names and the words that a schema has.
func wordsOfSchema(schema any, into map[string]bool) {
	s, _ := schema.(map[string]any)
	properties, _ := s["properties"].(map[string]any)
	for name, p := range properties {
		into[name] = true
		wordsOfSchema(p, into)
	}
	words, _ := s["enum"].([]any)
	for _, word := range words {
		if text, ok := word.(string); ok {
			into[text] = true
		}
	}
	if items, ok := s["items"]; ok {
		wordsOfSchema(items, into)
	}
}

// TestSkillIsServed: the entry matches the resource, byte for byte and field by field, as hosts check before they use
// a skill (SEP-2640).
func TestSkillIsServed(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t))
	ask := asking(t, h.open(t, h.config()), "alice", "2026-07-28", "{}")
	var listed struct {
		Result struct {
			Skills []wire.Skill `json:"skills"`
		} `json:"result"`
	}
	if err := json.Unmarshal([]byte(ask("skills/list", "")), &listed); err != nil || len(listed.Result.Skills) != 1 {
		t.Fatalf("%+v, %v", listed, err)
	}
	entry := listed.Result.Skills[0]
	var got struct {
		Result struct {
			Skill wire.Skill `json:"skill"`
		} `json:"result"`
	}
	if err := json.Unmarshal([]byte(ask("skills/get", `,"uri":"`+entry.URI+`"`)), &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(entry, got.Result.Skill); diff != "" {
		t.Errorf("skills/get differs from skills/list:\n%s", diff)
	}
	var read struct {
		Result struct {
			Contents []struct{ URI, MIMEType, Text string } `json:"contents"`
		} `json:"result"`
	}
	if err := json.Unmarshal([]byte(ask("resources/read", `,"uri":"`+entry.URI+`"`)), &read); err != nil ||
		len(read.Result.Contents) != 1 {
		t.Fatalf("%+v, %v", read, err)
	}
	text := read.Result.Contents[0].Text
	sum := fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(text)))
	want := []wire.SkillFile{{URI: entry.URI, Digest: sum, Size: len(text)}}
	if diff := cmp.Diff(want, entry.Resources); diff != "" {
		t.Error(diff)
	}
	head := fmt.Sprintf("---\nname: %s\ndescription: %s\n---\n", entry.Frontmatter["name"],
		entry.Frontmatter["description"])
	if len(entry.Frontmatter) != 2 || !strings.HasPrefix(text, head) ||
		entry.URI != "skill://"+entry.Frontmatter["name"]+"/SKILL.md" {
		t.Errorf("%s: the frontmatter %q is not that of\n%.300s", entry.URI, entry.Frontmatter, text)
	}
}
