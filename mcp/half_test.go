package mcp

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"caldav-mcp-server/mcp/wire"
)

// half is what of an answer a host shows its model.
type half string

const (
	bothHalves     half = "both"
	textAlone      half = "text alone"
	structureAlone half = "structure alone"
)

// readable finds in a text the value that a path into the structured content names, as a reader of the text would: in
// the item that the path selects. It returns the text's own words, such as a time of day without an offset.
func readable(t *testing.T, text, word, way string, answer any) any {
	t.Helper()
	first, _, _ := strings.Cut(text, "\nThis is not all.")
	first, _, _ = strings.Cut(first, "\nLocal times are in")
	var parsed any
	if json.Unmarshal([]byte(first), &parsed) == nil {
		if _, isList := parsed.([]any); isList {
			way = strings.TrimLeft(strings.TrimPrefix(way, "."), "abcdefghijklmnopqrstuvwxyz_")
		}
		return resolve(t, word, way, parsed)
	}
	want := resolve(t, word, way, answer)
	for _, item := range itemsOf(t, text, word, way) {
		if found := inWords(item, want); found != nil {
			return found
		}
	}
	t.Fatalf("%s is %v, which cannot be read in\n%s", word, want, text)
	return nil
}

var numbered = regexp.MustCompile(`(?m)^\d+\. `)

// itemsOf are the parts of a text where a way leads: the numbered item that it picks with the lines about the calendar
// that it names, or the text.
func itemsOf(t *testing.T, text, word, way string) []string {
	t.Helper()
	starts := numbered.FindAllStringIndex(text, -1)
	pick := regexp.MustCompile(`\[(-?\d+)\]|\[\w+=([^\]]*)\]`).FindStringSubmatch(way)
	if pick == nil || starts == nil {
		return []string{text}
	}
	var items []string
	for i, at := range starts {
		end := len(text)
		if i+1 < len(starts) {
			end = starts[i+1][0]
		}
		item, _, _ := strings.Cut(text[at[0]:end], "\n\n")
		items = append(items, item)
	}
	i := slices.IndexFunc(items, func(item string) bool { return strings.Contains(item, pick[2]) })
	switch pick[1] {
	case "":
	case "-1":
		i = len(items) - 1
	default:
		_, _ = fmt.Sscan(pick[1], &i)
	}
	if i < 0 || i >= len(items) {
		t.Fatalf("%s: no item of the text is so:\n%s", word, text)
	}
	found := []string{items[i]}
	for line := range strings.Lines(text) {
		if name, _, ok := strings.Cut(line, " is calendar_id "); ok && strings.Contains(items[i], "in "+name) {
			found = append(found, line)
		}
	}
	return found
}

// inWords is a value as an item of a text has it; nil if it has not.
func inWords(item string, want any) any {
	said := fmt.Sprint(want)
	if strings.Contains(item, said) || strings.Contains(item, wire.Escapes.Replace(said)) {
		return want
	}
	at, err := time.Parse(time.RFC3339, said)
	if err != nil || !strings.Contains(item, at.Format("Mon 2006-01-02")) ||
		!strings.Contains(item, at.Format(clockForm)) {
		return nil
	}
	return at.Format("2006-01-02T15:04")
}

// handedOn are the fields of structures that later calls take, or that tell when something is and whose words it has.
var handedOn = regexp.MustCompile(
	`^(id|uid|\w+_uid|calendar_id|change_id|recurrence_id|etag|next_cursor|timezone|my_answer|organizer|` +
		`untrusted_text_by|name|title|summary|location)$`)

// unsaid lists what of these a structure has and the text has not.
func unsaid(text, name string, value any) (lacks []string) {
	switch v := value.(type) {
	case map[string]any:
		for name, item := range v {
			lacks = append(lacks, unsaid(text, name, item)...)
		}
	case []any:
		for _, item := range v {
			lacks = append(lacks, unsaid(text, name, item)...)
		}
	case string:
		encoded, _ := json.Marshal(v)
		inJSON := strings.Contains(text, strings.Trim(string(encoded), `"`)) ||
			strings.Contains(text, strings.ReplaceAll(v, `"`, `\"`))
		if handedOn.MatchString(name) && !strings.Contains(strings.ToLower(text), strings.ToLower(v)) && !inJSON {
			lacks = append(lacks, name+" "+v)
		}
	}
	slices.Sort(lacks)
	return lacks
}
