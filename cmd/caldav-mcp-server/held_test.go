package main

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// holder is the evidence that a table row in docs/ names: a test, one case of it, or a conversation.
type holder struct{ test, part, file string }

var (
	byTest  = regexp.MustCompile("`(Test\\w+)(?:/([^`]+))?` in `([^`]+_test\\.go)`")
	byStory = regexp.MustCompile("`([^`]+\\.txtar)`")
	byThese = regexp.MustCompile(`^\+(?:, \+)*$`)
)

// holdersOf reads what holds a row. Each test is there, with the case that is named; so is each conversation.
func holdersOf(t *testing.T, id, cell string) (all []holder) {
	t.Helper()
	rest := cell
	for _, kind := range []*regexp.Regexp{byTest, byStory} {
		rest = kind.ReplaceAllString(rest, "+")
	}
	if !byThese.MatchString(rest) {
		t.Errorf("%s: it is not understood what holds it: %s", id, cell)
	}
	for _, found := range byTest.FindAllStringSubmatch(cell, -1) {
		h := holder{found[1], found[2], found[3]}
		body := bodyOf(readDoc(t, h.file), h.test)
		switch {
		case body == "":
			t.Errorf("%s: there is no %s in %s", id, h.test, h.file)
		case h.part != "" && !strings.Contains(body, `"`+h.part+`"`):
			t.Errorf("%s: %s in %s has no case %q", id, h.test, h.file, h.part)
		}
		all = append(all, h)
	}
	for _, found := range byStory.FindAllStringSubmatch(cell, -1) {
		readDoc(t, found[1])
		all = append(all, holder{file: found[1]})
	}
	return all
}

// bodyOf is a test's code; empty if there is no such test.
func bodyOf(source, test string) string {
	_, code, _ := strings.Cut(source, "\nfunc "+test+"(t *testing.T)")
	body, _, _ := strings.Cut(code, "\n}")
	return body
}

// ruleRow is a row of docs/scheduling-rules.md.
var ruleRow = regexp.MustCompile(`(?m)^\| (\S+) \| [^|]+ \| (.+) \|$`)

// TestEachRuleOfSchedulingIsHeld: docs/scheduling-rules.md has a row for each rule and each trap, and each row the
// tests that hold it.
func TestEachRuleOfSchedulingIsHeld(t *testing.T) {
	t.Parallel()
	page := readDoc(t, "docs", "scheduling-rules.md")
	for _, most := range []struct {
		of   string
		rows int
	}{{"R", 17}, {"T", 19}} {
		var rows []string
		for _, row := range ruleRow.FindAllStringSubmatch(page, -1) {
			if strings.HasPrefix(row[1], most.of) && strings.Trim(row[1], "RT0123456789") == "" {
				rows = append(rows, row[1])
				if len(holdersOf(t, row[1], row[2])) == 0 {
					t.Errorf("nothing holds %s", row[1])
				}
			}
		}
		for i := range most.rows {
			if want := most.of + strconv.Itoa(i+1); i >= len(rows) || rows[i] != want {
				t.Fatalf("docs/scheduling-rules.md lists %q: %s is not in its place", rows, want)
			}
		}
	}
}
