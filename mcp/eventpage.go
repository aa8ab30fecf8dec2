package mcp

import (
	"cmp"
	"fmt"

	"caldav-mcp-server/calendar/query"
)

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

// page is a section of a list.
type page struct{ skip, limit int }

// end is the number of rows to load: the page plus one, which shows whether there is more.
func (p page) end() int { return p.skip + p.limit + 1 }

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
func (in paged) read(c *call) (page, error) {
	p := page{limit: cmp.Or(in.limit, usualRows)}
	_, err := in.place(c, &p.skip)
	if err == nil && (p.skip < 0 || p.skip > mostSkipped) {
		err = errCursor(in.cursor)
	}
	return p, err
}

// room is the size limit of a list: the fixed size of a row, the number of times that its texts are repeated, and the
// total number of characters.
type room struct{ row, times, most int }

// mostShownSize limits the characters of the rows in one result, text and structured content together. At four
// characters per token, this is less than hosts accept.
const mostShownSize = 76_000

// room returns the limit of most lists. A row appears twice, in the text and in the structured content, with the names
// of its fields. Clients of the first version get it once.
func (c *call) room() room {
	if c.plain {
		return room{300, 1, mostShownSize}
	}
	return room{500, 2, mostShownSize}
}

// askedRoom returns the limit of query_events for large pages. The first version promised up to 500 rows on request, so
// only their texts count then.
func (c *call) askedRoom(p page) room {
	r := c.room()
	if p.limit > usualRows {
		r.row, r.most = 0, 2*mostShownSize
	}
	return r
}

// fit returns how many rows fit into a result, but at least one.
func fit[T any](rows []T, r room, said func(T) int) int {
	size := 0
	for i, row := range rows {
		if size += r.row + r.times*said(row); size > r.most && i > 0 {
			return i
		}
	}
	return len(rows)
}

// cutPage returns the rows of the page.
func cutPage[T any](c *call, list []T, p page, r room, said func(T) int) ([]T, pageView) {
	list = list[min(p.skip, len(list)):]
	rows := list[:min(p.limit, len(list))]
	rows = rows[:fit(rows, r, said)]
	if len(rows) == len(list) {
		return list, pageView{}
	}
	return rows, pageView{Truncated: true, More: len(list) - len(rows), NextCursor: c.next(p.skip + len(rows))}
}

// sizeOf is the total length of an event's or task's texts in a list.
func sizeOf(i query.Instance) int {
	r := readViewOf(i)
	return len(r.Summary) + len(r.UID)
}
