package main

import (
	"fmt"
	"os"
	"os/exec"
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

// The operator's page lists every setting with its default, and none that there is not.
func TestOperateListsEverySetting(t *testing.T) {
	t.Parallel()
	doc := readDoc(t, "docs", "operate.md")
	for _, s := range settings(nil) {
		want := fmt.Sprintf("| `%s` | |", s.env)
		if s.fallback != "" {
			want = fmt.Sprintf("| `%s` | `%s` |", s.env, s.fallback)
		}
		if s.env == "DATA_DIR" {
			want = "| `DATA_DIR` | the platform's |"
		}
		if !strings.Contains(doc, want) {
			t.Errorf("docs/operate.md lacks the row %s", want)
		}
	}
	table, _, _ := strings.Cut(doc[strings.Index(doc, "| --- | --- | --- |"):], "\n\n")
	if rows := strings.Count(table, "\n"); rows != len(settings(nil)) {
		t.Errorf("docs/operate.md lists %d settings, there are %d", rows, len(settings(nil)))
	}
}

func TestReadmeListsEveryCommand(t *testing.T) {
	t.Parallel()
	doc := readDoc(t, "README.md")
	for _, c := range commands() {
		if !strings.Contains(doc, "`"+c.name+"`") {
			t.Errorf("README.md does not list %s", c.name)
		}
	}
}

// Whatever the metrics page has of ours is explained where an operator looks.
func TestOperateListsEveryMetric(t *testing.T) {
	t.Parallel()
	doc := readDoc(t, "docs", "operate.md")
	page := readDoc(t, "server", "testdata", "metrics.txt")
	for line := range strings.Lines(page) {
		if rest, ok := strings.CutPrefix(line, "# TYPE "); ok {
			metric, _, _ := strings.Cut(rest, " ")
			if !strings.Contains(doc, "| `"+metric+"` |") {
				t.Errorf("docs/operate.md does not list %s", metric)
			}
		}
	}
}

// TestVdirsyncerBlock runs vdirsyncer with the block of docs/clients.md, where it is there.
func TestVdirsyncerBlock(t *testing.T) {
	t.Parallel()
	_, rest, found := strings.Cut(readDoc(t, "docs/clients.md"), "<!-- tried: vdirsyncer -->\n```\n")
	block, _, ended := strings.Cut(rest, "```")
	if !found || !ended {
		t.Fatal("there is no block")
	}
	for _, line := range []string{"status_path = ", "conflict_resolution = ", "collections = ", "metadata = "} {
		if !strings.Contains(block, "\n"+line) {
			t.Errorf("there is no %q in it, without which vdirsyncer stops, or leaves conflicts", line)
		}
	}
	vdirsyncer, err := exec.LookPath("vdirsyncer")
	if err != nil {
		t.Skip("there is no vdirsyncer here")
	}
	home := t.TempDir()
	env := []string{"DATA_DIR=" + t.TempDir()}
	call(t, env, "correct horse\n", "create-user", "alice", "--password-stdin")
	r := serveProgram(t, name, env, "--no-first-user")
	file := filepath.Join(home, "config")
	block = strings.NewReplacer(
		"https://calendar.example.org/", r.caldav("/"), `["command", "secret-tool", "lookup", "service", "calendar"]`, `["command", "echo", "correct horse"]`,
	).Replace(block)
	if err := os.WriteFile(file, []byte(block), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"discover", "sync"} {
		cmd := exec.CommandContext(t.Context(), vdirsyncer, "-c", file, word)
		cmd.Env, cmd.Stdin = append(os.Environ(), "HOME="+home), strings.NewReader(strings.Repeat("y\n", 10))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("vdirsyncer %s: %v %s", word, err, out)
		}
	}
}
