package mcp

import (
	"cmp"
	"fmt"

	"caldav-mcp-server/calendar/query"
)

const (
	usualRows = 50
	mostRows  = 500
	// mostSkipped is how far a cursor goes: what is further off is found by another question.
	mostSkipped = 100_000
)

// takesPage are the parameters of lists that come in pages.
var takesPage = []field{
	{name: "limit", kind: number, doc: "How many: 50 if missing, 500 at most.", optional: true, least: 1, most: mostRows},
	takesCursor,
}

// page is a part of a list.
type page struct{ skip, limit int }

// end is how much of the list must be known to show the page and to tell whether there is more.
func (p page) end() int { return p.skip + p.limit + 1 }

// pageView says whether there is more, and how much at least.
type pageView struct {
	Truncated  bool   `json:"truncated"`
	More       int    `json:"more,omitempty"`
	NextCursor string `json:"next_cursor,omitempty"`
}

// note says it beside a list whose form has no place for it.
func (v pageView) note() prose {
	if !v.Truncated {
		return ""
	}
	return prose(fmt.Sprintf("This is not all. %d more, at least: call again with cursor %s", v.More, v.NextCursor))
}

// limit is how many items a call asks for.
func (c *call) limit(usual int) int { return cmp.Or(c.args.number("limit"), usual) }

func readPage(c *call) (page, error) {
	p := page{limit: c.limit(usualRows)}
	_, err := c.place(&p.skip)
	if err == nil && (p.skip < 0 || p.skip > mostSkipped) {
		err = errCursor(c.args.text("cursor"))
	}
	return p, err
}

// room is how much a list may say: what a row takes beside the texts that people wrote, how often these
// are said, and how many characters there may be in all.
type room struct{ row, times, most int }

// mostShownSize is how many characters of rows one answer has, text and structure together: with
// four to a token, less than hosts take.
const mostShownSize = 76_000

// room is that of most lists. A row is said twice, in the text and in the structure, with the names
// of its fields; to clients of the first version once.
func (c *call) room() room {
	if c.plain {
		return room{300, 1, mostShownSize}
	}
	return room{500, 2, mostShownSize}
}

// askedRoom is that of query_events when it is asked for many rows: the first version promises as many
// as that, up to 500, so that only the texts in them count.
func (c *call) askedRoom() room {
	r := c.room()
	if c.limit(usualRows) > usualRows {
		r.row, r.most = 0, 2*mostShownSize
	}
	return r
}

// fit is how many rows of a list an answer may have, and one at least.
func fit[T any](rows []T, r room, said func(T) int) int {
	size := 0
	for i, row := range rows {
		if size += r.row + r.times*said(row); size > r.most && i > 0 {
			return i
		}
	}
	return len(rows)
}

// cutPage returns the part of a list that is the page.
func cutPage[T any](c *call, list []T, p page, r room, said func(T) int) ([]T, pageView) {
	list = list[min(p.skip, len(list)):]
	rows := list[:min(p.limit, len(list))]
	rows = rows[:fit(rows, r, said)]
	if len(rows) == len(list) {
		return list, pageView{}
	}
	return rows, pageView{Truncated: true, More: len(list) - len(rows), NextCursor: c.next(p.skip + len(rows))}
}

// sizeOf is how long the texts of an event or a task in a list are.
func sizeOf(i query.Instance) int {
	r := readViewOf(i)
	return len(r.Summary) + len(r.UID)
}
