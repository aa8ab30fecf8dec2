package mcp

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"caldav-mcp-server/mcp/wire"
)

// cursor is the position of the next page. It also holds the arguments of the query, so that a client can send the
// cursor alone. A page for other filters would be an answer to neither query.
type cursor struct {
	Tool  string                     `json:"t"`
	Asked map[string]json.RawMessage `json:"q,omitempty"`
	At    json.RawMessage            `json:"a"`
}

// continued holds the arguments of tools that return pages.
type continued struct{ cursor string }

// cursorName is the parameter that takes a cursor.
const cursorName = "cursor"

func (in *continued) takesCursor() field {
	return textTo(&in.cursor, cursorName, "next_cursor.").upTo(32 * longestID)
}

func (in *continued) takes() []field { return []field{in.takesCursor()} }

// ofPage are the parameters that may differ from page to page.
var ofPage = []string{cursorName, "limit", "detail"}

// next returns the cursor of a page that ends at this position.
func (c *call) next(at any) string {
	place, err := json.Marshal(at)
	var data []byte
	if err == nil {
		asked := maps.Clone(c.asked)
		delete(asked, cursorName)
		data, err = json.Marshal(cursor{c.tool, asked, place})
	}
	if err != nil {
		panic(fmt.Sprintf("encoding a cursor: %v", err)) // numbers, strings, and JSON that was parsed before
	}
	return base64.RawURLEncoding.EncodeToString(data)
}

// place reads the position of the call's cursor, and reports whether there is one.
func (in continued) place(c *call, into any) (bool, error) {
	if c.at == nil {
		return false, nil
	}
	if err := json.Unmarshal(c.at, into); err != nil {
		return false, errCursor(in.cursor)
	}
	return true, nil
}

func errCursor(text string) error {
	return errArgument(`"cursor" must be the next_cursor of the previous result, not %s`, wire.Quote(text))
}

// resume fills in the arguments that a call leaves out from its cursor, and refuses arguments that contradict the
// cursor.
func (c *call) resume(tool string, takes []field, sent map[string]json.RawMessage) error {
	c.tool, c.asked = tool, sent
	if !slices.ContainsFunc(takes, func(f field) bool { return f.name == cursorName }) {
		return nil
	}
	c.asked = maps.Clone(sent)
	maps.DeleteFunc(c.asked, func(_ string, raw json.RawMessage) bool { return !isGiven(raw) })
	var text string
	_ = json.Unmarshal(c.asked[cursorName], &text) // readArguments complains if it is not a string
	if strings.TrimSpace(text) == "" {
		return nil
	}
	var from cursor
	data, err := base64.RawURLEncoding.DecodeString(strings.TrimSpace(text))
	if err == nil {
		err = json.Unmarshal(data, &from)
	}
	if err != nil || from.Tool != tool || from.At == nil {
		return errCursor(text)
	}
	for _, name := range slices.Sorted(maps.Keys(c.asked)) {
		if now, then := c.asked[name], from.Asked[name]; !slices.Contains(ofPage, name) && !equal(now, then) {
			return errArgument("%q is %s, but in the query of this cursor it %s", name, now, saidOf(then)).
				Advising("give only the cursor to continue, or start again without it")
		}
	}
	for name, then := range from.Asked {
		if _, given := c.asked[name]; !given {
			c.asked[name] = then
		}
	}
	c.at = from.At
	return nil
}

// isGiven reports whether an argument has a value. Models write null or "" for an argument that they mean to omit.
func isGiven(raw json.RawMessage) bool {
	return raw != nil && string(raw) != "null" && string(raw) != `""`
}

func saidOf(then json.RawMessage) string {
	if then == nil {
		return "was left out"
	}
	return "was " + string(then)
}

func equal(a, b json.RawMessage) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}
