package mcp

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"caldav-mcp-server/mcp/wire"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
)

// TestSeedAtLaterVersions: the tools of the first version return the same in later versions, with and without sessions;
// JSON-RPC errors become readable results.
func TestSeedAtLaterVersions(t *testing.T) {
	t.Parallel()
	for _, noun := range []string{"calendars", "events", "sharing"} {
		want := saidIn(t, "testdata/"+noun+".txtar", wire.FirstVersion)
		for _, v := range []wire.Version{"2025-11-25", "2026-07-28"} {
			got := saidIn(t, fmt.Sprintf("testdata/seed-%s-%s.txtar", noun, v), v)
			if len(got) < 10 || len(got) != len(want) {
				t.Errorf("%s at %s: %d answers, want %d", noun, v, len(got), len(want))
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s at %s (-first +later):\n%s", noun, v, diff)
			}
		}
	}
}

// made are ids and etags. The number of ids per request depends on the version, and etags depend on the ids; their
// order is the same.
var made = regexp.MustCompile(`00000000-0000-4000-8000-0*([0-9]+)|[0-9a-f]{32}`)

// saidIn returns the texts of the results of a conversation's calls, in order, refusals included.
func saidIn(t *testing.T, file string, v wire.Version) []string {
	t.Helper()
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	names := make(map[string]string)
	var all []string
	for _, f := range archive.Files {
		name, ok := strings.CutSuffix(f.Name, ": response")
		if !ok || strings.HasPrefix(name, "initialize") {
			continue
		}
		_, body, _ := strings.Cut(string(f.Data), "\n\n")
		all = append(all, name+": "+made.ReplaceAllStringFunc(saidBy(t, body, v), func(id string) string {
			if names[id] == "" {
				names[id] = fmt.Sprintf("<%d>", len(names))
			}
			return names[id]
		}))
	}
	return all
}

// saidBy returns the text of an answer to a call.
func saidBy(t *testing.T, body string, v wire.Version) string {
	t.Helper()
	var r struct {
		Error  *struct{ Message string }
		Result *struct {
			IsError           bool
			Content           []struct{ Text string }
			StructuredContent json.RawMessage
		}
	}
	if err := json.Unmarshal([]byte(body), &r); err != nil {
		t.Fatal(err)
	}
	switch {
	case r.Error != nil && !v.Plain():
		t.Fatalf("no model can read this: %s", body)
	case r.Error != nil:
		return "refused: " + r.Error.Message
	case r.Result == nil || len(r.Result.Content) != 1 && v.Plain(): // later versions may have a note behind it
		t.Fatalf("not one text: %s", body)
	case r.Result.IsError:
		return "refused: " + r.Result.Content[0].Text
	}
	return r.Result.Content[0].Text
}
