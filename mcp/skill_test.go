package mcp

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"caldav-mcp-server/internal/testdb"
)

const skillFile = "../docs/skill/SKILL.md"

// TestSkillKnowsTheTools: everything in the skill exists: tools, parameters, their words and the fields of results. Its
// calls match the schemas, and no tool for everyday work is missing.
func TestSkillKnowsTheTools(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(skillFile)
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
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
