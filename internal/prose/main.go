// Command prose counts phrases that make a reader translate, in comments, documentation and messages. It fails if their
// share of a kind's lines is above its limit. `make lint` runs it.
//
// A hit is a place to look at. Never make a sentence worse to lower the count.
package main

import (
	"flag"
	"fmt"
	"go/scanner"
	"go/token"
	"io"
	"log"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// limits are the shares that a kind may have, in percent. They may only fall.
var limits = map[string]float64{"comments": 0.6, "docs": 1.7, "messages": 0.8}

// phrases each have a name for the report. CONTRIBUTING.md says what to write instead.
var phrases = []struct {
	name    string
	pattern *regexp.Regexp
}{
	{
		`free "what"`,
		regexp.MustCompile(`\b[Ww]hat(ever)? ` +
			`(is|was|were|are|has|had|have|there|its?|they|he|she|we|an?|the|one|somebody|nobody|comes?|` +
			`came|goes|went|stands?|lies|makes?|takes?|gives?|an?other|each|every|this|that|must|may|can|would|will|` +
			`else|only|follows|belongs|happens|` +
			`changed|remains|does|did|do)\b`),
	},
	{`"of which", "of whom"`, regexp.MustCompile(
		`\b(of|to|by|in|for|with|from|on|at|under|behind|beside|after|before) (which|whom|what)\b`,
	)},
	{`"tells that"`, regexp.MustCompile(`\b[Tt]ells? (that|whether|what|how|which|of|apart)\b`)},
	{"nobody, somebody, whoever", regexp.MustCompile(
		`\b([Nn]obody|[Ss]omebody|[Ww]hoever|[Nn]othing else|[Ww]hichever)\b`,
	)},
	{`"those who", "that of"`, regexp.MustCompile(`\b([Tt]hose (who|that|which|of|in|with|behind|there)|that of)\b`)},
	{"old words", regexp.MustCompile(
		`\b(anew|lest|hence|thereof|whereof|thereby|besides|likewise|nonetheless|upon|ere)\b`,
	)},
	{`"is to", "are to"`, regexp.MustCompile(
		`\b(is|are|was|were) to (be|have|do|say|tell|go|come|know|take|give|hold|show)\b`,
	)},
	{"place words for order", regexp.MustCompile(`\b(behind|beside|before|along|there) (it|that|them|the one|one ` +
		`another)\b`)},
}

// longest is how many words a sentence may have on one line.
const longest = 32

var (
	sentenceEnd = regexp.MustCompile(`[.;:!?]\s`)
	statement   = regexp.MustCompile(`^(SELECT|INSERT|UPDATE|DELETE|WITH|CREATE|ALTER)\b`)
)

// line is a line of text that people read.
type line struct {
	kind, path string
	number     int
	text       string
}

// found returns the names of the phrases in it.
func (l line) found() (names []string) {
	for _, p := range phrases {
		if p.pattern.MatchString(l.text) {
			names = append(names, p.name)
		}
	}
	for _, sentence := range sentenceEnd.Split(l.text, -1) {
		// a row of a table is no sentence
		if !strings.HasPrefix(l.text, "|") && len(strings.Fields(sentence)) > longest {
			names = append(names, "long sentence")
		}
	}
	return names
}

func main() {
	list := flag.Bool("list", false, "list all hits")
	flag.Parse()
	var out strings.Builder
	err := run(&out, *list, flag.Args())
	_, _ = io.WriteString(os.Stdout, out.String())
	if err != nil {
		log.Fatal("prose: ", err)
	}
}

// run counts the lines of all files in git, or of those below some paths.
func run(w *strings.Builder, list bool, below []string) error {
	//nolint:gosec,noctx // a developer's paths
	out, err := exec.Command("git", append([]string{"ls-files", "--"}, below...)...).Output()
	if err != nil {
		return fmt.Errorf("listing files: %w", err)
	}
	total, hits := map[string]int{}, map[string]int{}
	for path := range strings.Lines(string(out)) {
		lines, err := linesOf(strings.TrimSpace(path))
		if err != nil {
			return err
		}
		for _, l := range lines {
			total[l.kind]++
			if names := l.found(); len(names) > 0 {
				hits[l.kind]++
				if list {
					fmt.Fprintf(w, "%s:%d: %s (%s)\n", l.path, l.number, strings.TrimSpace(l.text),
						strings.Join(names, ", "))
				}
			}
		}
	}
	if err := report(w, total, hits); len(below) == 0 {
		return err
	}
	return nil // the limits are for the whole repository
}

// report prints the shares, and returns an error for those above their limits.
func report(w *strings.Builder, total, hits map[string]int) error {
	var above []string
	for _, kind := range []string{"comments", "docs", "messages"} {
		share := 100 * float64(hits[kind]) / float64(max(1, total[kind]))
		fmt.Fprintf(w, "prose: %-9s %6d lines, %5.2f %% with a phrase to look at, at most %.1f %%\n", kind, total[kind],
			share, limits[kind])
		if share > limits[kind] {
			above = append(above, kind)
		}
	}
	if len(above) > 0 {
		return fmt.Errorf("more phrases than allowed in %s: `go run ./internal/prose -list` shows them",
			strings.Join(above, ", "))
	}
	return nil
}

// linesOf returns the lines of a file that people read. Tests, fixtures and the changelog are left out.
func linesOf(path string) ([]line, error) {
	switch {
	case strings.HasSuffix(path, "_test.go"), strings.Contains(path, "/testdata/"), strings.HasPrefix(path, "compat/"),
		path == "CHANGELOG.md",
		path == "internal/prose/main.go":
		return nil, nil
	case !strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, ".md"):
		return nil, nil
	}
	text, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		return nil, nil // deleted, and not committed yet
	}
	if err != nil {
		return nil, err
	}
	if strings.HasSuffix(path, ".go") {
		return linesOfGo(path, text), nil
	}
	return linesOfMarkdown(path, string(text)), nil
}

// linesOfGo returns the comments of a Go file, and its string literals that look like sentences.
func linesOfGo(path string, text []byte) (all []line) {
	files := token.NewFileSet()
	file := files.AddFile(path, -1, len(text))
	var s scanner.Scanner
	s.Init(file, text, nil, scanner.ScanComments)
	for {
		at, kind, literal := s.Scan()
		number := file.Line(at)
		switch kind {
		case token.EOF:
			return all
		case token.COMMENT:
			comment, isLine := strings.CutPrefix(literal, "//")
			if isLine && !strings.HasPrefix(comment, "go:") && !strings.HasPrefix(comment, "nolint") {
				all = append(all, line{"comments", path, number, comment})
			}
		case token.STRING:
			message, err := strconv.Unquote(literal)
			if err == nil && literal[0] == '"' && len(message) >= 25 && strings.Contains(message, " ") &&
				!statement.MatchString(message) {
				all = append(all, line{"messages", path, number, message})
			}
		}
	}
}

// linesOfMarkdown returns the lines of a page, without headings and code.
func linesOfMarkdown(path, text string) (all []line) {
	code, number := false, 0
	for l := range strings.Lines(text) {
		number++
		if strings.HasPrefix(l, "```") {
			code = !code
			continue
		}
		skip := slices.ContainsFunc([]string{"    ", "#", "```"}, func(prefix string) bool {
			return strings.HasPrefix(l, prefix)
		})
		if !code && !skip && strings.TrimSpace(l) != "" {
			all = append(all, line{"docs", path, number, l})
		}
	}
	return all
}
