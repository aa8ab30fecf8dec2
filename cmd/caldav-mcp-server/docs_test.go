package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func readDoc(t *testing.T, elements ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(append([]string{"..", ".."}, elements...)...))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestCommandsPageListsEveryCommand(t *testing.T) {
	t.Parallel()
	doc := readDoc(t, "docs", "commands.md")
	for _, c := range commands() {
		if !strings.Contains(doc, "`"+c.Name+"`") {
			t.Errorf("docs/commands.md does not list %s", c.Name)
		}
	}
}

// The monitoring page explains every metric of ours.
func TestMonitoringListsEveryMetric(t *testing.T) {
	t.Parallel()
	doc := readDoc(t, "docs", "monitoring.md")
	page := readDoc(t, "server", "testdata", "metrics.txt")
	for line := range strings.Lines(page) {
		if rest, ok := strings.CutPrefix(line, "# TYPE "); ok {
			metric, _, _ := strings.Cut(rest, " ")
			if !strings.Contains(doc, "| `"+metric+"` |") {
				t.Errorf("docs/monitoring.md does not list %s", metric)
			}
		}
	}
}
