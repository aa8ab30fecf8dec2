package settings

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The settings page lists every setting with its default, and none that there is not.
func TestSettingsPageListsEverySetting(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "settings.md"))
	if err != nil {
		t.Fatal(err)
	}
	doc := string(page)
	for _, s := range All(nil) {
		want := fmt.Sprintf("| `%s` | |", s.Env)
		if s.Fallback != "" {
			want = fmt.Sprintf("| `%s` | `%s` |", s.Env, s.Fallback)
		}
		if s.Env == "DATA_DIR" {
			want = "| `DATA_DIR` | the platform's |"
		}
		if !strings.Contains(doc, want) {
			t.Errorf("docs/settings.md lacks the row %s", want)
		}
	}
	table, _, _ := strings.Cut(doc[strings.Index(doc, "| --- | --- | --- |"):], "\n\n")
	if rows := strings.Count(table, "\n"); rows != len(All(nil)) {
		t.Errorf("docs/settings.md lists %d settings, there are %d", rows, len(All(nil)))
	}
}
