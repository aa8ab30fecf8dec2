package main

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// findings are the numbers of all that was found.
func findings() (all []string) {
	for _, series := range []struct {
		name string
		most int
	}{
		{"security H", 4},
		{"security M", 10},
		{"security L", 19},
		{"time F", 6},
		{"time N", 9},
		{"dav O-", 13},
		{"clients F", 12},
		{"mcp A", 4},
		{"mcp B", 10},
		{"mcp C", 10},
		{"mcp D", 9},
	} {
		for i := range series.most {
			all = append(all, series.name+strconv.Itoa(i+1))
		}
	}
	return slices.Insert(all, slices.Index(all, "clients F12")+1, "clients §4", "clients §5")
}

var findingRow = regexp.MustCompile(`(?m)^\| ((?:security|time|dav|clients|mcp) \S+) \| [^|]+ \| (.+) \|$`)

// TestEachFindingIsHeld: docs/tried.md has a row for each finding, and each row a test or a conversation that names it, or a page
// that says why it stays.
func TestEachFindingIsHeld(t *testing.T) {
	t.Parallel()
	var listed []string
	for _, row := range findingRow.FindAllStringSubmatch(readDoc(t, "docs", "tried.md"), -1) {
		id := row[1]
		listed = append(listed, id)
		named := regexp.MustCompile(regexp.QuoteMeta(id) + `(?:\D|$)`)
		for _, h := range holdersOf(t, id, row[2]) {
			if comment := h.comment(t); h.file != "" && !named.MatchString(comment) && !named.MatchString(inARow(comment)) {
				t.Errorf("%s: the comment of %s in %s does not name it", id, h.test, h.file)
			}
		}
	}
	if want := findings(); !slices.Equal(listed, want) {
		t.Errorf("docs/tried.md lists\n%q, want\n%q", listed, want)
	}
}

// inARow writes a comment of several lines as one, and names like "clients F3, F10" in full.
func inARow(comment string) string {
	comment = strings.Join(strings.FieldsFunc(comment, func(r rune) bool { return r == '\n' || r == ' ' || r == '/' || r == '#' }), " ")
	list := regexp.MustCompile(`(security|time|dav|clients|mcp) (\S+), ([A-Z]\S*\d)\b`)
	for list.MatchString(comment) {
		comment = list.ReplaceAllString(comment, "$1 $2, $1 $3")
	}
	return comment
}
