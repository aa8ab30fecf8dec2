package mcp

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"caldav-mcp-server/mcp/wire"
)

// listCursor is the position of the next page. It also holds the arguments of the query, so that a client can send the
// cursor alone. A page for other filters would be an answer to neither query.
type listCursor struct {
	Tool  string                     `json:"t"`
	Asked map[string]json.RawMessage `json:"q,omitempty"`
	At    json.RawMessage            `json:"a"`
	// Fixed are the instants that relative times meant on the first page.
	Fixed map[string]time.Time `json:"f,omitempty"`
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
		data, err = json.Marshal(listCursor{c.tool, asked, place, c.instants})
	}
	if err != nil {
		panic(fmt.Sprintf("encoding a cursor: %v", err)) // numbers, strings, and JSON that was parsed before
	}
	return base64.RawURLEncoding.EncodeToString(data)
}

// fixed returns the instant of a parameter. A relative time, such as 2 hours ago, means the same instant on each page.
func (c *call) fixed(name string, read func() (time.Time, error)) (time.Time, error) {
	if at, known := c.instants[name]; known {
		return at, nil
	}
	at, err := read()
	if err != nil || at.IsZero() {
		return at, err
	}
	if c.instants == nil {
		c.instants = map[string]time.Time{}
	}
	c.instants[name] = at
	return at, nil
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
	var from listCursor
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
	c.at, c.instants = from.At, from.Fixed
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

const (
	usualRows = 50
	mostRows  = 500
	// mostSkipped limits how far a cursor can go. Later rows need a narrower query.
	mostSkipped = 100_000
)

// paged holds the arguments of lists that come in pages.
type paged struct {
	limit int
	continued
}

func (in *paged) takes() []field {
	return []field{numberTo(&in.limit, "limit", "Default 50.").between(1, mostRows), in.takesCursor()}
}

// pageRange is a section of a list.
type pageRange struct{ skip, limit int }

// end is the number of rows to load: the page plus one, which shows whether there is more.
func (p pageRange) end() int { return p.skip + p.limit + 1 }

// pageView says whether there are more rows, and at least how many.
type pageView struct {
	Truncated  bool   `json:"truncated"`
	More       int    `json:"more,omitempty" doc:"At least this many are left out."`
	NextCursor string `json:"next_cursor,omitempty"`
}

// note says the same as text, next to a list that has no field for it.
func (v pageView) note() prose {
	if !v.Truncated {
		return ""
	}
	return prose(fmt.Sprintf("This is not all. %d more, at least: call again with cursor %s", v.More, v.NextCursor))
}

// read returns the page that a call asks for.
func (in paged) read(c *call) (pageRange, error) {
	p := pageRange{limit: cmp.Or(in.limit, usualRows)}
	_, err := in.place(c, &p.skip)
	if err == nil && (p.skip < 0 || p.skip > mostSkipped) {
		err = errCursor(in.cursor)
	}
	return p, err
}

// sizeLimit limits the size of a list: the fixed size of a row, the number of times that its texts are repeated, and
// the total number of characters.
type sizeLimit struct{ row, times, most int }

// mostShownSize limits the characters of the rows in one result, text and structured content together. At four
// characters per token, this is less than hosts accept.
const mostShownSize = 76_000

// room returns the limit of most lists. A row appears twice, in the text and in the structured content, with the names
// of its fields. Clients of the first version get it once.
func (c *call) room() sizeLimit {
	if c.plain {
		return sizeLimit{300, 1, mostShownSize}
	}
	return sizeLimit{500, 2, mostShownSize}
}

// askedRoom returns the limit of query_events for large pages. The first version promised up to 500 rows on request, so
// only their texts count then.
func (c *call) askedRoom(p pageRange) sizeLimit {
	r := c.room()
	if p.limit > usualRows {
		r.row, r.most = 0, 2*mostShownSize
	}
	return r
}

// fit returns how many rows fit into a result, but at least one.
func fit[T any](rows []T, r sizeLimit, said func(T) int) int {
	size := 0
	for i, row := range rows {
		if size += r.row + r.times*said(row); size > r.most && i > 0 {
			return i
		}
	}
	return len(rows)
}

// cutPage returns the rows of the page.
func cutPage[T any](c *call, list []T, p pageRange, r sizeLimit, said func(T) int) ([]T, pageView) {
	list = list[min(p.skip, len(list)):]
	rows := list[:min(p.limit, len(list))]
	rows = rows[:fit(rows, r, said)]
	if len(rows) == len(list) {
		return list, pageView{}
	}
	return rows, pageView{Truncated: true, More: len(list) - len(rows), NextCursor: c.next(p.skip + len(rows))}
}
