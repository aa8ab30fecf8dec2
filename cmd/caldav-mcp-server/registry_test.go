package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"caldav-mcp-server/cmd/caldav-mcp-server/settings"
)

// TestRegistryEntry: packaging/server.json follows the rules of the MCP registry for names, texts and variables, and is
// about this version and the address that the server serves.
func TestRegistryEntry(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(filepath.Join("..", "..", "packaging", "server.json"))
	if err != nil {
		t.Fatal(err)
	}
	var entry struct {
		Schema                            string `json:"$schema"`
		Name, Title, Description, Version string
		Remotes                           []struct {
			Type, URL string
			Variables map[string]struct{ Description string }
		}
	}
	if err := json.Unmarshal(data, &entry); err != nil {
		t.Fatal(err)
	}
	if !regexp.MustCompile(`^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$`).MatchString(entry.Name) {
		t.Errorf("the name %q needs a domain, a slash and a name", entry.Name)
	}
	if n := utf8.RuneCountInString(entry.Description); n == 0 || n > 100 {
		t.Errorf("the description has %d characters; it may have 100", n)
	}
	if entry.Version != release || entry.Title == "" ||
		!strings.HasPrefix(entry.Schema, "https://static.modelcontextprotocol.io/schemas/") {
		t.Errorf("%+v", entry)
	}
	if len(entry.Remotes) != 1 {
		t.Fatalf("%d addresses", len(entry.Remotes))
	}
	remote := entry.Remotes[0]
	if remote.Type != "streamable-http" || !strings.HasSuffix(remote.URL, settings.MCPPath) {
		t.Errorf("%s at %s", remote.Type, remote.URL)
	}
	for _, name := range regexp.MustCompile(`\{(\w+)\}`).FindAllStringSubmatch(remote.URL, -1) {
		if remote.Variables[name[1]].Description == "" {
			t.Errorf("the variable %s is not described", name[1])
		}
	}
}
