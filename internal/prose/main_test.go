package main

import (
	"strings"
	"testing"
)

// TestFound: each phrase is found, and plain sentences have none.
func TestFound(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Put stores an object and returns its ETag.":         "",
		"It does what is wanted.":                            `free "what"`,
		"the calendar of which it is":                        `"of which", "of whom"`,
		"fresh tells whether it is new":                      `"tells that"`,
		"nobody is asked":                                    "nobody, somebody, whoever",
		"those who wait":                                     `"those who", "that of"`,
		"it begins anew":                                     "old words",
		"it is to be sent":                                   `"is to", "are to"`,
		"the change behind it":                               "place words for order",
		strings.Repeat("word ", longest+1):                   "long sentence",
		strings.Repeat("word ", longest) + ". And one more.": "",
	} {
		if got := strings.Join(line{text: text}.found(), " | "); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

// TestLines: comments and sentences of Go, and prose of Markdown, are read, and code is not.
func TestLines(t *testing.T) {
	t.Parallel()
	var got []string
	for _, l := range linesOfGo(
		"a.go",
		[]byte("package a\n\n// A comment.\n//go:generate no\nvar x = \"a message that people read\" + \"short one\" "+
			"+ `raw text that is long enough` // after code\n"),
	) {
		got = append(got, l.kind+": "+strings.TrimSpace(l.text))
	}
	for _, l := range linesOfMarkdown("a.md", "# Heading\n\nProse.\n```\ncode\n```\n    code\nMore.\n") {
		got = append(got, l.kind+": "+strings.TrimSpace(l.text))
	}
	want := "comments: A comment., messages: a message that people read, comments: after code, docs: Prose., docs: " +
		"More."
	if strings.Join(got, ", ") != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestReport: a share above its limit is an error, and one at the limit is none.
func TestReport(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	at := int(limits["docs"] * 10)
	if err := report(&out, map[string]int{"docs": 1000}, map[string]int{"docs": at}); err != nil {
		t.Error(err)
	}
	if err := report(&out, map[string]int{"docs": 1000}, map[string]int{"docs": at + 1}); err == nil ||
		!strings.Contains(err.Error(), "docs") {
		t.Errorf("got %v", err)
	}
}
