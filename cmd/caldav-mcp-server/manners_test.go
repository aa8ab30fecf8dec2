package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"caldav-mcp-server/cmd/caldav-mcp-server/console"
)

// withoutJSON are the commands that print nothing for a program to take apart, and why.
var withoutJSON = map[string]string{
	"serve": "prints its log", "mcp": "speaks MCP", "health": "answers by its exit code",
	"deliver":    "answers a mail server by its exit code",
	"completion": "writes a file for a shell", "man": "writes a file for man",
}

// goPhrases are error texts of Go and its libraries that users should not see.
var goPhrases = regexp.MustCompile(`strconv|invalid syntax|parse error|invalid value|sql:|dial tcp|lookup ` +
	`.*:53|lstat|unexpected end of JSON|json: (cannot|unknown)|x509:|` +
	`context (canceled|deadline)|%!|goroutine|nil pointer|runtime error|net/http|net/url|bufio|parsing ` +
	`time|<nil>|(?:^|: )(?:open|stat|read|write) [./]|\*\w+\.\w+|EOF\b`)

// TestEveryCommandHasManners walks all commands: each has JSON output if it prints anything for programs, and errors
// about any flag value are in plain words (clients F11 and the small ones) (clients §5).
func TestEveryCommandHasManners(t *testing.T) {
	t.Chdir(t.TempDir()) // some flags name files
	for _, c := range commands() {
		flags := flagsOf(c)
		json := false
		for _, f := range flags {
			json = json || f.Name == "json"
		}
		if _, without := withoutJSON[c.Name]; without == json {
			t.Errorf("%s: it has --json: %v", c.Name, json)
		}
		operands := make([]string, len(c.Operands))
		for i := range operands {
			operands[i] = "x"
		}
		called(t, append([]string{c.Name}, operands...)...)
		for _, f := range flags {
			for _, value := range []string{"nonsense?", "", "-1", "99999999999999999999"} {
				called(t, append([]string{c.Name, "--" + f.Name + "=" + value}, operands...)...)
			}
			called(t, c.Name, "--"+f.Name)
			called(t, c.Name, "--"+f.Name+"x")
		}
		called(t, append([]string{c.Name}, append(operands, "1", "2", "3", "4")...)...)
	}
}

// called runs the program, interrupted at once so that it does nothing, and checks its output.
func called(t *testing.T, args ...string) {
	t.Helper()
	ctx, interrupt := context.WithCancel(t.Context())
	interrupt()
	dir := t.TempDir()
	nothing, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = nothing.Close() }()
	var out, said bytes.Buffer
	p := &program{&console.Console{
		Environ: []string{"HOME=" + dir, "DATA_DIR=" + filepath.Join(dir, "none")}, Stdin: nothing, Stdout: &out,
		Stderr:  &said,
		Version: "1", Now: time.Now, NewID: func() string { return "id" },
	}}
	code := p.run(ctx, args)
	for line := range strings.SplitSeq(said.String(), "\n") {
		if found := goPhrases.FindString(line); found != "" {
			t.Errorf("%q: it says %q (exit code %d) in\n%s", args, found, code, line)
		}
	}
	if code != exitDone && said.Len() == 0 {
		t.Errorf("%q: it fails with %d and says nothing", args, code)
	}
}
