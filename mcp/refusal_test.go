package mcp

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"caldav-mcp-server/mcp/wire"

	"golang.org/x/tools/txtar"
)

// TestEveryToolRefuses: the conversation about refusals has every tool that can refuse anything, by
// the codes that clients of the first version are promised, and with words to go on by.
func TestEveryToolRefuses(t *testing.T) {
	t.Parallel()
	archive, err := txtar.ParseFile("testdata/refusals.txtar")
	if err != nil {
		t.Fatal(err)
	}
	refusing := map[string]bool{}
	for _, f := range archive.Files {
		tool, what, named := strings.Cut(f.Name, ": ")
		if !named || !strings.HasSuffix(what, ": response") {
			continue
		}
		refusing[tool] = true
		_, body, _ := strings.Cut(string(f.Data), "\n\n")
		var r struct{ Error *wire.Error }
		if err := json.Unmarshal([]byte(body), &r); err != nil || r.Error == nil {
			t.Errorf("%s is not refused: %v", f.Name, err)
			continue
		}
		if !slices.Contains([]wire.Code{wire.CodeParams, wire.CodeForbidden, wire.CodeTool}, r.Error.Code) ||
			len(strings.Fields(r.Error.Message)) < 5 {
			t.Errorf("%s: %d %s", f.Name, r.Error.Code, r.Error.Message)
		}
	}
	for _, tool := range (toolbox{}).tools() {
		if !refusing[tool.name] && len(tool.begin().takes) > 0 {
			t.Errorf("nobody has tried what %s refuses", tool.name)
		}
	}
}
