package main

import (
	"strings"
	"testing"

	"caldav-mcp-server/cmd/caldav-mcp-server/command"
	"caldav-mcp-server/cmd/caldav-mcp-server/console"
)

// No line of any help is longer than a terminal that people have (clients §5).
func TestHelpFitsTerminal(t *testing.T) {
	t.Parallel()
	p := &program{&console.Console{Environ: []string{"HOME=/home/ann"}}}
	texts := map[string]string{"overview": overview()}
	for _, c := range commands() {
		texts[c.Name] = command.Help(p.Console, c)
	}
	for name, text := range texts {
		for line := range strings.SplitSeq(text, "\n") {
			if console.DisplayWidth(line) > console.LineWidth {
				t.Errorf("%s: %d columns: %s", name, console.DisplayWidth(line), line)
			}
		}
	}
}

// Examples below each other stay separate.
func TestHelpKeepsExamplesApart(t *testing.T) {
	t.Parallel()
	p := &program{&console.Console{}}
	for _, c := range commands() {
		if text := command.Help(p.Console, c); c.Name == "set-user" &&
			!strings.Contains(text, "\n  "+console.Program+" set-user alice --quota-bytes 500MB") {
			t.Errorf("the second example has no line of its own:\n%s", text)
		}
	}
}
