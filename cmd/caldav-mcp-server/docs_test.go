package main

import (
	"fmt"
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

// The settings page lists every setting with its default, and none that there is not.
func TestSettingsPageListsEverySetting(t *testing.T) {
	t.Parallel()
	doc := readDoc(t, "docs", "settings.md")
	for _, s := range settings(nil) {
		want := fmt.Sprintf("| `%s` | |", s.env)
		if s.fallback != "" {
			want = fmt.Sprintf("| `%s` | `%s` |", s.env, s.fallback)
		}
		if s.env == "DATA_DIR" {
			want = "| `DATA_DIR` | the platform's |"
		}
		if !strings.Contains(doc, want) {
			t.Errorf("docs/settings.md lacks the row %s", want)
		}
	}
	table, _, _ := strings.Cut(doc[strings.Index(doc, "| --- | --- | --- |"):], "\n\n")
	if rows := strings.Count(table, "\n"); rows != len(settings(nil)) {
		t.Errorf("docs/settings.md lists %d settings, there are %d", rows, len(settings(nil)))
	}
}

func TestCommandsPageListsEveryCommand(t *testing.T) {
	t.Parallel()
	doc := readDoc(t, "docs", "commands.md")
	for _, c := range commands() {
		if !strings.Contains(doc, "`"+c.name+"`") {
			t.Errorf("docs/commands.md does not list %s", c.name)
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
