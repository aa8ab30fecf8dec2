package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"caldav-mcp-server/cmd/caldav-mcp-server/console"
	"caldav-mcp-server/cmd/caldav-mcp-server/settings"
)

// TestCompletionCompletes lets bash complete, and lets each installed shell parse its script.
func TestCompletionCompletes(t *testing.T) {
	t.Parallel()
	for shell, write := range shells {
		file := filepath.Join(t.TempDir(), shell)
		if err := os.WriteFile(file, []byte(write(completionsOf())), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := exec.LookPath(shell); err != nil {
			t.Logf("there is no %s here", shell)
			continue
		}
		if out, err := exec.CommandContext(t.Context(), shell, "-n", file).CombinedOutput(); err != nil {
			t.Errorf("%s does not read it: %v %s", shell, err, out)
		}
		if shell != "bash" {
			continue
		}
		for line, want := range map[string]string{
			"list-u":                   "list-users",
			"create-user --pass":       "--password-stdin",
			"share --user ann --perm":  "--permission",
			"create-user ann --data-d": "--data-dir",
			"nonsense --":              "",
			"export ann":               "",
		} {
			words := strings.Fields(line)
			script := `. "$1"; shift; COMP_WORDS=(caldav-mcp-server "$@"); COMP_CWORD=$#; _caldav_mcp_server; echo ` +
				`"${COMPREPLY[*]}"`
			out, err := exec.CommandContext(t.Context(), "bash",
				append([]string{"-c", script, "bash", file}, words...)...).Output()
			if got := strings.TrimSpace(string(out)); err != nil || got != want {
				t.Errorf("%q: %q %v, want %q", line, got, err, want)
			}
		}
	}
}

// TestCompletionHasEveryFlag: every flag of every command is completed, in every shell.
func TestCompletionHasEveryFlag(t *testing.T) {
	t.Parallel()
	for shell, write := range shells {
		text := write(completionsOf())
		for _, c := range commands() {
			if !strings.Contains(text, c.Name) {
				t.Errorf("%s: %s is missing", shell, c.Name)
			}
			for _, f := range flagsOf(c) {
				if !slices.Contains(strings.FieldsFunc(text, func(r rune) bool {
					return strings.ContainsRune(" '():\n", r)
				}), strings.Repeat("-", map[bool]int{true: 0, false: 2}[shell == "fish"])+f.Name) {
					t.Errorf("%s: %s --%s is missing", shell, c.Name, f.Name)
				}
			}
		}
	}
}

// TestManual: the page has every command, flag and setting, and manual page readers can parse it.
func TestManual(t *testing.T) {
	t.Parallel()
	p := &program{&console.Console{Now: time.Now, Version: "1.2.3"}}
	page := manual(p.Console)
	plain := strings.ReplaceAll(page, `\-`, "-")
	for _, c := range commands() {
		if !strings.Contains(plain, `.SS "`+c.Name+`"`) {
			t.Errorf("%s is missing", c.Name)
		}
	}
	for _, s := range settings.All(nil) {
		if !strings.Contains(plain, ".B "+s.Env) {
			t.Errorf("%s is missing", s.Env)
		}
	}
	groff, err := exec.LookPath("groff")
	if err != nil {
		t.Skip("there is no groff here")
	}
	cmd := exec.CommandContext(t.Context(), groff, "-man", "-Tutf8", "-ww", "-z")
	cmd.Stdin = strings.NewReader(page)
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("groff: %v %s", err, out)
	}
}
